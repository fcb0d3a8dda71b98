// SPDX-License-Identifier: Apache-2.0
//
// The energy of devices by stage, and idle. The rows of a device add up to its
// energy counter.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef enum ppi_energy_kind {
  PPI_ENERGY_STAGE,
  PPI_ENERGY_SHORT,  // stages too short for the sampling, together
  PPI_ENERGY_IDLE,
  PPI_ENERGY_TOTAL
} ppi_energy_kind;

typedef struct ppi_energy_row {
  ppi_energy_kind kind;
  char device[16];
  char name[96];
  bool is_unresolved;  // its energy is in the row of short stages
  double joules, error_joules;
  uint64_t calls, busy_ns;
} ppi_energy_row;

// By device, kind, name. All zero is the empty one.
typedef struct ppi_energy {
  ppi_energy_row *rows;
  size_t num, capacity;
} ppi_energy;

// ppi_energy_add adds a row to the one of its device, kind and name.
//
// Errors: NO_MEMORY.
pprof_status ppi_energy_add(ppi_energy *energy, const ppi_energy_row *row);
pprof_status ppi_energy_merge(ppi_energy *into, const ppi_energy *from);
// ppi_energy_of_stages answers the energy of all stages, short ones too.
double ppi_energy_of_stages(const ppi_energy *energy);
void ppi_energy_clear(ppi_energy *energy);

PPROF_END_C_
