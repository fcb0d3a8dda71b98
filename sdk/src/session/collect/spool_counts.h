// SPDX-License-Identifier: Apache-2.0
//
// The markers' own counts, summed over a live spool's lanes, including those
// that are gone. Called on the collector's thread.
#pragma once

#include "spool/spool.h"

PPROF_BEGIN_C_

// By key: lost, unmatched, begun before, device lost, flows lost, invalid,
// names overflowed and clamped grow; crash safe, own cost and clock error are
// present values; the others are 0.
void ppi_spool_counts(const ppi_spool *spool, uint64_t out[PPI_NUM_TOTALS]);
// The same of the session in force; false when there is none.
bool ppi_spool_counts_now(uint64_t out[PPI_NUM_TOTALS]);
// The time of the run in force; any thread, as long as it is not over.
bool ppi_spool_now_ns(uint64_t *out);

// ppi_spool_note_dropped keeps in the spool in force that records below
// ends[lane] went from the flight recorder's ring; the collector's thread.
void ppi_spool_note_dropped(const uint64_t *ends, size_t num);

PPROF_END_C_
