// SPDX-License-Identifier: Apache-2.0
//
// What an event says beyond its own record.
#ifndef PPI_IMPORT_CONVERT_MORE_H_
#define PPI_IMPORT_CONVERT_MORE_H_

#include "import/importer.h"

pprof_status ppi_convert_memory(ppi_importer *importer, uint64_t time,
                                uint32_t row);
pprof_status ppi_convert_metadata(ppi_importer *importer);
pprof_status ppi_convert_device(ppi_importer *importer, uint32_t row,
                                uint32_t site, uint64_t start, uint64_t end);

#endif  // PPI_IMPORT_CONVERT_MORE_H_
