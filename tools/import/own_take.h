// SPDX-License-Identifier: Apache-2.0
//
// Of our own traces: from their tokens to their events and facts.
#pragma once

#include "import/importer.h"

// ppi_own_key is a number of what an argument with a number is called, never 0.
uint8_t ppi_own_key(const char *key, size_t len);
// An event that is no metadata, the lane of a row, a token
// of what a run says of itself, and whether an event's args are that.
pprof_status ppi_own_take(ppi_importer *importer, char ph);
void ppi_own_name_row(ppi_importer *importer, uint32_t row);
pprof_status ppi_own_take_fact(ppi_importer *importer,
                               const ppi_json_token *token);
bool ppi_own_is_run(const ppi_fields *fields);
