// SPDX-License-Identifier: Apache-2.0
//
// What definitions tell, for both readings of a log: the same definitions give
// the same numbers of stages and rows again.
#pragma once

#include "html/picture_state.h"

PPROF_BEGIN_C_

#define PPI_SEEN_NONE UINT32_MAX

pprof_status ppi_page_data_begin(ppi_picture *picture,
                                 const pprof_run_info *info);
pprof_status ppi_page_data_define(ppi_picture *picture,
                                  const pprof_definition *definition);
// ppi_page_data_fold is called at the end of a run's first reading: names that
// fold into others are one stage with them from there on.
void ppi_page_data_fold(ppi_picture *picture);
// ppi_page_data_stage answers a site's number. Where nobody has defined the
// site it gets a name, too. PPI_SEEN_NONE: no memory, or an id beyond
// PPI_MAX_ID.
uint32_t ppi_page_data_stage(ppi_picture *picture, uint32_t site);
// The rows of an event's host side, and of its device side. Rows are made where
// they are new, up to a bound. PPI_SEEN_NONE: it has none.
uint32_t ppi_page_data_row(ppi_picture *picture, const pprof_event *event);
uint32_t ppi_page_data_stream_row(ppi_picture *picture,
                                  const pprof_event *event);
// Forgets what ids mean.
void ppi_page_data_clear_run(ppi_picture *picture);

PPROF_END_C_
