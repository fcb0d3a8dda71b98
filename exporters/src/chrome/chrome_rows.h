// SPDX-License-Identifier: Apache-2.0
//
// Which row a slice goes to, and when. Ranges of a thread nest and end in
// order, so they are placed at once. Device and cross-thread ranges of several
// threads arrive interleaved. They wait until a checkpoint says that nothing
// ending earlier is missing. Rows are therefore independent of how batches were
// cut and mixed.
#pragma once

#include "chrome/chrome_state.h"

// Errors of all functions: NO_MEMORY; INVALID, no session has such an id.

// ppi_chrome_rows_nest places a range of the lane's thread.
pprof_status ppi_chrome_rows_nest(ppi_chrome_writer *writer, uint32_t lane,
                                  ppi_chrome_slice *slice);
// ppi_chrome_rows_hold buffers a copy of a slice.
pprof_status ppi_chrome_rows_hold(ppi_chrome_writer *writer,
                                  ppi_chrome_kind kind, uint32_t id,
                                  const ppi_chrome_slice *slice);
// ppi_chrome_rows_first answers the tid of the lane's first row.
pprof_status ppi_chrome_rows_first(ppi_chrome_writer *writer, uint32_t lane,
                                   uint32_t *out_tid);

// ppi_chrome_rows_check places the slices that need not wait any more;
// `checkpoint` NULL: all.
pprof_status ppi_chrome_rows_check(ppi_chrome_writer *writer,
                                   const pprof_checkpoint *checkpoint);
// ppi_chrome_rows_leave: another thread now has the lane. It places the old
// thread's buffered slices and writes the names of its rows while they are
// known.
pprof_status ppi_chrome_rows_leave(ppi_chrome_writer *writer, uint32_t lane);
// ppi_chrome_rows_rename: the site's id gets another name. It places the slices
// buffered under the old name while that is known.
pprof_status ppi_chrome_rows_rename(ppi_chrome_writer *writer, uint32_t site);
void ppi_chrome_rows_clear(ppi_chrome_writer *writer);
