// SPDX-License-Identifier: Apache-2.0
//
// Totals from two sources: the events, and the run's own counts. Called by
// recover, by the reader of segments and by the log writer.
#pragma once

#include "event/tally.h"

// ppi_log_totals_join adds `more` to the tally (which gets its lanes' values)
// and lists the sum in the format of pprof_totals. `incomplete` is the value of
// that key. The caller frees the array (ppi_free).
pprof_status ppi_log_totals_join(ppi_tally *tally, const pprof_totals *more,
                                 uint64_t incomplete, ppi_total **out,
                                 size_t *out_num);
