// SPDX-License-Identifier: Apache-2.0
//
// Adds up rows of memory; only PPI_REPORT_PLACES places have rows of their own.
#include "report/figures/memory_rows.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/rows.h"

pprof_status ppi_figures_add_place(ppi_figures *into, const char *name,
                                   const ppi_report_place *from) {
  ppi_report_place key = *from;
  key.name = (char *)name;
  pprof_status status = ppi_figures_add_row(into, PPI_FIGURES_places, &key);
  ppi_report_place *place =
      status == PPROF_STATUS_OK ? ppi_figures_place(into, name) : NULL;
  // PPI_OTHER_PLACES is several places, so that growth has no meaning.
  if (!place || strcmp(name, PPI_OTHER_PLACES) == 0) return status;
  for (int kind = 0; kind < 2; kind++)
    ppi_growth_merge(&place->growth[kind], &from->growth[kind]);
  return status;
}

pprof_status ppi_figures_add_owned(ppi_figures *into, const char *place,
                                   const ppi_report_memory *from) {
  ppi_report_memory key = *from;
  key.place = (char *)place;
  return ppi_figures_add_row(into, PPI_FIGURES_memory, &key);
}

// The last place with a row of its own; NULL: all places have one.
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

static void clear_memory(ppi_figures *figures) {
  ppi_figures_clear_table(figures, PPI_FIGURES_memory);
  ppi_figures_clear_table(figures, PPI_FIGURES_places);
}

pprof_status ppi_figures_add_memory(ppi_figures *into,
                                    const ppi_figures *from) {
  pprof_status status = ppi_figures_join(into, from, PPI_FIGURES_memory);
  if (status == PPROF_STATUS_OK) status = add_all(into, from, NULL);
  const char *last = status == PPROF_STATUS_OK ? last_with_row(into) : NULL;
  if (!last) return status;
  ppi_figures few = {0};
  status = add_all(&few, into, last);
  if (status != PPROF_STATUS_OK) {
    clear_memory(&few);
    return status;
  }
  clear_memory(into);
  into->memory = few.memory;
  into->num_memory = few.num_memory;
  into->memory_capacity = few.memory_capacity;
  into->places = few.places;
  into->num_places = few.num_places;
  into->places_capacity = few.places_capacity;
  return PPROF_STATUS_OK;
}
