// SPDX-License-Identifier: Apache-2.0
//
// Finds the name that a mistyped one was probably meant to be.
#pragma once

#include <stddef.h>

struct ppi_tool_candidate {
  const char *wrong;
  size_t wrong_len;
  const char *best;  // NULL: nothing near enough
  size_t best_len, distance;
};
// Begin with {.wrong = ..., .wrong_len = ...}, then offer each known name.
void ppi_tool_candidate_offer(struct ppi_tool_candidate *candidate,
                              const char *name, size_t name_len);
// ppi_tool_refuse says what is wrong, and in `mark` and quotes the candidate,
// or else `otherwise`. Answers PPI_EXIT_USAGE.
int ppi_tool_refuse(const struct ppi_tool_candidate *candidate,
                    const char *mark, const char *otherwise, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));
