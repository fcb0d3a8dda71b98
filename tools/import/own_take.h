// SPDX-License-Identifier: Apache-2.0
//
// Turns tokens of our own traces into events and facts.
#pragma once

#include "import/importer.h"
#include "spans/span.h"

// ppi_own_key turns the key of a numeric argument into a number, never 0.
uint8_t ppi_own_key(const char *key, size_t len);
// Take an event other than metadata, an event of spans (a ppi_span_take), a
// checkpoint, a row's lane and a token of a run's facts. ppi_own_is_run: the
// event's args are a run's facts.
void ppi_own_take(ppi_importer *importer, char ph);
void ppi_own_take_span(void *importer, const ppi_span_event *span);
void ppi_own_checkpoint(ppi_importer *importer);
void ppi_own_name_row(ppi_importer *importer, uint32_t row);
void ppi_own_take_fact(ppi_importer *importer, const ppi_json_token *token);
bool ppi_own_is_run(const ppi_fields *fields);
