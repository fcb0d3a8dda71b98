// SPDX-License-Identifier: Apache-2.0
//
// Finds the nearest name by edit distance.
#include "cli/suggest.h"

#include <stdlib.h>

#include "cli/say.h"
#include "schema/schema.h"

enum { LONGEST = 31 };

void ppi_tool_candidate_offer(struct ppi_tool_candidate *candidate,
                              const char *name, size_t name_len) {
  if (candidate->wrong_len > LONGEST || name_len > LONGEST) return;
  size_t apart =
      ppi_edits(candidate->wrong, candidate->wrong_len, name, name_len);
  size_t bound = 1 + candidate->wrong_len / 4;
  if (apart > bound || (candidate->best && apart >= candidate->distance))
    return;
  candidate->best = name;
  candidate->best_len = name_len;
  candidate->distance = apart;
}

int ppi_tool_refuse(const struct ppi_tool_candidate *candidate,
                    const char *mark, const char *otherwise, const char *format,
                    ...) {
  char *wrong = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&wrong, format, arguments) < 0) ppi_tool_must(NULL);
  va_end(arguments);
  if (candidate->best)
    ppi_tool_say("%s (did you mean '%s%.*s'?)", wrong, mark,
                 (int)candidate->best_len, candidate->best);
  else
    ppi_tool_say("%s%s", wrong, otherwise);
  free(wrong);
  return PPI_EXIT_USAGE;
}
