// SPDX-License-Identifier: Apache-2.0
//
// Sorts, adds and merges the rows of the tree of paths.
#include "report/figures/path_rows.h"

#include <string.h>

#include "base/mem.h"
#include "report/figures/fields.h"

int ppi_path_row_order(const ppi_report_path *a, const ppi_report_path *b) {
  int order = strcmp(a->name, b->name);
  if (order == 0) order = strcmp(a->category_name, b->category_name);
  return order ? order : a->on_device - b->on_device;
}

// The shared copy of a text: many paths have the same few names. NULL: no
// memory.
static char *text_of(ppi_path_texts *texts, const char *text) {
  size_t at = ppi_map_number(&texts->numbers, ppi_map_key_of(text, ""));
  if (at == SIZE_MAX) return NULL;
  if (!PPI_REACH(texts->items, texts->num, texts->capacity, at + 1))
    return NULL;
  if (!texts->items[at]) texts->items[at] = ppi_strdup(text);
  return texts->items[at];
}

// The same for a text that comes often, which `known` has by its place.
static char *known_text(ppi_path_texts *texts, ppi_path_texts *known,
                        const char *text) {
  size_t at =
      ppi_map_number(&known->numbers, (ppi_map_key){0, (uintptr_t)text});
  if (at == SIZE_MAX ||
      !PPI_REACH(known->items, known->num, known->capacity, at + 1))
    return NULL;
  if (!known->items[at]) known->items[at] = text_of(texts, text);
  return known->items[at];
}

// Copies of `rows` with texts of these figures.
static ppi_report_path *own_rows(ppi_figures *figures,
                                 const ppi_report_path *rows, size_t num) {
  ppi_report_path *own = ppi_alloc((num + 1) * sizeof *own);
  ppi_path_texts *texts = &figures->path_texts, known = {0};
  for (size_t i = 0; i < num && own; i++) {
    own[i] = (ppi_report_path){
        .name = known_text(texts, &known, rows[i].name),
        .category_name = known_text(texts, &known, rows[i].category_name),
        .level = rows[i].level,
        .on_device = rows[i].on_device};
    if (own[i].name && own[i].category_name) continue;
    ppi_free(own);
    own = NULL;
  }
  ppi_map_clear(&known.numbers);
  ppi_free(known.items);
  return own;
}

// Two next rows on one level have the same parent, because deeper rows go
// first.
static int next_of(const ppi_report_path *a, const ppi_report_path *b) {
  if (a->level != b->level) return a->level > b->level ? -1 : 1;
  return ppi_path_row_order(a, b);
}

typedef struct merging {
  const ppi_report_path *left, *right;
  size_t num_left, num_right;
  size_t *places;  // of the right rows; NULL: unused
} merging;

static size_t merge(const merging *of, ppi_report_path *out) {
  size_t left = 0, right = 0, num = 0;
  while (left < of->num_left || right < of->num_right) {
    int order = left == of->num_left ? 1
                : right == of->num_right
                    ? -1
                    : next_of(&of->left[left], &of->right[right]);
    if (order >= 0 && of->places) of->places[right] = num;
    out[num++] = order <= 0 ? of->left[left] : of->right[right];
    left += order <= 0;
    right += order >= 0;
  }
  return num;
}

static void set_ups(ppi_report_path *rows, size_t num) {
  for (size_t i = 0; i < num; i++) {
    size_t up = i;
    while (up && rows[up - 1].level >= rows[i].level) up = rows[up - 1].up;
    rows[i].up = (uint32_t)up;
  }
}

bool ppi_path_rows_add(ppi_figures *figures, const ppi_report_path *rows,
                       size_t num, size_t *out_places) {
  if (num == 0) return true;
  size_t capacity = figures->num_paths + num;
  ppi_report_path *own = own_rows(figures, rows, num);
  ppi_report_path *merged = ppi_alloc(capacity * sizeof *merged);
  if (own && merged) {
    const merging of = {figures->paths, own, figures->num_paths, num,
                        out_places};
    figures->num_paths = merge(&of, merged);
    set_ups(merged, figures->num_paths);
    ppi_free(figures->paths);
    figures->paths = merged;
  } else {
    ppi_free(merged);
  }
  bool added = own && merged;
  ppi_free(own);
  return added;
}

static const ppi_field figures[] = {
    PPI_FIGURE(ppi_report_path, spread, spread),
    PPI_FIGURE(ppi_report_path, histogram, times),
    PPI_FIGURES(ppi_report_path, sum, num_untimed, events_ns),
    PPI_FIGURES(ppi_report_path, sum, use.kernels, use.gap_ns),
    PPI_FIGURE(ppi_report_path, spread, use.spans),
    PPI_FIGURES(ppi_report_path, histogram, use.span_times, use.delays)};
static const ppi_fields all_figures = PPI_FIELDS(ppi_report_path, figures);

bool ppi_path_row_sum(ppi_report_path *into, const ppi_report_path *from) {
  return ppi_fields_merge(&all_figures, into, from);
}

bool ppi_path_rows_merge(ppi_figures *into, const ppi_figures *from) {
  size_t *places = ppi_alloc((from->num_paths + 1) * sizeof *places);
  bool done =
      places && ppi_path_rows_add(into, from->paths, from->num_paths, places);
  for (size_t i = 0; i < from->num_paths && done; i++)
    done = ppi_path_row_sum(&into->paths[places[i]], &from->paths[i]);
  ppi_free(places);
  return done;
}

void ppi_path_rows_clear(ppi_figures *of) {
  for (size_t i = 0; i < of->num_paths; i++)
    ppi_fields_clear(&all_figures, &of->paths[i]);
  ppi_path_texts *texts = &of->path_texts;
  for (size_t i = 0; i < texts->num; i++) ppi_free(texts->items[i]);
  ppi_free(texts->items);
  ppi_map_clear(&texts->numbers);
  ppi_free(of->paths);
  of->paths = NULL;
  of->num_paths = 0;
  *texts = (ppi_path_texts){0};
}

// The texts of the rows so far, in their order.
typedef struct carried_texts {
  ppi_map numbers;  // by address, of texts that are written
  const char **items;
  size_t num, capacity;
} carried_texts;

// Carries a text once, then its number.
static void carry_text(ppi_carry *carry, ppi_path_texts *texts,
                       carried_texts *all, const char **text) {
  const ppi_map_key key = {(uintptr_t)*text, 0};
  uint64_t number = carry->reads ? 0 : ppi_map_number(&all->numbers, key);
  char *own = (char *)*text;
  ppi_carry_words(carry, &number, sizeof number);
  if (number == all->num) {
    ppi_carry_text(carry, &own);
    if (carry->reads) *text = own ? text_of(texts, own) : NULL;
    if (carry->reads) ppi_free(own);
    carry->failed |=
        !PPI_PUSH(all->items, all->num, all->capacity, *text) || !*text;
  }
  carry->failed |= number >= all->num;
  if (!carry->failed) *text = all->items[number];
}

void ppi_path_rows_carry(ppi_carry *carry, ppi_figures *of) {
  carried_texts texts = {.num = 0};
  ppi_carry_room(carry, &of->paths, &of->num_paths, sizeof *of->paths);
  for (size_t i = 0; i < of->num_paths && !carry->failed; i++) {
    ppi_report_path *path = &of->paths[i];
    carry_text(carry, &of->path_texts, &texts, &path->name);
    carry_text(carry, &of->path_texts, &texts, &path->category_name);
    PPI_CARRY_FROM(carry, path, up, on_device);
    ppi_fields_carry(&all_figures, carry, path);
  }
  ppi_map_clear(&texts.numbers);
  ppi_free(texts.items);
}
