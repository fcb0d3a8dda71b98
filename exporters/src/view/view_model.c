// SPDX-License-Identifier: Apache-2.0
//
// Builds the Model view: the phases of a step, and the device time submitted in
// them.
#include "view/view.h"

static const char *const phase_names[PPI_NUM_PHASES] = {
    "ProfileStep", "Dataloader", "Forward",     "Backward", "Optimization",
    "Preprocess",  "Inference",  "Postprocess", "CpuTask"};

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 15, 1, text(phase_names[phase])) \
  each(calls, NULL, "Calls", 6, 2, count(ppi_spread_calls(&from->host))) \
  PPI_HOST_CELLS(each, 3, 4, 5, 6, &from->host, figures->base_ns) \
  PPI_DEVICE_CELLS(each, 7, 0, 0, 8, &from->device, figures->model_device_ns)
// clang-format on
PPI_VIEW_TABLE(model, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);

static void add_phase(ppi_view *view, const ppi_figures *figures, int phase) {
  const ppi_report_phase *from = &figures->phases[phase];
  size_t indent = phase == PPI_PHASE_PROFILE_STEP ? 0 : 2;
  ppi_cell *cells = ppi_view_add_row(view, 0, indent);
  PPI_VIEW_PUT(COLUMNS, cells);
}

static ppi_cell signed_time(int64_t ns) {
  return (ppi_cell){.kind = PPI_CELL_TIME, .value = ns, .divisor = 1};
}

// The rest of the base without the phases. Parallel threads can use more than
// the base: the rest is then below zero, and the note gives the reason.
// Unsigned sums wrap, so that no garbage overflows.
static void add_others(ppi_view *view, const ppi_figures *figures) {
  uint64_t host_ns = figures->base_ns, device_ns = figures->model_device_ns;
  for (int i = PPI_PHASE_PROFILE_STEP + 1; i < PPI_NUM_PHASES; i++) {
    host_ns -= figures->phases[i].host.sum;
    device_ns -= figures->phases[i].device.sum;
  }
  ppi_cell *cells = ppi_view_add_row(view, 0, 2);
  cells[CELL_name] = ppi_cell_text("Others");
  cells[CELL_cpu_total] = signed_time((int64_t)host_ns);
  cells[CELL_cpu_ratio] = ppi_cell_ratio((int64_t)host_ns, figures->base_ns);
  cells[CELL_device_total] = signed_time((int64_t)device_ns);
  cells[CELL_device_ratio] =
      ppi_cell_ratio((int64_t)device_ns, figures->model_device_ns);
  if ((int64_t)host_ns < 0 || (int64_t)device_ns < 0)
    ppi_page_text(&view->note,
                  "Others is below zero: phases overlap, on several threads or "
                  "as async ranges, and each\n"
                  "counts in full.\n");
}

static void put_note(ppi_view *view, const ppi_figures *figures) {
  ppi_page_text(&view->note,
                "CPU: the sum over the outermost ranges of the phase on each "
                "thread; threads are not merged.\n"
                "It is wall time: a thread may have waited in it.\n"
                "GPU: the plain sum of the device ranges submitted in the "
                "phase, streams not merged.\n");
  ppi_page_text(
      &view->note,
      figures->runs_with_kernels
          ? "Where kernel records exist these are kernels alone.\n"
          : "A device range's time is that between two events on its stream: "
            "it includes gaps between launches.\n");
  ppi_page_text(&view->note,
                "GPU ratio base: the device time of the steps, or all of it "
                "without steps. Others can be negative.\n");
  ppi_view_note_base(view, figures);
}

static void build_model(const ppi_figures *figures,
                        const ppi_report_options *options, ppi_view *out) {
  (void)options;
  size_t present = 0;
  for (int i = 0; i < PPI_NUM_PHASES; i++) {
    if (!figures->phases[i].host.n) continue;
    present++;
    add_phase(out, figures, i);
  }
  put_note(out, figures);
  add_others(out, figures);
  out->only_when_named = present < 2;
  if (present < 2)
    out->reason = "fewer than two kinds of phase (ProfileStep, Forward, ...)";
}

PPI_VIEW(model, "Model Summary", .build = build_model);
