// SPDX-License-Identifier: Apache-2.0
//
// A block of the log in a ring in memory, outside any file.
#pragma once

#include "log/format/log_file.h"
#include "spool/staging.h"

// ppi_log_next_staged walks the blocks of a ring; *cursor starts at 0. Entries
// that are no blocks are left out. False: there are no more.
bool ppi_log_next_staged(const ppi_staging *ring, uint64_t *cursor,
                         ppi_log_run *runs, ppi_log_block *out);
// Reads an entry of a staging ring as a block; false: it is none. `runs` has
// room for PPI_LOG_MAX_RUNS and belongs to the block.
bool ppi_log_parse_staged(const uint8_t *bytes, uint32_t len, ppi_log_run *runs,
                          ppi_log_block *out);
