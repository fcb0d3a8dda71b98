// SPDX-License-Identifier: Apache-2.0
//
// Adds requests of runs in order, copies and frees them.
#include "report/figures/request_rows.h"

#include <string.h>

#include "base/mem.h"

void ppi_request_run_destroy(ppi_request_run *run) {
  if (!run) return;
  for (size_t i = 0; i < run->num_stages; i++) {
    ppi_free(run->stages[i].name);
    ppi_free(run->stages[i].category_name);
  }
  ppi_free(run->uuid);
  ppi_free(run->host);
  ppi_free(run->pid);
  ppi_free(run->stages);
  ppi_free(run->rows);
  ppi_free(run->cells);
  ppi_free(run);
}

static int compare_runs(const ppi_request_run *a, const ppi_request_run *b) {
  int order = strcmp(a->uuid, b->uuid);
  if (order == 0) order = strcmp(a->host, b->host);
  return order ? order : strcmp(a->pid, b->pid);
}

pprof_status ppi_figures_request_run(ppi_figures *figures,
                                     ppi_request_run *run) {
  if (!PPI_ROOM(figures->request_runs, figures->request_runs_capacity,
                figures->num_request_runs + 1))
    return PPROF_STATUS_NO_MEMORY;
  ppi_request_run **grown = figures->request_runs;
  size_t at = figures->num_request_runs++;
  for (; at && compare_runs(run, grown[at - 1]) < 0; at--)
    grown[at] = grown[at - 1];
  grown[at] = run;
  return PPROF_STATUS_OK;
}

static void *copy_of(const void *items, size_t size) {
  void *copy = ppi_alloc(size ? size : 1);
  if (copy && size) memcpy(copy, items, size);
  return copy;
}

ppi_request_run *ppi_request_run_copy(const ppi_request_run *run) {
  ppi_request_run *copy = ppi_alloc(sizeof *copy);
  if (!copy) return NULL;
  *copy = *run;
  copy->uuid = ppi_strdup(run->uuid);
  copy->host = ppi_strdup(run->host);
  copy->pid = ppi_strdup(run->pid);
  copy->rows = copy_of(run->rows, run->num_rows * sizeof *run->rows);
  copy->cells = copy_of(run->cells, run->num_cells * sizeof *run->cells);
  copy->stages = ppi_alloc((run->num_stages + 1) * sizeof *run->stages);
  bool copied = copy->uuid && copy->host && copy->pid && copy->rows &&
                copy->cells && copy->stages;
  for (size_t i = 0; i < run->num_stages && copied; i++) {
    ppi_request_stage *stage = &copy->stages[i];
    stage->name = ppi_strdup(run->stages[i].name);
    stage->category_name = ppi_strdup(run->stages[i].category_name);
    stage->on_device = run->stages[i].on_device;
    stage->is_whole = run->stages[i].is_whole;
    copied = stage->name && stage->category_name;
  }
  if (copied) return copy;
  if (!copy->stages) copy->num_stages = 0;
  ppi_request_run_destroy(copy);
  return NULL;
}
