// SPDX-License-Identifier: Apache-2.0
//
// Reads events from their text, without the parser.
#pragma once

#include "import/importer.h"

// ppi_quick_take is a ppi_json_take_whole.
size_t ppi_quick_take(void *importer, const char *bytes);
