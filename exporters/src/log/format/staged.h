// SPDX-License-Identifier: Apache-2.0
//
// A block of the log as a ring in memory holds it, outside any file.
#pragma once

#include "log/format/log_file.h"
#include "log/format/log_format.h"

PPROF_BEGIN_C_

// The bytes of a staging ring's entry as a block, when they are one. `runs` has
// room for PPI_LOG_MAX_RUNS and is the block's.
bool ppi_log_parse_staged(const uint8_t *bytes, uint32_t len, ppi_log_run *runs,
                          ppi_log_block *out);

PPROF_END_C_
