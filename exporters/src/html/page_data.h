// SPDX-License-Identifier: Apache-2.0
//
// The definitions of a log, for both readings: the same definitions give the
// same numbers of stages and rows.
#pragma once

#include "html/picture_state.h"

#define PPI_SEEN_NONE UINT32_MAX

pprof_status ppi_page_data_begin(ppi_picture *picture,
                                 const pprof_run_info *info);
pprof_status ppi_page_data_define(ppi_picture *picture,
                                  const pprof_definition *definition);
// Call ppi_page_data_fold at the end of a run's first reading. From then on, a
// name that folds shares the stage of its target.
void ppi_page_data_fold(ppi_picture *picture);
// ppi_page_data_stage answers a site's number. A site without a definition gets
// a name, too. PPI_SEEN_NONE: no memory, or an id beyond PPI_MAX_ID.
uint32_t ppi_page_data_stage(ppi_picture *picture, uint32_t site);
// The rows of an event's host side and of its device side. New rows are added
// up to a bound. PPI_SEEN_NONE: the side has no row.
uint32_t ppi_page_data_row(ppi_picture *picture, const pprof_event *event);
uint32_t ppi_page_data_stream_row(ppi_picture *picture,
                                  const pprof_event *event);
// Clears the ids and names of the run.
void ppi_page_data_clear_run(ppi_picture *picture);
