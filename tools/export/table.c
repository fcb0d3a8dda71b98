// SPDX-License-Identifier: Apache-2.0
//
// Finds a format of `export` by its name.
#include "export/table.h"

#include <string.h>

#include "cli/say.h"
#include "cli/suggest.h"
#include "export/formats.h"

const ppi_export_format *const *ppi_export_formats(void) {
#define FORMAT(name) &ppi_format_##name,
  static const ppi_export_format *const formats[] = {PPI_EXPORT_FORMATS(FORMAT)
                                                         NULL};
#undef FORMAT
  return formats;
}

const ppi_export_format *ppi_export_find(const char *name) {
  struct ppi_tool_candidate candidate = {.wrong = name,
                                         .wrong_len = strlen(name)};
  const ppi_export_format *const *format = ppi_export_formats();
  for (; *format; format++) {
    if (strcmp((*format)->name, name) == 0) return *format;
    ppi_tool_candidate_offer(&candidate, (*format)->name,
                             strlen((*format)->name));
  }
  if (candidate.best)
    ppi_tool_say("there is no format '%s' (did you mean '%s'?)", name,
                 candidate.best);
  else
    ppi_tool_say("there is no format '%s'; see pprof-report export --list",
                 name);
  return NULL;
}
