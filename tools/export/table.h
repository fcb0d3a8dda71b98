// SPDX-License-Identifier: Apache-2.0
//
// The table of formats.
#pragma once

#include "export/export.h"

// ppi_export_formats ends with NULL.
const ppi_export_format *const *ppi_export_formats(void);
// ppi_export_find answers NULL after a message: there is no such format.
const ppi_export_format *ppi_export_find(const char *name);
