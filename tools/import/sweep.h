// SPDX-License-Identifier: Apache-2.0
//
// All processes of a trace, from records to the sink.
#ifndef PPI_IMPORT_SWEEP_H_
#define PPI_IMPORT_SWEEP_H_

#include "import/importer.h"

// ppi_sweep delivers all processes.
pprof_status ppi_sweep(ppi_importer *importer);

#endif  // PPI_IMPORT_SWEEP_H_
