// SPDX-License-Identifier: Apache-2.0
//
// Builds the Energy view: the energy of each stage on each device, and of the
// device without a stage.

#include "report/figures/sum.h"
#include "view/view.h"

static const char *name_of(const ppi_energy_row *row) {
  switch (row->kind) {
    case PPI_ENERGY_STAGE:
      return row->name;
    case PPI_ENERGY_SHORT:
      return "(too short)";
    case PPI_ENERGY_IDLE:
      return "(idle)";
    case PPI_ENERGY_TOTAL:
      return "(total)";
  }
  return "";
}

static double total_of(const ppi_figures *figures, const char *device) {
  for (size_t i = 0; i < figures->num_energy; i++)
    if (figures->energy[i].kind == PPI_ENERGY_TOTAL &&
        strcmp(figures->energy[i].device, device) == 0)
      return figures->energy[i].joules;
  return 0;
}

// A ratio has thousandths of a percent, as integers.
#define PARTS 1e6

// clang-format off
#define COLUMNS(each) \
  each(device, NULL, "Device", 10, 1, text(row->device)) \
  each(name, NULL, "Name", 20, 2, text(name_of(row))) \
  each(energy, "J", "Energy(J)", 11, 3, decimal(row->joules)) \
  each(error, "J", "+-", 9, 4, \
       if (is_stage, ppi_cell_decimal(row->error_joules))) \
  each(ratio, "%", "Ratio(%)", 8, 5, \
       if (total > 0, ppi_cell_ratio((int64_t)(PARTS * row->joules / total), \
                                     (uint64_t)PARTS))) \
  each(busy, "ns", "Busy", 10, 0, \
       if (row->kind != PPI_ENERGY_IDLE, ppi_cell_time(row->busy_ns))) \
  each(calls, NULL, "Calls", 7, 6, if (is_stage, ppi_cell_count(row->calls))) \
  each(energy_per_call, "J", "J a call", 10, 7, \
       if (is_stage && row->calls, \
           ppi_cell_decimal(row->joules / (double)row->calls))) \
  each(items_per_joule, NULL, "Items a J", 10, 8, \
       if (items > 0 && row->joules > 0, ppi_cell_decimal(items / row->joules)))
// clang-format on
PPI_VIEW_TABLE(energy, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);

static void add_row(ppi_view *view, const ppi_figures *figures,
                    const ppi_energy_row *row) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  double total = total_of(figures, row->device);
  bool is_stage = row->kind == PPI_ENERGY_STAGE;
  double items = is_stage && !row->is_unresolved
                     ? ppi_figures_items_of(figures, row->name)
                     : 0;
  PPI_VIEW_PUT(COLUMNS, cells);
  if (is_stage && row->is_unresolved)
    cells[CELL_energy] = cells[CELL_error] = cells[CELL_ratio] =
        cells[CELL_energy_per_call] = ppi_cell_unresolved();
}

// Whether all that is known is the totals of devices.
static bool has_no_work(const ppi_figures *figures) {
  bool has_device = false;
  for (size_t i = 0; i < figures->num_energy; i++) {
    if (figures->energy[i].kind != PPI_ENERGY_TOTAL) return false;
    has_device |= strncmp(figures->energy[i].device, "gpu", 3) == 0;
  }
  return has_device;
}

static void put_note(ppi_view *view, const ppi_figures *figures) {
  double joules = ppi_figures_energy_of_stages(figures);
  ppi_energy_unit units[PPI_ENERGY_UNITS];
  if (has_no_work(figures)) {
    ppi_page_text(&view->note,
                  "Energy by stage: nothing timed the device's work. Record "
                  "device ranges, or kernels\n(`pprof-report run --kernels`)."
                  "\n");
    return;
  }
  ppi_figures_energy_units(figures, units);
  ppi_page_text(&view->note,
                "Energy: power while the stage kept the device busy, shared "
                "equally with others that did.\n"
                "Rows and (idle) are scaled to (total), the device's own "
                "counter. +-: by overlap and sampling. n/r: busy for\n"
                "less than 20 samples; its energy is in (too short). A driver "
                "may say the mean power of a\nsecond: stages that alternate "
                "faster share it by their time.\n");
  for (size_t i = 0; i < PPI_ENERGY_UNITS; i++)
    if (units[i].num)
      ppi_page_format(&view->note, "A %s: %.3f J without (idle).\n",
                      units[i].name, joules / (double)units[i].num);
}

static void build_energy(const ppi_figures *figures,
                         const ppi_report_options *options, ppi_view *out) {
  (void)options;
  for (size_t i = 0; i < figures->num_energy; i++)
    add_row(out, figures, &figures->energy[i]);
  if (out->num_rows)
    put_note(out, figures);
  else
    out->reason = "no energy is known: record with `machine: on`";
}

PPI_VIEW(energy, "Energy Summary", .only_with_rows = true,
         .build = build_energy);
