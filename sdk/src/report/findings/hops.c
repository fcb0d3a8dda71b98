// SPDX-License-Identifier: Apache-2.0
#include "report/findings/hops.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

typedef struct hop {
  const char *name;
  uint64_t ns;
} hop;

static int compare_hops(const void *left, const void *right) {
  return strcmp(((const hop *)left)->name, ((const hop *)right)->name);
}

static void add_run(const ppi_request_run *run, hop *hops, ppi_hops *out) {
  for (size_t i = 0; i < run->num_stages; i++)
    hops[i] = (hop){run->stages[i].name, 0};
  for (size_t i = 0; i < run->num_cells; i++)
    hops[run->cells[i].stage].ns += run->cells[i].hop_ns;
  for (size_t i = 0; i < run->num_rows; i++)
    out->all_ns += run->rows[i].length_ns;
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
  size_t num = 0;
  *out = (ppi_hops){0};
  for (size_t i = 0; i < figures->num_request_runs; i++)
    num += figures->request_runs[i]->num_stages;
  hop *hops = ppi_alloc((num + 1) * sizeof *hops);
  if (!hops) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = num = 0; i < figures->num_request_runs; i++) {
    add_run(figures->request_runs[i], hops + num, out);
    num += figures->request_runs[i]->num_stages;
  }
  if (num > 1) qsort(hops, num, sizeof *hops, compare_hops);
  choose(hops, num, out);
  ppi_free(hops);
  return PPROF_STATUS_OK;
}
