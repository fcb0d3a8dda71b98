// SPDX-License-Identifier: Apache-2.0
//
// Where each run was told its own rank, that is its name.
#include "report/figures/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"

// Numbers by their value.
static int compare_texts(const char *a, const char *b) {
  char *a_end, *b_end;
  long long left = strtoll(a, &a_end, 10), right = strtoll(b, &b_end, 10);
  bool are_numbers = *a && *b && !*a_end && !*b_end;
  if (are_numbers && left != right) return left < right ? -1 : 1;
  return strcmp(a, b);
}

static int compare_by_rank(const void *left, const void *right) {
  const ppi_rank *a = left, *b = right;
  return compare_texts(a->input->rank, b->input->rank);
}

static int compare_by_process(const void *left, const void *right) {
  const ppi_rank *a = left, *b = right;
  int order = strcmp(a->input->host, b->input->host);
  if (order == 0) order = compare_texts(a->input->pid, b->input->pid);
  return order ? order : strcmp(a->input->uuid, b->input->uuid);
}

// Repeated runs have the same rank several times.
static bool have_ranks(const ppi_rank *ranks, size_t num) {
  for (size_t i = 0; i < num; i++) {
    if (!*ranks[i].input->rank) return false;
    if (i && strcmp(ranks[i - 1].input->rank, ranks[i].input->rank) == 0)
      return false;
  }
  return true;
}

static bool are_of_hosts(const ppi_rank *ranks, size_t num) {
  for (size_t i = 1; i < num; i++)
    if (strcmp(ranks[0].input->host, ranks[i].input->host) != 0) return true;
  return false;
}

static int compare_by_begin(const void *left, const void *right) {
  const ppi_rank *a = left, *b = right;
  return (a->input->began_ns > b->input->began_ns) -
         (a->input->began_ns < b->input->began_ns);
}

// Processes of a job begin one soon after the other, while the first ones run.
static bool are_far_apart(ppi_rank *ranks, size_t num) {
  const uint64_t least_ns = UINT64_C(10000000000);
  if (num) qsort(ranks, num, sizeof *ranks, compare_by_begin);
  uint64_t end_ns = UINT64_MAX;  // of those before
  for (size_t i = 0; i < num; i++) {
    const ppi_report_input *input = ranks[i].input;
    uint64_t run_ns = input->began_ns + input->wall_ns;
    if (!input->began_ns) return false;
    if (i && input->began_ns > end_ns && input->began_ns - end_ns > least_ns)
      return true;
    end_ns = i ? PPI_MAX(end_ns, run_ns) : run_ns;
  }
  return false;
}

// "ray::ServeReplica:APP:NAME.METHOD" is NAME, any other "ray::" its class.
static const char *ray_name(const char *title, size_t *out_len) {
  static const char replica[] = "ServeReplica:";
  const char *name = title + sizeof "ray::" - 1;
  if (strncmp(name, replica, sizeof replica - 1) == 0) {
    const char *app = name + sizeof replica - 1;
    size_t len = strcspn(app, ": ");
    if (app[len] == ':') name = app + len + 1;
  }
  *out_len = strcspn(name, ". ");
  return name;
}

// What Python runs: a script, a module, or what multiprocessing has spawned.
static const char *script_of(const char *begin) {
  const char *at = begin + strcspn(begin, " ");
  while (*at == ' ' && at[1] == '-') {
    const char *option = at + 1;
    at = option + strcspn(option, " ");
    if (option[1] == 'm') return *at ? at + 1 : begin;
    bool has_value = option[1] == 'X' || option[1] == 'W';
    if (has_value && option[2] == ' ') at += 1 + strcspn(at + 1, " ");
    if (option[1] != 'c') continue;
    return strstr(at, "--multiprocessing-fork") ? "spawned" : begin;
  }
  return *at ? at + 1 : begin;
}

// A command's first word without its folder, of Python its script; what a
// server calls a process of its own stands there, too.
static const char *program_of(const ppi_report_input *input, size_t *out_len) {
  const char *begin = input->command;
  if (strncmp(begin, "ray::", 5) == 0) return ray_name(begin, out_len);
  size_t len = strcspn(begin, " ");
  const char *slash = memrchr(begin, '/', len);
  if (strncmp(slash ? slash + 1 : begin, "python", 6) == 0) {
    begin = script_of(begin);
    len = strcspn(begin, " ");
  }
  slash = memrchr(begin, '/', len);
  const char *name = slash ? slash + 1 : begin;
  *out_len = len - (size_t)(name - begin);
  return name;
}

static bool are_of_programs(const ppi_rank *ranks, size_t num) {
  size_t first_len = 0, len;
  const char *first = num ? program_of(ranks[0].input, &first_len) : NULL;
  for (size_t i = 1; i < num; i++) {
    const char *program = program_of(ranks[i].input, &len);
    if (len != first_len || memcmp(program, first, len) != 0) return true;
  }
  return false;
}

static void name_rank(const ppi_ranks *ranks, ppi_rank *rank) {
  bool has_host = ranks->of_hosts && !ranks->are_told;
  bool has_program = ranks->of_programs && !ranks->are_told;
  size_t len;
  const char *program = program_of(rank->input, &len);
  if (len > 24) len = 24;
  snprintf(rank->name, sizeof rank->name, "%.*s%s%.24s%s%.20s",
           has_program ? (int)len : 0, program, has_program && len ? " " : "",
           has_host ? rank->input->host : "",
           ranks->are_told ? "rank "
           : has_host      ? ":"
                           : "pid ",
           ranks->are_told ? rank->input->rank : rank->input->pid);
}

pprof_status ppi_ranks_of(const ppi_figures *figures, ppi_base_kind base,
                          ppi_ranks *out) {
  *out = (ppi_ranks){
      .items = ppi_alloc((figures->num_inputs + 1) * sizeof *out->items)};
  if (!out->items) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < figures->num_inputs; i++) {
    const ppi_report_input *input = &figures->inputs[i];
    const ppi_answer *answer =
        base == PPI_NUM_BASES ? NULL : &input->answers[base];
    if (!answer || answer->num_units)
      out->items[out->num++] = (ppi_rank){.input = input, .answer = answer};
  }
  if (out->num)
    qsort(out->items, out->num, sizeof *out->items, compare_by_rank);
  out->are_told = have_ranks(out->items, out->num);
  out->of_hosts = are_of_hosts(out->items, out->num);
  out->of_programs = are_of_programs(out->items, out->num);
  out->are_apart = !out->are_told && are_far_apart(out->items, out->num);
  if (out->num && !out->are_told)
    qsort(out->items, out->num, sizeof *out->items, compare_by_process);
  for (size_t i = 0; i < out->num; i++) name_rank(out, &out->items[i]);
  return PPROF_STATUS_OK;
}

void ppi_ranks_clear(ppi_ranks *ranks) {
  ppi_free(ranks->items);
  *ranks = (ppi_ranks){.items = NULL};
}

static bool has_stages(const ppi_report_input *input) {
  for (int base = 0; base < PPI_NUM_BASES; base++)
    for (size_t i = 0; i < input->answers[base].num_rows; i++)
      if (input->answers[base].rows[i].where < PPI_WHERE_BETWEEN) return true;
  return false;
}

uint64_t ppi_ranks_left_out(const ppi_figures *figures, ppi_base_kind base) {
  uint64_t num = 0;
  for (size_t i = 0; i < figures->num_inputs; i++)
    num += !figures->inputs[i].answers[base].num_units &&
           has_stages(&figures->inputs[i]);
  return num;
}
