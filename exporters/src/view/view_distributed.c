// SPDX-License-Identifier: Apache-2.0
//
// Builds the Distribution view: how much of the communication computation
// hides.
#include "view/view.h"

enum { INDENT = 2 };

// Overlaps have no calls.
enum { NO_CALLS = -1 };
typedef struct line {
  const char *name;
  int64_t calls;
  uint64_t time_ns;
} line;

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 25, 0, text(lines[i].name)) \
  each(part, NULL, NULL, 0, 0, text(part)) \
  each(calls, NULL, NULL, 0, 0, \
       if (lines[i].calls != NO_CALLS, ppi_cell_signed(lines[i].calls))) \
  each(time, "ns", "Total Time", 25, 0, time(lines[i].time_ns)) \
  each(ratio, "%", "Ratio (%)", 25, 0, \
       ratio((int64_t)lines[i].time_ns, figures->base_ns))
// clang-format on
PPI_VIEW_TABLE(distributed, COLUMNS);

static void add_lines(ppi_view *view, const ppi_figures *figures,
                      const char *part, const line *lines, size_t num) {
  for (size_t i = 0; i < num; i++) {
    ppi_cell *cells = ppi_view_add_row(view, 0, INDENT);
    PPI_VIEW_PUT(COLUMNS, cells);
  }
}

static void add_all(ppi_view *view, const ppi_figures *figures) {
  const ppi_report_distribution *from = &figures->distribution;
  uint64_t steps =
      ppi_spread_calls(&figures->phases[PPI_PHASE_PROFILE_STEP].host);
  uint64_t calls = from->host_calls + from->device_calls;
  bool has_steps = figures->runs_with_steps > 0;
  const line lines[] = {
      {has_steps ? "ProfileStep" : "Window",
       has_steps ? (int64_t)steps : NO_CALLS, figures->base_ns},
      {"Communication", (int64_t)calls, from->communication_ns},
      {"Computation", (int64_t)from->computation_calls, from->computation_ns},
      {"Overlap", NO_CALLS, from->overlap_ns},
      {"Exposed", NO_CALLS, from->communication_ns - from->overlap_ns}};
  add_lines(view, figures, "all", lines, sizeof lines / sizeof *lines);
  view->rows[0].indent = 0;
}

static void add_device(ppi_view *view, const ppi_figures *figures) {
  const ppi_report_distribution *from = &figures->distribution;
  const line lines[] = {
      {"Communication", (int64_t)from->device_calls,
       from->device_communication_ns},
      {"Overlap", NO_CALLS, from->device_overlap_ns},
      {"Exposed", NO_CALLS,
       from->device_communication_ns - from->device_overlap_ns}};
  size_t first = view->num_rows;
  add_lines(view, figures, "device", lines, sizeof lines / sizeof *lines);
  if (view->num_rows > first) view->rows[first].banner = "Device alone";
}

static void put_note(ppi_view *view, const ppi_figures *figures) {
  if (figures->details.paddle_distribution)
    ppi_page_text(&view->note,
                  "By name, as Paddle does. Communication: operators "
                  "named allreduce, broadcast or\n"
                  "rpc, ranges of category Communication, kernels under both, "
                  "and kernels named nccl or\n"
                  "xccl. Computation: the other kernels.\n");
  else
    ppi_page_text(&view->note,
                  "Communication: host and device ranges of category "
                  "Communication or marked so.\n"
                  "Computation: kernels, or without kernel records device "
                  "ranges, that are neither\n"
                  "communication nor copies.\n");
  ppi_page_text(&view->note,
                "Overlap: time that both cover. Exposed: communication "
                "without it. A host range covers\n"
                "the time its thread spends in the call.\n");
  if (!figures->details.paddle_distribution)
    ppi_page_text(&view->note,
                  "Device alone: without the time of host ranges.\n");
  ppi_view_note_base(view, figures);
}

static void build_distributed(const ppi_figures *figures,
                              const ppi_report_options *options,
                              ppi_view *out) {
  (void)options;
  const ppi_report_distribution *from = &figures->distribution;
  bool is_paddle = figures->details.paddle_distribution;
  if (!from->communication_ns && !from->host_calls && !from->device_calls) {
    out->reason = is_paddle
                      ? "no communication: nothing named allreduce, broadcast, "
                        "rpc, nccl or xccl, nothing of category Communication"
                      : "no communication: no ranges of category "
                        "Communication or marked so";
    return;
  }
  add_all(out, figures);
  if (!is_paddle) add_device(out, figures);
  put_note(out, figures);
}

PPI_VIEW(distributed, "Distribution Summary", .build = build_distributed);
