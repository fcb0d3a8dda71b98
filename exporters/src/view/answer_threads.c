// SPDX-License-Identifier: Apache-2.0
//
// Sums the time of each thread by stage. The figures have the rows of one
// thread together.
#include "view/answer_threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/findings/words.h"

static uint64_t wall_of(const ppi_figures *figures, const char *process) {
  for (size_t i = 0; i < figures->num_inputs; i++) {
    const ppi_report_input *input = &figures->inputs[i];
    size_t len = strlen(input->host);
    if (strncmp(process, input->host, len) == 0 && process[len] == ' ' &&
        strcmp(process + len + 1, input->pid) == 0)
      return input->wall_ns;
  }
  return 0;
}

static bool are_of_one(const ppi_report_thread_name *a,
                       const ppi_report_thread_name *b) {
  return a->thread == b->thread && strcmp(a->process, b->process) == 0;
}

static void name_thread(const ppi_figures *figures,
                        const ppi_report_thread_name *from, ppi_thread *to) {
  const char *of = figures->num_inputs > 1 ? " of " : "";
  const char *process = *of ? from->process + strspn(from->process, " ") : "";
  const char *thread = strncmp(from->called, "thread ", 7) ? "thread " : "";
  if (from->thread == PPI_REPORT_LEFT_THREADS)
    snprintf(to->name, sizeof to->name, "threads that left%s%.40s", of,
             process);
  else if (*from->called)
    snprintf(to->name, sizeof to->name, "%s%s%s%.40s", thread,
             ppi_words_name(from->called).text, of, process);
  else
    snprintf(to->name, sizeof to->name, "thread %llu%s%.40s",
             (unsigned long long)from->thread, of, process);
  to->number = from->thread;
}

static int compare_names(const void *a, const void *b) {
  const ppi_thread *const *one = a, *const *other = b;
  return strcmp((*one)->name, (*other)->name);
}

// Threads with equal names also get their numbers.
static pprof_status number_alike(ppi_threads *threads) {
  ppi_thread **sorted = ppi_alloc((threads->num + 1) * sizeof *sorted);
  bool is_alike = false;
  if (!sorted) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < threads->num; i++) sorted[i] = &threads->items[i];
  if (threads->num > 1)
    qsort(sorted, threads->num, sizeof *sorted, compare_names);
  for (size_t i = 0; i < threads->num; i++) {
    bool was_alike = is_alike;
    is_alike = i + 1 < threads->num &&
               strcmp(sorted[i]->name, sorted[i + 1]->name) == 0;
    size_t len = strlen(sorted[i]->name);
    if (is_alike || was_alike)
      snprintf(sorted[i]->name + len, sizeof sorted[i]->name - len, " (%llu)",
               (unsigned long long)sorted[i]->number);
  }
  ppi_free(sorted);
  return PPROF_STATUS_OK;
}

static pprof_status add_row(ppi_answer *to, const ppi_answer_row *key,
                            uint64_t ns, uint64_t calls) {
  ppi_answer_row *row = ppi_answer_row_of(to, key);
  if (!row) return PPROF_STATUS_NO_MEMORY;
  row->total_ns += ns;
  row->max_ns = row->total_ns;
  row->calls += calls;
  row->num_units = 1;
  to->total_ns += ns;
  return PPROF_STATUS_OK;
}

static pprof_status add_stage(ppi_answer *to,
                              const ppi_report_thread_name *from) {
  const ppi_answer_row key = {.name = from->name,
                              .child = (char[]){""},
                              .device = (char[]){""},
                              .where = PPI_WHERE_HOST};
  // Steps are of the process, not of a thread.
  bool is_stage = from->host.n && from->category != PPROF_CATEGORY_PROFILE_STEP;
  return is_stage ? add_row(to, &key, from->self_ns, from->host.n)
                  : PPROF_STATUS_OK;
}

static pprof_status add_rest(ppi_answer *to, uint64_t wall_ns) {
  const ppi_answer_row key = {.name = (char[]){""},
                              .child = (char[]){""},
                              .device = (char[]){""},
                              .where = PPI_WHERE_BETWEEN};
  uint64_t rest_ns = wall_ns - PPI_MIN(to->total_ns, wall_ns);
  to->num_units = 1;
  return add_row(to, &key, rest_ns, 0);
}

pprof_status ppi_threads_of(const ppi_figures *figures, ppi_threads *out) {
  pprof_status status = PPROF_STATUS_OK;
  *out = (ppi_threads){
      .items = ppi_alloc((figures->num_threads + 1) * sizeof *out->items)};
  if (!out->items) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < figures->num_threads && status == PPROF_STATUS_OK;
       i++) {
    const ppi_report_thread_name *from = &figures->threads[i];
    bool is_last = i + 1 == figures->num_threads ||
                   !are_of_one(from, &figures->threads[i + 1]);
    ppi_thread *thread = &out->items[out->num];
    status = add_stage(&thread->answer, from);
    bool is_done = is_last && thread->answer.num_rows;
    if (!is_done || status != PPROF_STATUS_OK) continue;
    name_thread(figures, from, thread);
    status = add_rest(&thread->answer, wall_of(figures, from->process));
    ppi_answer_sort(&thread->answer);
    out->num++;
  }
  return status == PPROF_STATUS_OK ? number_alike(out) : status;
}

void ppi_threads_clear(ppi_threads *threads) {
  // Includes the thread that could not be filled.
  for (size_t i = 0; threads->items && i <= threads->num; i++)
    ppi_answer_clear(&threads->items[i].answer);
  ppi_free(threads->items);
  *threads = (ppi_threads){.items = NULL};
}
