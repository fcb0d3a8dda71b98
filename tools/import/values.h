// SPDX-License-Identifier: Apache-2.0
//
// What an event gives as values: ids, numbers, times, attributes.
#pragma once

#include "import/importer.h"

// Identifiers are integers or any text; 0: none.
uint64_t ppi_import_id(const ppi_scalar *scalar);
uint64_t ppi_import_id_arg(const ppi_importer *importer, ppi_arg first,
                           ppi_arg second);
// ppi_import_flops is the number that `flops`, else `Flops` gives.
bool ppi_import_flops(const ppi_importer *importer, double *out);
bool ppi_import_number(const ppi_importer *importer, ppi_arg arg, double *out);
uint32_t ppi_import_attributes(ppi_importer *importer);

// ppi_import_ns reads a time in microseconds. False: it is none.
bool ppi_import_ns(const ppi_scalar *scalar, int64_t *out);
