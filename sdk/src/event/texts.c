// SPDX-License-Identifier: Apache-2.0
//
// Keeps keys with values: facts about a run.
#include "event/texts.h"

#include "base/mem.h"

bool ppi_texts_add(ppi_texts *texts, const char *key, const char *value) {
  if (!PPI_ROOM(texts->items, texts->capacity, texts->num + 1)) return false;
  ppi_text text = {ppi_strdup(key), ppi_strdup(value)};
  if (!text.key || !text.value) {
    ppi_free((char *)text.key);
    ppi_free((char *)text.value);
    return false;
  }
  texts->items[texts->num++] = text;
  return true;
}

bool ppi_texts_join(ppi_texts *texts, const ppi_text *items, size_t num) {
  for (size_t i = 0; i < num; i++)
    if (!ppi_texts_add(texts, items[i].key,
                       items[i].value ? items[i].value : ""))
      return false;
  return true;
}

void ppi_texts_clear(ppi_texts *texts) {
  for (size_t i = 0; i < texts->num; i++) {
    ppi_free((char *)texts->items[i].key);
    ppi_free((char *)texts->items[i].value);
  }
  ppi_free(texts->items);
  *texts = (ppi_texts){0};
}
