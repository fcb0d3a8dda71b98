// SPDX-License-Identifier: Apache-2.0
//
// Makes the key that a finding keeps from run to run.
#include "view/finding_key.h"

#include <string.h>

enum { MOST_NAMES = 4 };

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

// Whether `text` has `name` at `at` as words of its own.
static bool stands_at(const char *text, size_t at, const char *name,
                      size_t len) {
  if (!len || strncmp(text + at, name, len) != 0) return false;
  bool begins = at == 0 || !is_word(text[at - 1]) || !is_word(name[0]);
  return begins && (!is_word(text[at + len]) || !is_word(name[len - 1]));
}

static void take_longer(const char *text, size_t at, const char *name,
                        const char **best, size_t *best_len) {
  size_t len = strlen(name);
  if (len <= *best_len || !stands_at(text, at, name, len)) return;
  *best = name;
  *best_len = len;
}

// The longest name of a stage or device at this place; NULL: none.
static const char *name_at(const ppi_figures *figures, const char *text,
                           size_t at, size_t *out_len) {
  const char *best = NULL;
  *out_len = 0;
  for (size_t i = 0; i < figures->num_names; i++)
    take_longer(text, at, figures->names[i].name, &best, out_len);
  for (size_t i = 0; i < figures->num_devices; i++)
    take_longer(text, at, figures->devices[i].name, &best, out_len);
  return best;
}

static bool is_among(const char *const *names, size_t num, const char *name) {
  for (size_t i = 0; i < num; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

void ppi_finding_key(ppi_page *page, const ppi_figures *figures,
                     const ppi_finding *finding) {
  const char *found[MOST_NAMES];
  size_t num = 0, len;
  ppi_page_text(page, finding->id);
  for (size_t at = 0; finding->text[at] && num < MOST_NAMES;) {
    const char *name = name_at(figures, finding->text, at, &len);
    at += name ? len : 1;
    if (!name || is_among(found, num, name)) continue;
    found[num++] = name;
    ppi_page_text(page, "/");
    ppi_page_text(page, name);
  }
}
