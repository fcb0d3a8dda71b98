// SPDX-License-Identifier: Apache-2.0
//
// Defines status texts, the version, error messages and where texts are cut.
#include "base/base.h"

#include <stdio.h>
#include <string.h>

const char *pprof_status_string(pprof_status status) {
  switch (status) {
#define PPI_STATUS_CASE(name, value, text) \
  case PPROF_STATUS_##name:                \
    return text;
    PPROF_STATUS_LIST(PPI_STATUS_CASE)
#undef PPI_STATUS_CASE
  }
  return "unknown status";
}

const char *pprof_version(void) {
  return PPI_VERSION;
}

pprof_status ppi_fail(pprof_error *error, pprof_status status,
                      const char *format, ...) {
  if (error) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
  }
  return status;
}

bool ppi_copy_options(void *out, size_t out_size, const void *options) {
  size_t size;
  memcpy(&size, options, sizeof size);
  if (size < sizeof size) return false;
  const unsigned char *bytes = options;
  for (size_t i = out_size; i < size; i++)
    if (bytes[i]) return false;
  memset(out, 0, out_size);
  memcpy(out, options, size < out_size ? size : out_size);
  return true;
}

size_t ppi_text_cut(const char *text, size_t limit) {
  size_t len = strnlen(text, limit + 1);
  if (len <= limit) return len;
  for (len = limit; len && ((unsigned char)text[len] & 0xc0u) == 0x80u;) len--;
  return len ? len : limit;
}
