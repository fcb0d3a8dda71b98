// SPDX-License-Identifier: Apache-2.0
//
// Builds the Queue view: the time that device ranges waited between submission
// on the host and start on the device.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(NAME, "name", NULL) \
  each(CATEGORY, "category", NULL) \
  each(DEVICE, "device", NULL) \
  each(CALLS, "calls", NULL) \
  each(RESOLVED, "resolved", NULL) \
  each(DEVICE_TOTAL, "device_total", "ns") \
  each(DELAY_MEAN, "delay_avg", "ns") \
  each(DELAY_P50, "delay_p50", "ns") \
  each(DELAY_P99, "delay_p99", "ns") \
  each(DELAY_MAX, "delay_max", "ns") \
  each(CLOCK_ERROR, "clock_error_avg", "ns")
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
static const size_t brief[] = {NAME,       DEVICE,    CALLS,     DEVICE_TOTAL,
                               DELAY_MEAN, DELAY_P50, DELAY_P99, CLOCK_ERROR};
static const ppi_table_column table_columns[] = {
    {"Name", 15, NAME, 1},
    {"Device", 10, DEVICE, 1},
    {"Calls / Resolved", 16, CALLS, 2},
    {"GPU Total", 12, DEVICE_TOTAL, 1},
    {"Queue Delay Avg / P50 / P99 / Max", 36, DELAY_MEAN, 4},
    {"Clock Error", 11, CLOCK_ERROR, 1},
};

static int compare_queues(const void *left, const void *right) {
  const ppi_report_queue *a = *(const ppi_report_queue *const *)left;
  const ppi_report_queue *b = *(const ppi_report_queue *const *)right;
  if (a->sums.device_ns != b->sums.device_ns)
    return a->sums.device_ns > b->sums.device_ns ? -1 : 1;
  int order = strcmp(a->name, b->name);
  if (order == 0) order = strcmp(a->category_name, b->category_name);
  return order ? order : strcmp(a->device, b->device);
}

static ppi_cell quantile(const ppi_queue *queue, unsigned percent) {
  if (!ppi_queue_knows_quantile(queue, percent)) return ppi_cell_unresolved();
  if (percent == 100) return ppi_cell_time(queue->delay.max);
  return ppi_cell_quantile(&queue->delays, percent);
}

static bool add_queue(ppi_view *view, const ppi_report_queue *from) {
  const ppi_queue *queue = &from->sums;
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  cells[NAME] = ppi_cell_text(from->name);
  cells[CATEGORY] = ppi_cell_text(from->category_name);
  cells[DEVICE] = ppi_cell_text(from->device);
  cells[CALLS] = ppi_cell_count(queue->calls);
  cells[RESOLVED] = ppi_cell_count(queue->delay.n - queue->num_unresolved);
  if (!queue->delay.n) return true;
  cells[DEVICE_TOTAL] = ppi_cell_time(queue->device_ns);
  cells[DELAY_MEAN] = ppi_queue_knows_mean(queue)
                          ? ppi_cell_mean(queue->delay.sum, queue->delay.n)
                          : ppi_cell_unresolved();
  cells[DELAY_P50] = quantile(queue, 50);
  cells[DELAY_P99] = quantile(queue, 99);
  cells[DELAY_MAX] = quantile(queue, 100);
  cells[CLOCK_ERROR] = ppi_cell_mean(queue->error_ns, queue->delay.n);
  return true;
}

static void put_note(ppi_view *view) {
  ppi_page_text(
      &view->note,
      "Queue delay: the start of a device range on its device less its "
      "submission on the host. Ranges in\n"
      "graphs, late ones and others without a device time have none.\n"
      "Resolved: calls with a delay of at least their own clock error. n/r, "
      "not resolvable: an average below\n"
      "the average clock error; a percentile or maximum that exact clocks "
      "might find zero.\n");
}

static pprof_status build_queue(const ppi_figures *figures,
                                const ppi_report_options *options,
                                ppi_view *out) {
  const ppi_report_queue **queues =
      ppi_alloc((figures->num_queues + 1) * sizeof *queues);
  if (!queues) return PPROF_STATUS_NO_MEMORY;
  bool added = true, any = false;
  for (size_t i = 0; i < figures->num_queues; i++) {
    queues[i] = &figures->queues[i];
    any |= figures->queues[i].sums.delay.n > 0;
  }
  if (figures->num_queues > 1)
    qsort(queues, figures->num_queues, sizeof *queues, compare_queues);
  for (size_t i = 0; i < figures->num_queues && added; i++)
    added = add_queue(out, queues[i]);
  ppi_free(queues);
  put_note(out);
  out->only_when_named = !any;
  if (!out->num_rows && options->views) out->reason = "no device ranges";
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

const ppi_view_kind ppi_view_queue = {
    .name = "queue",
    .title = "Queue Summary",
    PPI_VIEW_LAYOUT(columns, table_columns),
    PPI_VIEW_BRIEF(brief),
    .has_time_unit = true,
    .has_quantiles = true,
    .end = PPI_TABLE_END_NOTE,
    .build = build_queue,
};
