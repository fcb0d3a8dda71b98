// SPDX-License-Identifier: Apache-2.0
//
// Sites of a run that gives ids to other names (pprof_definition_kind). In
// other runs the labels stay empty, and ids are the numbers.
#pragma once

#include "report/parts/ids.h"
#include "report/table/table_fill.h"

PPROF_BEGIN_C_

// The maximum number of names once ids are reused: the first that have events.
#define PPI_RUN_MAX_NAMES 65536u

typedef struct ppi_run_labels {
  bool is_used;
  ppi_table_ids ids;  // the current meanings of sites' ids
  uint32_t *numbers;  // of sites, by name of `ids`; 0: no event so far
  size_t num_numbers, numbers_capacity;
  uint64_t num_others;  // names that became one of `<other>`
} ppi_run_labels;

// ppi_run_site_is_another: the definition, or an earlier one, is of a wait or
// gives the id of a site with events to another name. Then ppi_run_label_site
// takes it, and later events are numbered.
bool ppi_run_site_is_another(const ppi_run_labels *labels,
                             const ppi_run_ids *ids,
                             const pprof_definition *definition);
bool ppi_run_label_site(ppi_run_labels *labels, ppi_run_ids *ids,
                        const pprof_definition *definition);
pprof_status ppi_run_number_event(ppi_run_labels *labels, ppi_run_ids *ids,
                                  const pprof_batch *batch, size_t at,
                                  pprof_event *out);
// ppi_run_fold_of answers the id that the defined site folds into; 0: none.
uint32_t ppi_run_fold_of(const pprof_definition *definition);
// ppi_run_fold_sites gives folding sites the name of their root, so that they
// share its row. It is called at the end, after all counting.
bool ppi_run_fold_sites(ppi_run_ids *ids);
// ppi_run_root answers the site that `site` shares a row with.
uint32_t ppi_run_root(const ppi_run_ids *ids, uint32_t site);
// ppi_run_number_open gives the checkpoint a numbered copy of its open ranges.
// The caller frees *out in any case.
pprof_status ppi_run_number_open(ppi_run_labels *labels, ppi_run_ids *ids,
                                 pprof_checkpoint *checkpoint,
                                 pprof_event **out);
bool ppi_run_note_others(const ppi_run_labels *labels, ppi_figures *out);
void ppi_run_clear_labels(ppi_run_labels *labels);

PPROF_END_C_
