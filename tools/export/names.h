// SPDX-License-Identifier: Apache-2.0
//
// Keeps definitions for formats of several runs. An id is valid in its run
// only; a row is valid for all. A thread that reuses the lane of an ended one
// gets a new row, and so does a site with another name. One thread.
#pragma once

#include "base/map.h"
#include "pprof/event.h"

enum { PPI_NUM_EXPORT_KINDS = PPROF_DEFINITION_ATTRIBUTES + 1 };

typedef struct ppi_export_name {
  char *text;
  uint32_t run, id;
  uint32_t parent;  // row of a site's category, of a stream's device
  uint32_t color;
  uint64_t number;
  bool is_defined, has_parent;
} ppi_export_name;

typedef struct ppi_export_run {
  char *uuid, *host, *pid, *rank, *command, *version;
  uint64_t base_ns;  // realtime of its zero; 0: unknown
} ppi_export_run;

typedef struct ppi_export_names {
  ppi_export_run *runs;
  size_t num_runs, runs_capacity;
  ppi_map ids[PPI_NUM_EXPORT_KINDS];  // of this run: by id, in order of coming
  struct ppi_export_rows {
    ppi_export_name *items;
    size_t num, capacity;
    uint32_t *current;  // rows, by the number that `ids` gives an id
    size_t current_capacity;
  } kinds[PPI_NUM_EXPORT_KINDS];
} ppi_export_names;

// ppi_export_text copies a text (ppi_free): bytes that are no UTF-8 become
// U+FFFD each, as formats want it.
char *ppi_export_text(const char *text, size_t len);

// All zero is the empty one.
void ppi_export_names_begin(ppi_export_names *names,
                            const pprof_run_info *info);
void ppi_export_names_set(ppi_export_names *names,
                          const pprof_definition *definition);
// ppi_export_names_row finds the row of an id; an undefined id gets a new row.
uint32_t ppi_export_names_row(ppi_export_names *names,
                              pprof_definition_kind kind, uint32_t id);
// ppi_export_names_of answers that row itself, until the next call.
const ppi_export_name *ppi_export_names_of(ppi_export_names *names,
                                           pprof_definition_kind kind,
                                           uint32_t id);
static inline const ppi_export_name *ppi_export_names_at(
    const ppi_export_names *names, pprof_definition_kind kind, uint32_t row) {
  return &names->kinds[kind].items[row];
}
// ppi_export_category answers the name of a site's category, never NULL.
const char *ppi_export_category(const ppi_export_names *names, uint32_t site);
// ppi_export_shift answers how much later run `run` (from 1) began than the
// first of all runs; 0 if the begin of any run is unknown.
uint64_t ppi_export_shift(const ppi_export_names *names, uint32_t run);
void ppi_export_names_clear(ppi_export_names *names);
