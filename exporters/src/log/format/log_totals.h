// SPDX-License-Identifier: Apache-2.0
//
// Totals from two sources: what events say about themselves, and what only the
// run knew. Called by recover, by the reader of segments and by the log writer.
#pragma once

#include "event/tally.h"

PPROF_BEGIN_C_

// ppi_log_totals_join adds `more` to the tally (which gets its lanes' values)
// and lists all of it as pprof_totals wants it. `incomplete` is the value of
// that key. The array is the caller's to free (ppi_free).
pprof_status ppi_log_totals_join(ppi_tally *tally, const pprof_totals *more,
                                 uint64_t incomplete, ppi_total **out,
                                 size_t *out_num);
// Adds each lane's values to another tally.
pprof_status ppi_log_totals_add(ppi_tally *to, const ppi_tally *from);

PPROF_END_C_
