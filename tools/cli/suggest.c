// SPDX-License-Identifier: Apache-2.0
//
// Nearest name by edit distance.
#include "cli/suggest.h"

#include "schema/schema.h"

enum { LONGEST = 31 };

void ppi_tool_guess_offer(struct ppi_tool_guess *guess, const char *name,
                          size_t name_len) {
  if (guess->wrong_len > LONGEST || name_len > LONGEST) return;
  size_t apart = ppi_edits(guess->wrong, guess->wrong_len, name, name_len);
  size_t bound = 1 + guess->wrong_len / 4;
  if (apart > bound || (guess->best && apart >= guess->distance)) return;
  guess->best = name;
  guess->best_len = name_len;
  guess->distance = apart;
}
