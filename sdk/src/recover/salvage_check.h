// SPDX-License-Identifier: Apache-2.0
//
// What recover believes of a spool. Works on a private copy, into which it
// reads the chunks that it comes to: lanes and tables that make no sense are
// taken out of the header's lists, so that whoever goes by those lists
// afterwards need not check anything again.
#pragma once

#include "spool/spool.h"

// Chunks that recover adds to its copy for what it writes itself.
#define PPI_SALVAGE_CHUNKS 64u

// ppi_salvage_check_header: INVALID, VERSION or CORRUPT with a message.
pprof_status ppi_salvage_check_header(const ppi_spool *spool, const char *path,
                                      pprof_error *error);
// ppi_salvage_check goes through names, lanes and tables, and makes the pool
// the PPI_SALVAGE_CHUNKS behind the file's own.
pprof_status ppi_salvage_check(ppi_spool *spool);
