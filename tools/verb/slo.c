// SPDX-License-Identifier: Apache-2.0
//
// Reads what a served request must keep.
#include "verb/slo.h"

#include <string.h>

#include "cli/say.h"
#include "import/fields.h"

static bool read_one(const char *text, size_t len, ppi_slo *out) {
  const struct {
    const char *key;
    uint64_t *bound_ns;
  } keys[] = {{"ttft=", &out->ttft_ns},
              {"itl=", &out->itl_ns},
              {"tpot=", &out->tpot_ns},
              {"e2e=", &out->e2e_ns}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    size_t key_len = strlen(keys[i].key);
    int64_t ns;
    if (len <= key_len || strncmp(text, keys[i].key, key_len) != 0) continue;
    if (!ppi_duration_ns(text + key_len, len - key_len, &ns) || ns <= 0)
      return false;
    *keys[i].bound_ns = (uint64_t)ns;
    return true;
  }
  return false;
}

int ppi_tool_slo_read(const char *text, ppi_slo *out) {
  *out = (ppi_slo){0};
  while (text) {
    size_t len = strcspn(text, ",");
    if (!read_one(text, len, out))
      return ppi_tool_fail(
          PPI_EXIT_USAGE,
          "--slo: '%.*s' is none of ttft=TIME, itl=TIME, tpot=TIME and"
          " e2e=TIME, such as ttft=200ms",
          (int)len, text);
    text = text[len] ? text + len + 1 : NULL;
  }
  return PPI_EXIT_DONE;
}
