// SPDX-License-Identifier: Apache-2.0
//
// Of our own traces: from their events to the sink.
#pragma once

#include "import/importer.h"

// ppi_own_sweep delivers the run of a process.
pprof_status ppi_own_sweep(ppi_importer *importer, uint32_t process,
                           const uint64_t *skips, bool is_main);
