// SPDX-License-Identifier: Apache-2.0
//
// Decides which parts of a spool recover trusts. It works on a private copy,
// into which it reads chunks as it reaches them. Invalid lanes and tables are
// removed from the header's lists, so that later users need no checks.
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
