// SPDX-License-Identifier: Apache-2.0
//
// Builds the Energy view: the energy of each stage on each device, and of the
// device without a stage.
#include <string.h>

#include "report/figures/sum.h"
#include "view/view.h"

// clang-format off
#define COLUMNS(each) \
  each(DEVICE, "device", NULL) \
  each(NAME, "name", NULL) \
  each(ENERGY, "energy", "J") \
  each(ERROR, "error", "J") \
  each(RATIO, "ratio", "%") \
  each(BUSY, "busy", "ns") \
  each(CALLS, "calls", NULL) \
  each(A_CALL, "energy_per_call", "J") \
  each(ITEMS, "items_per_joule", NULL)
// clang-format on
PPI_VIEW_COLUMNS(COLUMNS);
static const size_t brief[] = {DEVICE, NAME,  ENERGY, ERROR,
                               RATIO,  CALLS, A_CALL, ITEMS};
static const ppi_table_column table_columns[] = {
    {"Device", 10, DEVICE, 1},    {"Name", 20, NAME, 1},
    {"Energy(J)", 11, ENERGY, 1}, {"+-", 9, ERROR, 1},
    {"Ratio(%)", 8, RATIO, 1},    {"Busy", 10, BUSY, 1},
    {"Calls", 7, CALLS, 1},       {"J a call", 10, A_CALL, 1},
    {"Items a J", 10, ITEMS, 1},
};

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

static double total_of(const ppi_energy *energy, const char *device) {
  for (size_t i = 0; i < energy->num; i++)
    if (energy->rows[i].kind == PPI_ENERGY_TOTAL &&
        strcmp(energy->rows[i].device, device) == 0)
      return energy->rows[i].joules;
  return 0;
}

static void put_stage(const ppi_figures *figures, const ppi_energy_row *row,
                      ppi_cell *cells) {
  cells[CALLS] = ppi_cell_count(row->calls);
  if (row->is_unresolved) {
    cells[ENERGY] = cells[ERROR] = cells[RATIO] = cells[A_CALL] =
        ppi_cell_unresolved();
    return;
  }
  double items = ppi_figures_items_of(figures, row->name);
  cells[ERROR] = ppi_cell_decimal(row->error_joules);
  if (row->calls)
    cells[A_CALL] = ppi_cell_decimal(row->joules / (double)row->calls);
  if (items > 0 && row->joules > 0)
    cells[ITEMS] = ppi_cell_decimal(items / row->joules);
}

static bool add_row(ppi_view *view, const ppi_figures *figures,
                    const ppi_energy_row *row) {
  // Thousandths of a percent, as integers.
  const double parts = 1e6;
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  if (!cells) return false;
  double total = total_of(&figures->energy, row->device);
  cells[DEVICE] = ppi_cell_text(row->device);
  cells[NAME] = ppi_cell_text(name_of(row));
  cells[ENERGY] = ppi_cell_decimal(row->joules);
  if (total > 0)
    cells[RATIO] =
        ppi_cell_ratio((int64_t)(parts * row->joules / total), (uint64_t)parts);
  if (row->kind != PPI_ENERGY_IDLE) cells[BUSY] = ppi_cell_time(row->busy_ns);
  if (row->kind == PPI_ENERGY_STAGE) put_stage(figures, row, cells);
  return true;
}

static void put_note(ppi_view *view, const ppi_figures *figures) {
  double joules = ppi_energy_of_stages(&figures->energy);
  ppi_energy_unit units[PPI_ENERGY_UNITS];
  ppi_figures_energy_units(figures, units);
  ppi_page_text(&view->note,
                "Energy: power while the stage kept the device busy, shared "
                "equally with others that did.\n"
                "Rows and (idle) are scaled to (total), the device's own "
                "counter. +-: by overlap and sampling. n/r: busy for\n"
                "less than 20 samples; its energy is in (too short).\n");
  for (size_t i = 0; i < PPI_ENERGY_UNITS; i++)
    if (units[i].num)
      ppi_page_format(&view->note, "A %s: %.3f J without (idle).\n",
                      units[i].name, joules / (double)units[i].num);
}

static pprof_status build_energy(const ppi_figures *figures,
                                 const ppi_report_options *options,
                                 ppi_view *out) {
  (void)options;
  bool added = true;
  for (size_t i = 0; i < figures->energy.num && added; i++)
    added = add_row(out, figures, &figures->energy.rows[i]);
  if (out->num_rows)
    put_note(out, figures);
  else
    out->reason = "no energy is known: record with `machine: on`";
  return added ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

const ppi_view_kind ppi_view_energy = {
    .name = "energy",
    .title = "Energy Summary",
    PPI_VIEW_LAYOUT(columns, table_columns),
    PPI_VIEW_BRIEF(brief),
    .has_time_unit = true,
    .only_with_rows = true,
    .end = PPI_TABLE_END_NOTE,
    .build = build_energy,
};
