// SPDX-License-Identifier: Apache-2.0
//
// Which processes and rows of a trace are devices.
#pragma once

#include "import/importer.h"

// ppi_devices_take decides which processes are devices, and makes device
// records of what lies on their rows.
pprof_status ppi_devices_take(ppi_importer *importer);
// ppi_devices_has answers whether a record is one of those, and so none of a
// host's.
bool ppi_devices_has(const ppi_importer *importer, const ppi_record *record);
