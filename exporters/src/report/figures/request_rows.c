// SPDX-License-Identifier: Apache-2.0
//
// Adds requests of runs in order, frees them, and lists steady ones.
#include "report/figures/request_rows.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

void ppi_request_run_release(ppi_request_run *run) {
  if (!run || __atomic_sub_fetch(&run->num_owners, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  for (size_t i = 0; i < run->num_stages; i++) {
    ppi_free(run->stages[i].name);
    ppi_free(run->stages[i].category_name);
  }
  PPI_FREE_ALL(run->uuid, run->host, run->pid, run->stages, run->rows,
               run->cells, run);
}

void ppi_request_run_carry(ppi_carry *carry, ppi_request_run **of) {
  if (carry->reads) *of = ppi_alloc(sizeof **of);
  carry->failed |= !*of;
  if (!*of) return;
  ppi_request_run *run = *of;
  if (carry->reads) run->num_owners = 1;
  ppi_carry_text(carry, &run->uuid);
  ppi_carry_text(carry, &run->host);
  ppi_carry_text(carry, &run->pid);
  ppi_carry_room(carry, &run->stages, &run->num_stages, sizeof *run->stages);
  for (size_t i = 0; i < run->num_stages; i++) {
    ppi_carry_text(carry, &run->stages[i].name);
    ppi_carry_text(carry, &run->stages[i].category_name);
    PPI_CARRY_FROM(carry, &run->stages[i], on_device, is_whole);
  }
  ppi_carry_items(carry, &run->rows, &run->num_rows, sizeof *run->rows);
  ppi_carry_items(carry, &run->cells, &run->num_cells, sizeof *run->cells);
  PPI_CARRY_FROM(carry, run, num_cut, others_unknown);
  ppi_limit_carry(carry, &run->limit);
}

PPI_ORDER(compare_runs, ppi_request_run,
          PPI_BY_TEXT(uuid) PPI_BY_TEXT(host) PPI_BY_TEXT(pid))

bool ppi_figures_request_run(ppi_figures *figures, ppi_request_run *run) {
  if (!PPI_ROOM(figures->request_runs, figures->request_runs_capacity,
                figures->num_request_runs + 1))
    return false;
  ppi_request_run **grown = figures->request_runs;
  size_t at = figures->num_request_runs++;
  for (; at && compare_runs(run, grown[at - 1]) < 0; at--)
    grown[at] = grown[at - 1];
  grown[at] = run;
  __atomic_fetch_add(&run->num_owners, 1, __ATOMIC_RELAXED);
  return true;
}

// ---- steady requests, by length ----

PPI_ORDER(compare_requests, ppi_steady_request,
          PPI_UP(row->length_ns) PPI_BY_TEXT(run->uuid) PPI_UP(row))

PPI_ORDER(compare_starts, ppi_steady_request, PPI_UP(row->start_ns) PPI_UP(row))

static uint64_t start_of(const void *at) {
  return ((const ppi_steady_request *)at)->row->start_ns;
}
static uint64_t length_of(const void *at) {
  return ((const ppi_steady_request *)at)->row->length_ns;
}

// Counts a run's cold requests; `list` is in the order of starts.
static size_t num_cold(const ppi_steady_request *list, size_t num,
                       long warmup) {
  ppi_first_call calls[PPI_FIRST_CALLS];
  for (size_t i = 0; i < PPI_MIN(num, PPI_FIRST_CALLS); i++)
    calls[i] = (ppi_first_call){.start_ns = list[i].row->start_ns,
                                .length_ns = list[i].row->length_ns};
  return ppi_first_calls_num_cold(calls, num, warmup);
}

// Lists a run's steady requests; answers how many.
static size_t list_run(const ppi_figures *figures, size_t index,
                       ppi_steady_request *list, size_t *num_all_cold) {
  const ppi_request_run *run = figures->request_runs[index];
  long warmup = figures->details.warmup;
  for (size_t i = 0; i < run->num_rows; i++)
    list[i] = (ppi_steady_request){run, &run->rows[i], index};
  ppi_sort(list, run->num_rows, sizeof *list, start_of, compare_starts);
  size_t cold = num_cold(list, run->num_rows, warmup);
  memmove(list, list + cold, (run->num_rows - cold) * sizeof *list);
  *num_all_cold += cold;
  return run->num_rows - cold;
}

pprof_status ppi_steady_requests(const ppi_figures *figures,
                                 ppi_steady_request **out, size_t *out_num,
                                 size_t *out_num_cold) {
  size_t num = 0, num_all_cold = 0;
  for (size_t i = 0; i < figures->num_request_runs; i++)
    num += figures->request_runs[i]->num_rows;
  ppi_steady_request *list = ppi_alloc((num + 1) * sizeof *list);
  *out = list;
  if (!list) return PPROF_STATUS_NO_MEMORY;
  num = 0;
  for (size_t i = 0; i < figures->num_request_runs; i++)
    num += list_run(figures, i, list + num, &num_all_cold);
  ppi_sort(list, num, sizeof *list, length_of, compare_requests);
  *out_num = num;
  *out_num_cold = num_all_cold;
  return PPROF_STATUS_OK;
}
