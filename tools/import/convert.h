// SPDX-License-Identifier: Apache-2.0
//
// One event of a trace to records.
#pragma once

#include "import/importer.h"

// ppi_convert turns importer->fields into records.
pprof_status ppi_convert(ppi_importer *importer);
