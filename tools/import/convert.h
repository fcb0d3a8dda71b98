// SPDX-License-Identifier: Apache-2.0
//
// One event of a trace to records.
#ifndef PPI_IMPORT_CONVERT_H_
#define PPI_IMPORT_CONVERT_H_

#include "import/importer.h"

// ppi_convert turns importer->fields into records.
pprof_status ppi_convert(ppi_importer *importer);

#endif  // PPI_IMPORT_CONVERT_H_
