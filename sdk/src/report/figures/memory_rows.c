// SPDX-License-Identifier: Apache-2.0
//
// How rows of memory add up: of all places only so many are told apart.
#include "report/figures/memory_rows.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/rows.h"

pprof_status ppi_figures_add_place(ppi_figures *into, const char *name,
                                   const ppi_report_place *from) {
  ppi_report_place *place = ppi_figures_place(into, name);
  if (!place) return PPROF_STATUS_NO_MEMORY;
  for (int kind = 0; kind < 2; kind++) {
    place->is_known[kind] |= from->is_known[kind];
    place->peak_bytes[kind] =
        PPI_MAX(place->peak_bytes[kind], from->peak_bytes[kind]);
    // Others are several places.
    if (strcmp(name, PPI_OTHER_PLACES) != 0)
      ppi_growth_merge(&place->growth[kind], &from->growth[kind]);
  }
  return PPROF_STATUS_OK;
}

pprof_status ppi_figures_add_owned(ppi_figures *into, const char *place,
                                   const ppi_report_memory *from) {
  ppi_report_memory key = *from;
  key.place = (char *)place;
  ppi_report_memory *row = ppi_figures_memory(into, &key);
  if (!row) return PPROF_STATUS_NO_MEMORY;
  row->allocations += from->allocations;
  row->frees += from->frees;
  row->allocated_bytes =
      ppi_bytes_sum(row->allocated_bytes, from->allocated_bytes);
  row->freed_bytes = ppi_bytes_sum(row->freed_bytes, from->freed_bytes);
  return PPROF_STATUS_OK;
}

// The last of those places that are told apart; NULL: all are.
static const char *last_with_row(const ppi_figures *figures) {
  size_t left = PPI_REPORT_PLACES;
  const char *last = NULL;
  for (size_t i = 0; i < figures->num_places; i++) {
    const char *name = figures->places[i].name;
    if (strcmp(name, PPI_OTHER_PLACES) == 0) continue;
    if (left == 0) return last;
    left--;
    last = name;
  }
  return NULL;
}

static pprof_status add_all(ppi_figures *into, const ppi_figures *from,
                            const char *last) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < from->num_places && status == PPROF_STATUS_OK; i++) {
    const char *name = from->places[i].name;
    bool has_row = !last || strcmp(name, last) <= 0;
    status = ppi_figures_add_place(into, has_row ? name : PPI_OTHER_PLACES,
                                   &from->places[i]);
  }
  for (size_t i = 0; i < from->num_memory && status == PPROF_STATUS_OK; i++) {
    const char *name = from->memory[i].place;
    bool has_row = !last || strcmp(name, last) <= 0;
    status = ppi_figures_add_owned(into, has_row ? name : PPI_OTHER_PLACES,
                                   &from->memory[i]);
  }
  return status;
}

void ppi_figures_clear_memory(ppi_figures *figures) {
  for (size_t i = 0; i < figures->num_memory; i++) {
    ppi_free(figures->memory[i].place);
    ppi_free(figures->memory[i].name);
  }
  for (size_t i = 0; i < figures->num_places; i++)
    ppi_free(figures->places[i].name);
  ppi_free(figures->memory);
  ppi_free(figures->places);
  figures->memory = NULL;
  figures->places = NULL;
  figures->num_memory = figures->memory_capacity = 0;
  figures->num_places = figures->places_capacity = 0;
}

pprof_status ppi_figures_add_memory(ppi_figures *into,
                                    const ppi_figures *from) {
  pprof_status status = add_all(into, from, NULL);
  const char *last = status == PPROF_STATUS_OK ? last_with_row(into) : NULL;
  if (!last) return status;
  ppi_figures few = {0};
  status = add_all(&few, into, last);
  if (status != PPROF_STATUS_OK) {
    ppi_figures_clear_memory(&few);
    return status;
  }
  ppi_figures_clear_memory(into);
  into->memory = few.memory;
  into->num_memory = few.num_memory;
  into->memory_capacity = few.memory_capacity;
  into->places = few.places;
  into->num_places = few.num_places;
  into->places_capacity = few.places_capacity;
  return PPROF_STATUS_OK;
}
