// SPDX-License-Identifier: Apache-2.0
//
// Builds the Queue view: the time that device ranges waited between submission
// on the host and start on the device.

#include "view/view.h"

static ppi_cell quantile(const ppi_queue *queue, unsigned percent) {
  if (!ppi_queue_knows_quantile(queue, percent)) return ppi_cell_unresolved();
  if (percent == 100) return ppi_cell_time(queue->delay.max);
  return ppi_cell_quantile(&queue->delays, percent);
}

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 15, 1, text(from->name)) \
  each(category, NULL, NULL, 0, 0, text(from->category_name)) \
  each(device, NULL, "Device", 10, 2, text(from->device)) \
  each(calls, NULL, "Calls / Resolved", 16, 3, count(queue->calls)) \
  each(resolved, NULL, "", 0, 0, \
       count(queue->delay.n - queue->num_unresolved)) \
  each(device_total, "ns", "GPU Total", 12, 4, time(queue->device_ns)) \
  each(delay_avg, "ns", "Queue Delay Avg / P50 / P99 / Max", 36, 5, \
       as(ppi_queue_knows_mean(queue) \
              ? ppi_cell_mean(queue->delay.sum, queue->delay.n) \
              : ppi_cell_unresolved())) \
  each(delay_p50, "ns", "", 0, 6, as(quantile(queue, 50))) \
  each(delay_p99, "ns", "", 0, 7, as(quantile(queue, 99))) \
  each(delay_max, "ns", "", 0, 0, as(quantile(queue, 100))) \
  each(clock_error_avg, "ns", "Clock Error", 11, 8, \
       mean(queue->error_ns, queue->delay.n))
// clang-format on
PPI_VIEW_TABLE(queue, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);

static bool rank(const void *item, ppi_ranked *out) {
  const ppi_report_queue *from = item;
  out->key = from->sums.device_ns;
  out->names[0] = from->name;
  out->names[1] = from->category_name;
  out->names[2] = from->device;
  return true;
}

static void put(ppi_view *view, const void *item, const void *of) {
  const ppi_report_queue *from = item;
  const ppi_queue *queue = &from->sums;
  (void)of;
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(COLUMNS, cells);
  if (!queue->delay.n)
    memset(cells + CELL_device_total, 0,
           (NUM_COLUMNS - CELL_device_total) * sizeof *cells);
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

static void build_queue(const ppi_figures *figures,
                        const ppi_report_options *options, ppi_view *out) {
  const ppi_view_source queues = {.items = figures->queues,
                                  .num = figures->num_queues,
                                  .size = sizeof *figures->queues,
                                  .rank = rank,
                                  .put = put};
  ppi_view_put_sorted(out, &queues);
  put_note(out);
  out->only_when_named = true;
  for (size_t i = 0; i < figures->num_queues; i++)
    if (figures->queues[i].sums.delay.n) out->only_when_named = false;
  if (!out->num_rows && options->views) out->reason = "no device ranges";
}

PPI_VIEW(queue, "Queue Summary", .has_quantiles = true, .build = build_queue);
