// SPDX-License-Identifier: Apache-2.0
//
// Adds rows of energy by device, kind and name.
#include "report/figures/energy.h"

#include <string.h>

#include "base/mem.h"

static int compare(const ppi_energy_row *a, const ppi_energy_row *b) {
  int order = strcmp(a->device, b->device);
  if (order) return order;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  return strcmp(a->name, b->name);
}

pprof_status ppi_energy_add(ppi_energy *energy, const ppi_energy_row *row) {
  size_t at = 0;
  while (at < energy->num && compare(&energy->rows[at], row) < 0) at++;
  if (at < energy->num && compare(&energy->rows[at], row) == 0) {
    ppi_energy_row *into = &energy->rows[at];
    into->joules += row->joules;
    into->error_joules += row->error_joules;
    into->calls += row->calls;
    into->busy_ns += row->busy_ns;
    into->is_unresolved |= row->is_unresolved;
    return PPROF_STATUS_OK;
  }
  ppi_energy_row *grown =
      ppi_grow(energy->rows, &energy->capacity, energy->num + 1, sizeof *grown);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  energy->rows = grown;
  memmove(grown + at + 1, grown + at, (energy->num - at) * sizeof *grown);
  energy->num++;
  grown[at] = *row;
  return PPROF_STATUS_OK;
}

pprof_status ppi_energy_merge(ppi_energy *into, const ppi_energy *from) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < from->num && status == PPROF_STATUS_OK; i++)
    status = ppi_energy_add(into, &from->rows[i]);
  return status;
}

double ppi_energy_of_stages(const ppi_energy *energy) {
  double joules = 0;
  for (size_t i = 0; i < energy->num; i++)
    if (energy->rows[i].kind <= PPI_ENERGY_SHORT)
      joules += energy->rows[i].joules;
  return joules;
}

void ppi_energy_clear(ppi_energy *energy) {
  ppi_free(energy->rows);
  *energy = (ppi_energy){0};
}
