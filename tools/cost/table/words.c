// SPDX-License-Identifier: Apache-2.0
#include "cost/table/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/time_unit.h"

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

void ppi_cost_cause(ppi_page *page, const ppi_cause *cause) {
  switch (cause->kind) {
    case PPI_CAUSE_DIM:
      ppi_page_text(page, "the size of '");
      ppi_page_visible(page, cause->name);
      ppi_page_text(page, "' is open: --dim ");
      ppi_page_visible(page, cause->name);
      ppi_page_text(page, "=N sets it");
      return;
    case PPI_CAUSE_DATA:
      ppi_page_text(page, "the size of '");
      ppi_page_visible(page, cause->name);
      ppi_page_text(page, "' depends on values: --dim ");
      ppi_page_visible(page, cause->name);
      ppi_page_text(page, ":AXIS=N sets it");
      return;
    case PPI_CAUSE_OPERATOR:
      ppi_page_text(page, "nobody has told what the operator '");
      break;
    case PPI_CAUSE_INVALID:
      ppi_page_text(page, "the sizes of its inputs do not fit '");
      break;
    case PPI_CAUSE_INPUT:
      ppi_page_text(page, "the model does not say the shape of '");
      break;
    default:
      ppi_page_text(page, "a size is above 2^63");
      return;
  }
  ppi_page_visible(page, cause->name);
  ppi_page_text(page, cause->kind == PPI_CAUSE_OPERATOR ? "' computes" : "'");
}

typedef struct tally {
  uint32_t cause;
  size_t num;
} tally;

static int by_number(const void *left, const void *right) {
  const tally *a = left, *b = right;
  if (a->num != b->num) return a->num > b->num ? -1 : 1;
  return a->cause < b->cause ? -1 : a->cause > b->cause;
}

// Causes are kept where they come; two places may name the same thing.
static int by_name(const void *left, const void *right, void *data) {
  const ppi_cause *causes = data;
  const ppi_cause *a = &causes[*(const uint32_t *)left];
  const ppi_cause *b = &causes[*(const uint32_t *)right];
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  return strcmp(a->name, b->name);
}

static size_t tally_causes(const ppi_cost *cost, uint32_t *found,
                           tally *tallies) {
  const ppi_cause *causes = cost->shapes.causes;
  size_t num = 0, num_tallies = 0;
  for (size_t i = 0; i < cost->num_rows; i++)
    if (cost->rows[i].cause) found[num++] = cost->rows[i].cause;
  if (!num) return 0;
  qsort_r(found, num, sizeof *found, by_name, (void *)causes);
  for (size_t i = 0; i < num; i++) {
    bool is_new =
        i == 0 || by_name(&found[i - 1], &found[i], (void *)causes) != 0;
    if (is_new) tallies[num_tallies++] = (tally){found[i], 0};
    tallies[num_tallies - 1].num++;
  }
  qsort(tallies, num_tallies, sizeof *tallies, by_number);
  return num_tallies;
}

void ppi_cost_causes(ppi_page *page, const ppi_cost *cost) {
  uint32_t *found = ppi_alloc((cost->num_rows + 1) * sizeof *found);
  tally *tallies = ppi_alloc((cost->num_rows + 1) * sizeof *tallies);
  size_t num = 0;
  if (found && tallies)
    num = tally_causes(cost, found, tallies);
  else
    page->failed = true;
  for (size_t i = 0; i < num && i < MOST_LINES; i++) {
    ppi_page_format(page, "Not known of %zu %s: ", tallies[i].num,
                    tallies[i].num == 1 ? "node" : "nodes");
    ppi_cost_cause(page, &cost->shapes.causes[tallies[i].cause]);
    ppi_page_text(page, "\n");
  }
  if (num > MOST_LINES)
    ppi_page_format(page, "... and %zu more reasons; --by node has all\n",
                    num - MOST_LINES);
  ppi_free(found);
  ppi_free(tallies);
}
