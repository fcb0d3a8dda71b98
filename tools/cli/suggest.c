// SPDX-License-Identifier: Apache-2.0
//
// Nearest name by edit distance, a swap of neighbours counting once.
#include "cli/suggest.h"

#include <stdint.h>

enum { LONGEST = 31 };

static size_t smallest(size_t a, size_t b, size_t c) {
  size_t least = a < b ? a : b;
  return least < c ? least : c;
}

static size_t distance(const char *a, size_t a_len, const char *b,
                       size_t b_len) {
  size_t cost[LONGEST + 1][LONGEST + 1];
  for (size_t i = 0; i <= a_len; i++) cost[i][0] = i;
  for (size_t j = 0; j <= b_len; j++) cost[0][j] = j;
  for (size_t i = 1; i <= a_len; i++) {
    for (size_t j = 1; j <= b_len; j++) {
      size_t differs = a[i - 1] != b[j - 1];
      cost[i][j] = smallest(cost[i - 1][j] + 1, cost[i][j - 1] + 1,
                            cost[i - 1][j - 1] + differs);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = smallest(cost[i][j], cost[i - 2][j - 2] + 1, SIZE_MAX);
    }
  }
  return cost[a_len][b_len];
}

void ppi_tool_guess_offer(struct ppi_tool_guess *guess, const char *name,
                          size_t name_len) {
  if (guess->wrong_len > LONGEST || name_len > LONGEST) return;
  size_t apart = distance(guess->wrong, guess->wrong_len, name, name_len);
  size_t bound = 1 + guess->wrong_len / 4;
  if (apart > bound || (guess->best && apart >= guess->distance)) return;
  guess->best = name;
  guess->best_len = name_len;
  guess->distance = apart;
}
