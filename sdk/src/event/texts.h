// SPDX-License-Identifier: Apache-2.0
//
// Keys with values: what is said about a run.
#ifndef PPI_TEXTS_H_
#define PPI_TEXTS_H_

#include "event/event.h"

#ifdef __cplusplus
extern "C" {
#endif

// A growing list of key and value, both owned.
typedef struct ppi_texts {
  ppi_text *items;
  size_t num, capacity;
} ppi_texts;

bool ppi_texts_add(ppi_texts *texts, const char *key, const char *value);
void ppi_texts_clear(ppi_texts *texts);

#ifdef __cplusplus
}
#endif

#endif  // PPI_TEXTS_H_
