// SPDX-License-Identifier: Apache-2.0
//
// All processes of a trace, from records to the sink.
#pragma once

#include "import/importer.h"

// ppi_sweep delivers all processes.
pprof_status ppi_sweep(ppi_importer *importer);
