// SPDX-License-Identifier: Apache-2.0
//
// Keys with values: facts about a run.
#pragma once

#include "event/event.h"

PPROF_BEGIN_C_

// A growing list of key and value, both owned.
typedef struct ppi_texts {
  ppi_text *items;
  size_t num, capacity;
} ppi_texts;

bool ppi_texts_add(ppi_texts *texts, const char *key, const char *value);
bool ppi_texts_join(ppi_texts *texts, const ppi_text *items, size_t num);
void ppi_texts_clear(ppi_texts *texts);

PPROF_END_C_
