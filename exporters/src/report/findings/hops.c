// SPDX-License-Identifier: Apache-2.0
//
// Computes the gap in front of each stage of a request.
#include "report/findings/hops.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/figures/request_rows.h"

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

// The gaps of all runs; each run has its own begin index.
typedef struct stages {
  hop *hops;
  size_t *first;
  size_t num;
} stages;

static bool list_stages(const ppi_figures *figures, stages *out) {
  size_t num = 0;
  for (size_t i = 0; i < figures->num_request_runs; i++)
    num += figures->request_runs[i]->num_stages;
  *out = (stages){
      .hops = ppi_alloc((num + 1) * sizeof *out->hops),
      .first = ppi_alloc((figures->num_request_runs + 1) * sizeof *out->first)};
  if (!out->hops || !out->first) return false;
  for (size_t i = 0; i < figures->num_request_runs; i++) {
    const ppi_request_run *run = figures->request_runs[i];
    out->first[i] = out->num;
    for (size_t k = 0; k < run->num_stages; k++)
      out->hops[out->num++] = (hop){run->stages[k].name, 0};
  }
  return true;
}

// Stages of the same name are one.
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
  size_t num_requests = 0, num_cold;
  stages all;
  *out = (ppi_hops){0};
  // For a joined request, other processes record what this one does not.
  if (figures->are_joined) return PPROF_STATUS_OK;
  pprof_status status =
      list_stages(figures, &all)
          ? ppi_steady_requests(figures, &list, &num_requests, &num_cold)
          : PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < num_requests && status == PPROF_STATUS_OK; i++)
    add_request(&list[i], all.hops + all.first[list[i].run_index], out);
  if (all.num > 1) qsort(all.hops, all.num, sizeof *all.hops, compare_hops);
  if (status == PPROF_STATUS_OK) choose(all.hops, all.num, out);
  ppi_free(list);
  ppi_free(all.first);
  ppi_free(all.hops);
  return status;
}
