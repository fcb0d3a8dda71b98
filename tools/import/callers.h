// SPDX-License-Identifier: Apache-2.0
//
// With ppi_import_options.by_stack: which Python functions a range was called
// in, as torch.profiler's `stack` has them, and the names that have those
// behind them.
#pragma once

#include "import/sweeper.h"

// ppi_callers_name gives the record, whose row's open ranges are all around
// it, its name; the record may be `is_async`, then none is. It answers the
// stack that what lies in it has instead of its own, + 1; 0: its own.
uint32_t ppi_callers_name(ppi_sweeper *sweeper, ppi_record *record,
                          bool is_async);
void ppi_callers_clear(ppi_sweeper *sweeper);
