// SPDX-License-Identifier: Apache-2.0
//
// Formats numbers with units, and the reasons why costs are unknown.
#include "cost/table/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/report_options.h"

enum { MOST_LINES = 6 };

void ppi_cost_number(ppi_page *page, double value, const char *unit,
                     bool at_least) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t i = 0;
  for (; value >= 999.5 && i + 1 < sizeof prefixes / sizeof *prefixes; i++)
    value /= 1000;
  if (at_least) ppi_page_text(page, ">=");
  if (i == 0 && value == (double)(int)value)
    ppi_page_format(page, "%d", (int)value);
  else
    ppi_page_three(page, value);
  if (*unit || i) ppi_page_format(page, " %s%s", prefixes[i], unit);
}

typedef struct tally {
  const char *reason;
  size_t num;
} tally;

static int by_number(const void *left, const void *right) {
  const tally *a = left, *b = right;
  if (a->num != b->num) return a->num > b->num ? -1 : 1;
  return strcmp(a->reason, b->reason);
}

static int by_text(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static size_t tally_reasons(const ppi_cost *cost, const char **found,
                            tally *tallies) {
  size_t num = 0, num_tallies = 0;
  for (size_t i = 0; i < cost->num_rows; i++)
    if (*cost->rows[i].reason) found[num++] = cost->rows[i].reason;
  if (!num) return 0;
  qsort(found, num, sizeof *found, by_text);
  for (size_t i = 0; i < num; i++) {
    bool is_new = i == 0 || strcmp(found[i - 1], found[i]) != 0;
    if (is_new) tallies[num_tallies++] = (tally){found[i], 0};
    tallies[num_tallies - 1].num++;
  }
  qsort(tallies, num_tallies, sizeof *tallies, by_number);
  return num_tallies;
}

void ppi_cost_reasons(ppi_page *page, const ppi_cost *cost) {
  const char **found = ppi_alloc((cost->num_rows + 1) * sizeof *found);
  tally *tallies = ppi_alloc((cost->num_rows + 1) * sizeof *tallies);
  size_t num = 0;
  if (found && tallies)
    num = tally_reasons(cost, found, tallies);
  else
    page->failed = true;
  for (size_t i = 0; i < num && i < MOST_LINES; i++) {
    ppi_page_format(page, "Not known of %zu %s: ", tallies[i].num,
                    tallies[i].num == 1 ? "node" : "nodes");
    ppi_page_visible(page, tallies[i].reason);
    ppi_page_text(page, "\n");
  }
  if (num > MOST_LINES)
    ppi_page_format(page, "... and %zu more reasons; --by node has all\n",
                    num - MOST_LINES);
  ppi_free(found);
  ppi_free(tallies);
}
