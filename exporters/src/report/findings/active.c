// SPDX-License-Identifier: Apache-2.0
//
// Computes what a device did while units were in flight.
#include "report/findings/active.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/findings/parts.h"

typedef struct span {
  uint64_t start_ns, end_ns;
} span;

static int compare_spans(const void *left, const void *right) {
  const span *a = left, *b = right;
  return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

// The union of a run's requests.
static pprof_status add_run(const ppi_request_run *run, double *sum_ns) {
  span *spans = ppi_alloc((run->num_rows + 1) * sizeof *spans);
  uint64_t end_ns = 0;
  if (!spans) return PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; i < run->num_rows; i++) {
    const ppi_request_row *row = &run->rows[i];
    spans[i] = (span){row->start_ns, row->start_ns + row->length_ns};
  }
  if (run->num_rows > 1)
    qsort(spans, run->num_rows, sizeof *spans, compare_spans);
  for (size_t i = 0; i < run->num_rows; i++) {
    uint64_t from_ns = PPI_MAX(spans[i].start_ns, end_ns);
    if (spans[i].end_ns <= from_ns) continue;
    *sum_ns += (double)(spans[i].end_ns - from_ns);
    end_ns = spans[i].end_ns;
  }
  ppi_free(spans);
  return PPROF_STATUS_OK;
}

static pprof_status union_of_requests(const ppi_figures *figures,
                                      double *out_ns) {
  pprof_status status = PPROF_STATUS_OK;
  *out_ns = 0;
  for (size_t i = 0; i < figures->num_request_runs && status == PPROF_STATUS_OK;
       i++)
    status = add_run(figures->request_runs[i], out_ns);
  return status;
}

// How much of the device's time without further work comes after the last
// request. 0 where that is unknown: with several runs, or with requests thinned
// out.
static double after_requests(const ppi_search *search,
                             const ppi_report_device *device) {
  const ppi_figures *figures = search->figures;
  if (figures->num_inputs != 1 || figures->num_request_runs != 1) return 0;
  const ppi_request_run *run = figures->request_runs[0];
  uint64_t first_ns = UINT64_MAX, last_ns = 0;
  if (run->thinning || !run->num_rows) return 0;
  for (size_t i = 0; i < run->num_rows; i++) {
    const ppi_request_row *row = &run->rows[i];
    first_ns = PPI_MIN(first_ns, row->start_ns);
    last_ns = PPI_MAX(last_ns, row->start_ns + row->length_ns);
  }
  double after_ns = (double)device->wall_ns - (double)(last_ns - first_ns) -
                    (double)search->answer->before_ns;
  double no_more_ns = (double)device->idle_ns[PPI_IDLE_NO_MORE_WORK];
  return PPI_MAX(PPI_MIN(after_ns, no_more_ns), 0);
}

// The device's work for requests. Requests outside the rows count as usual
// ones.
static double busy_for_requests(const ppi_answer *answer,
                                const ppi_report_device *device) {
  const ppi_part part = {.device = device->name,
                         .wheres = 1u << PPI_WHERE_DEVICE};
  double num = (double)(answer->num_all + answer->num_cold);
  double busy_ns = ppi_part_mean(answer, ppi_part_sum(answer, &part)) * num;
  return PPI_MIN(busy_ns, (double)device->busy_ns);
}

pprof_status ppi_active_of(const ppi_search *search,
                           const ppi_report_device *device, ppi_active *out) {
  pprof_status status = PPROF_STATUS_OK;
  double wall_ns = (double)device->wall_ns;
  double idle_ns = (double)device->idle_ns[PPI_IDLE_NOT_SUBMITTED];
  *out = (ppi_active){0};
  if (search->base == PPI_BASE_REQUEST) {
    status = union_of_requests(search->figures, &out->time_ns);
    out->busy_ns = busy_for_requests(search->answer, device);
    idle_ns += after_requests(search, device);
  } else if (search->base == PPI_BASE_STEP) {
    out->time_ns = (double)device->base_ns;
    out->busy_ns = (double)device->active_ns;
    out->not_submitted_ns = (double)device->not_submitted_ns;
  } else {
    // Before the first range, and after the last one of each window.
    wall_ns -= (double)device->idle_ns[PPI_IDLE_NO_MORE_WORK];
    wall_ns -= (double)device->first_calls_ns;
    idle_ns -= (double)device->first_calls_ns;
    out->time_ns = wall_ns;
    out->busy_ns = (double)device->busy_ns;
  }
  out->time_ns = PPI_MIN(out->time_ns, wall_ns);
  out->busy_ns = PPI_MIN(out->busy_ns, out->time_ns);
  // Time outside of requests may all have been idle, while later requests were
  // still to come.
  idle_ns -= wall_ns - out->time_ns;
  if (search->base != PPI_BASE_STEP)
    out->not_submitted_ns = PPI_MAX(idle_ns, 0);
  return status;
}
