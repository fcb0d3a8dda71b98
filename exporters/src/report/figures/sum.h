// SPDX-License-Identifier: Apache-2.0
//
// Adds up and frees figures.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

// Rows that identify a kind of process: not collections and imports, which any
// Python program has.
bool ppi_row_is_of_kind(const ppi_answer_row *row);
// Whether it has such a row.
bool ppi_answer_has_stage(const ppi_answer *answer);

bool ppi_figures_add(ppi_figures *into, const ppi_figures *from);
// ppi_figures_kept_run adds a share of the run.
bool ppi_figures_kept_run(ppi_figures *figures, ppi_kept_run *run);
void ppi_figures_clear(ppi_figures *figures);
// ppi_report_details_carry carries what figures depend on. A read makes the
// text, for ppi_free.
void ppi_report_details_carry(ppi_carry *carry, ppi_report_details *details);
// ppi_figures_carry carries figures that are not joined. After a failed read,
// they can only be cleared.
void ppi_figures_carry(ppi_carry *carry, ppi_figures *figures);
void ppi_figures_clear_kinds(ppi_figures *figures);
// ppi_figures_base answers the greatest base that the runs have.
ppi_base_kind ppi_figures_base(const ppi_figures *figures);

void ppi_report_perf_merge(ppi_report_perf *into, const ppi_report_perf *from);

// The divisors of energy: requests, steps and output tokens, cold ones too.
typedef struct ppi_energy_unit {
  const char *name;
  uint64_t num;  // 0: the run has no such unit
} ppi_energy_unit;
enum { PPI_ENERGY_UNITS = 3 };
void ppi_figures_energy_units(const ppi_figures *figures,
                              ppi_energy_unit out[PPI_ENERGY_UNITS]);
// ppi_figures_energy_of_stages answers the energy of all stages, short ones
// too.
double ppi_figures_energy_of_stages(const ppi_figures *figures);
// ppi_figures_items_of sums up the items of a stage's calls, on host and
// devices.
double ppi_figures_items_of(const ppi_figures *figures, const char *name);

PPROF_END_C_
