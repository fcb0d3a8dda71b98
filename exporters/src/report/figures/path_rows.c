// SPDX-License-Identifier: Apache-2.0
//
// Sorts, adds and merges the rows of the tree of paths.
#include "report/figures/path_rows.h"

#include "base/mem.h"
#include "report/figures/fields.h"

int ppi_path_key_order(const ppi_path_key *a, const ppi_path_key *b) {
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

static bool own_texts(ppi_figures *figures, ppi_path_key *keys, size_t num) {
  ppi_path_texts *texts = &figures->path_texts, known = {0};
  bool done = true;
  for (size_t i = 0; i < num && done; i++) {
    keys[i].name = known_text(texts, &known, keys[i].name);
    keys[i].category_name = known_text(texts, &known, keys[i].category_name);
    done = keys[i].name && keys[i].category_name;
  }
  ppi_map_clear(&known.numbers);
  ppi_free(known.items);
  return done;
}

// Two next rows on one level have the same parent, because deeper rows go
// first.
static int next_of(const ppi_path_key *a, const ppi_path_key *b) {
  if (a->level != b->level) return a->level > b->level ? -1 : 1;
  return ppi_path_key_order(a, b);
}

// `out` has room for the rows of both.
static size_t merge(const ppi_figures *left, const ppi_path_key *keys,
                    size_t num_keys, size_t *places, ppi_report_path *out) {
  size_t at = 0, key = 0, num = 0;
  while (at < left->num_paths || key < num_keys) {
    int order = 1;
    if (at < left->num_paths) {
      const ppi_path_key own = ppi_path_row_key(&left->paths[at]);
      order = key == num_keys ? -1 : next_of(&own, &keys[key]);
    }
    if (order <= 0)
      out[num] = left->paths[at++];
    else
      out[num] = (ppi_report_path){.name = keys[key].name,
                                   .category_name = keys[key].category_name,
                                   .level = keys[key].level,
                                   .on_device = keys[key].on_device};
    if (order >= 0) places[key++] = num;
    num++;
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

bool ppi_path_rows_add(ppi_figures *figures, ppi_path_key *keys, size_t num,
                       size_t *out_places) {
  if (num == 0) return true;
  size_t most = figures->num_paths + num;
  if (!own_texts(figures, keys, num)) return false;
  ppi_report_path *merged = ppi_realloc(NULL, most * sizeof *merged);
  if (!merged) return false;
  figures->num_paths = merge(figures, keys, num, out_places, merged);
  set_ups(merged, figures->num_paths);
  ppi_free(figures->paths);
  figures->paths = merged;
  return true;
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
  size_t num = from->num_paths;
  size_t *places = ppi_alloc((num + 1) * sizeof *places);
  ppi_path_key *keys = ppi_alloc((num + 1) * sizeof *keys);
  bool done = places && keys;
  for (size_t i = 0; i < num && done; i++)
    keys[i] = ppi_path_row_key(&from->paths[i]);
  done = done && ppi_path_rows_add(into, keys, num, places);
  for (size_t i = 0; i < num && done; i++)
    done = ppi_path_row_sum(&into->paths[places[i]], &from->paths[i]);
  ppi_free(places);
  ppi_free(keys);
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
