// SPDX-License-Identifier: Apache-2.0
#include "report/findings/hops.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/figures/steady_requests.h"

typedef struct hop {
  const char *name;
  uint64_t ns;
} hop;

static int compare_hops(const void *left, const void *right) {
  return strcmp(((const hop *)left)->name, ((const hop *)right)->name);
}

static void add_request(const ppi_steady_request *from, hop *hops,
                        ppi_hops *out) {
  const ppi_request_row *row = from->row;
  for (size_t i = 0; i < row->num_cells; i++) {
    const ppi_request_cell *cell = &from->run->cells[row->first_cell + i];
    hops[cell->stage].ns += cell->hop_ns;
  }
  out->all_ns += row->length_ns;
}

// Where the stages of `run` are among those of all runs.
static hop *hops_of(const ppi_figures *figures, const ppi_request_run *run,
                    hop *hops) {
  for (size_t i = 0; figures->request_runs[i] != run; i++)
    hops += figures->request_runs[i]->num_stages;
  return hops;
}

static hop *list_stages(const ppi_figures *figures, size_t *out_num) {
  size_t num = 0;
  for (size_t i = 0; i < figures->num_request_runs; i++)
    num += figures->request_runs[i]->num_stages;
  hop *hops = ppi_alloc((num + 1) * sizeof *hops);
  *out_num = num;
  for (size_t i = num = 0; hops && i < figures->num_request_runs; i++)
    for (size_t k = 0; k < figures->request_runs[i]->num_stages; k++)
      hops[num++] = (hop){figures->request_runs[i]->stages[k].name, 0};
  return hops;
}

// Stages of one name are one.
static void choose(const hop *hops, size_t num, ppi_hops *out) {
  for (size_t i = 0; i < num;) {
    const char *name = hops[i].name;
    uint64_t sum_ns = 0;
    for (; i < num && strcmp(hops[i].name, name) == 0; i++)
      sum_ns += hops[i].ns;
    if (sum_ns <= out->hop_ns) continue;
    out->name = name;
    out->hop_ns = sum_ns;
  }
}

pprof_status ppi_hops_of(const ppi_figures *figures, ppi_hops *out) {
  ppi_steady_request *list = NULL;
  size_t num, num_requests = 0, num_cold;
  *out = (ppi_hops){0};
  hop *hops = list_stages(figures, &num);
  pprof_status status =
      hops ? ppi_steady_requests(figures, &list, &num_requests, &num_cold)
           : PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < num_requests && status == PPROF_STATUS_OK; i++)
    add_request(&list[i], hops_of(figures, list[i].run, hops), out);
  if (hops && num > 1) qsort(hops, num, sizeof *hops, compare_hops);
  if (status == PPROF_STATUS_OK) choose(hops, num, out);
  ppi_free(list);
  ppi_free(hops);
  return status;
}
