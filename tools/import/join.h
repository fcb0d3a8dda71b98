// SPDX-License-Identifier: Apache-2.0
//
// Joins device records to their launches.
#pragma once

#include "import/importer.h"

// ppi_import_device adds a device record under its ids.
void ppi_import_device(ppi_importer *importer, ppi_device_record *record);

// ppi_join gives device records their launches: importer->placed.
void ppi_join(ppi_importer *importer, uint32_t main_process);
