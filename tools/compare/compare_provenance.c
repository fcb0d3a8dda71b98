// SPDX-License-Identifier: Apache-2.0
//
// Checks whether inputs were made in the same place in the same way.
#include "compare/compare_provenance.h"

#include "cli/say.h"

// Takes the next line of `*text` and moves it on.
static size_t take_line(const char **text, const char **out) {
  size_t len = strcspn(*text, "\n");
  *out = *text;
  *text += len + ((*text)[len] == '\n');
  return len;
}

static bool has_line(const char *list, const char *line, size_t len) {
  while (*list) {
    const char *own;
    size_t own_len = take_line(&list, &own);
    if (own_len == len && memcmp(own, line, len) == 0) return true;
  }
  return false;
}

// Whether each line of one is a line of the other: runs come in any order.
static bool have_equal_lines(const char *a, const char *b) {
  const char *const lists[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    const char *at = lists[i], *line;
    while (*at) {
      size_t len = take_line(&at, &line);
      if (!has_line(lists[1 - i], line, len)) return false;
    }
  }
  return true;
}

static void put_value(ppi_page *page, const char *line, size_t len) {
  if (len)
    ppi_tool_put(page, "'%.*s'", (int)len, line);
  else
    ppi_page_text(page, "nothing");
}

// The first line in which the two differ.
static void put_difference(ppi_page *page, const char *a, const char *b) {
  const char *lines[2] = {"", ""};
  size_t lens[2] = {0, 0};
  while (*a || *b) {
    lens[0] = take_line(&a, &lines[0]);
    lens[1] = take_line(&b, &lines[1]);
    if (lens[0] != lens[1] || memcmp(lines[0], lines[1], lens[0]) != 0) break;
  }
  put_value(page, lines[0], lens[0]);
  ppi_page_text(page, " and ");
  put_value(page, lines[1], lens[1]);
}

bool ppi_provenance_known(const ppi_samples *samples) {
  return samples->places[PPI_PROVENANCE_HOST] &&
         samples->places[PPI_PROVENANCE_CLOCK];
}

// Our own logs leave out some empty keys: these are "", not unknown.
static const char *place_of(const ppi_samples *samples, unsigned key) {
  const char *place = samples->places[key];
  bool may_lack =
      key == PPI_PROVENANCE_DEVICES || key == PPI_PROVENANCE_CONTAINER;
  return !place && may_lack && ppi_provenance_known(samples) ? "" : place;
}

bool ppi_provenance_differs(const ppi_samples *a, const char *a_name,
                            const ppi_samples *b, const char *b_name,
                            ppi_page *out, ppi_page *notes) {
  bool differ = false;
  for (unsigned key = 0; key < PPI_NUM_PROVENANCE; key++) {
    const char *of_a = place_of(a, key), *of_b = place_of(b, key);
    const char *name = ppi_provenance_name((ppi_provenance_key)key);
    if (!of_a || !of_b || have_equal_lines(of_a, of_b)) continue;
    bool matters = key != PPI_PROVENANCE_VERSION;
    ppi_page *page = matters ? out : notes;
    ppi_tool_put(page, "%s and %s differ in %s: ", a_name, b_name, name);
    put_difference(page, of_a, of_b);
    ppi_page_text(page, "\n");
    differ |= matters;
  }
  return differ;
}
