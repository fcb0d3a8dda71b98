// SPDX-License-Identifier: Apache-2.0
//
// Reads a run's facts from our own traces: texts, totals, notes, and the
// definitions of lanes, devices and streams.
#include "import/own.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static bool is(const char *text, const char *wanted) {
  return strcmp(text, wanted) == 0;
}

static bool keep(ppi_own_texts *texts, const char *key, const char *value) {
  if (texts->num == PPI_OWN_MAX_TEXTS) return true;
  if (!PPI_ROOM(texts->items, texts->capacity, texts->num + 1)) return false;
  ppi_text text = {ppi_strdup(key), ppi_strdup(value)};
  texts->items[texts->num++] = text;
  return text.key && text.value;
}

// Keeps a note "key: words".
static bool keep_note(ppi_own_facts *facts, const char *text) {
  const char *colon = strstr(text, ": ");
  char *key = colon ? ppi_strdup(text) : NULL;
  if (!colon) return true;
  if (key) key[colon - text] = '\0';
  bool kept = key && keep(&facts->notes, key, colon + 2);
  ppi_free(key);
  return kept;
}

// ---- definitions ----

// The list that the path begins with, and the member behind it.
static ppi_own_definitions *list_of(ppi_own_facts *facts, const char *path,
                                    const char **out_member) {
  static const char *const keys[] = {"lanes", "devices", "streams"};
  ppi_own_definitions *const lists[] = {&facts->lanes, &facts->devices,
                                        &facts->streams};
  for (size_t i = 0; i < 3; i++) {
    size_t len = strlen(keys[i]);
    if (strncmp(path, keys[i], len) != 0 || (path[len] && path[len] != '.'))
      continue;
    *out_member = path + len + (path[len] == '.');
    return lists[i];
  }
  return NULL;
}

static bool take_member(ppi_own_definition *next, const char *member,
                        const char *text, uint64_t number) {
  if (is(member, "id")) next->id = (uint32_t)number;
  if (is(member, "of")) next->of = (uint32_t)number;
  if (is(member, "number")) next->number = number;
  if (!is(member, "name")) return true;
  ppi_free(next->name);
  next->name = ppi_strdup(text);
  return next->name != NULL;
}

static bool add_definition(ppi_own_facts *facts, ppi_own_definitions *list) {
  ppi_own_definition next = facts->next;
  bool is_next = list->num < PPI_OWN_MAX_DEFINITIONS &&
                 (list->num == 0 || next.id > list->items[list->num - 1].id);
  bool room = !is_next || PPI_ROOM(list->items, list->capacity, list->num + 1);
  if (is_next && room)
    list->items[list->num++] = next;
  else
    ppi_free(next.name);
  facts->next = (ppi_own_definition){.name = NULL};
  return room;
}

size_t ppi_own_find(const ppi_own_definitions *definitions, uint32_t id) {
  size_t low = 0, high = definitions->num;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (definitions->items[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < definitions->num && definitions->items[low].id == id;
  return found ? low : PPI_OWN_NONE;
}

// ---- values ----

static bool take(void *context, const char *path, const char *text) {
  ppi_own_facts *facts = context;
  const char *member;
  ppi_own_definitions *list = list_of(facts, path, &member);
  if (!text) return !list || *member || add_definition(facts, list);
  bool is_number = !facts->path.is_text && *text >= '0' && *text <= '9';
  uint64_t number = is_number ? strtoull(text, NULL, 10) : 0;
  if (list) return take_member(&facts->next, member, text, number);
  for (uint32_t key = 0;
       strncmp(path, "trust.", 6) == 0 && key < PPI_NUM_TOTALS; key++)
    if (is(path + 6, ppi_total_name((ppi_total_key)key)))
      facts->totals[key] = number;
  if (is(path, "shift_ns")) facts->shift_ns = number;
  if (is(path, "told_until_ns")) facts->reported_until_ns = number;
  if (is(path, "counters_not_finite")) facts->counters_not_finite = number;
  if (!facts->path.is_text) return true;
  if (is(path, "notes")) return keep_note(facts, text);
  // A trace's base is no text of the run.
  return strchr(path, '.') || is(path, "baseTimeNanoseconds") ||
         keep(&facts->texts, path, text);
}

bool ppi_own_facts_take(ppi_own_facts *facts, const ppi_json_token *token) {
  if (!facts->path.take) ppi_json_path_begin(&facts->path, take, facts);
  return ppi_json_path_token(&facts->path, token);
}

static void clear_texts(ppi_own_texts *texts) {
  for (size_t i = 0; i < texts->num; i++) {
    ppi_free((void *)texts->items[i].key);
    ppi_free((void *)texts->items[i].value);
  }
  ppi_free(texts->items);
}

static void clear_definitions(ppi_own_definitions *definitions) {
  for (size_t i = 0; i < definitions->num; i++)
    ppi_free(definitions->items[i].name);
  ppi_free(definitions->items);
}

void ppi_own_facts_clear(ppi_own_facts *facts) {
  ppi_free(facts->next.name);
  clear_texts(&facts->texts);
  clear_texts(&facts->notes);
  clear_definitions(&facts->lanes);
  clear_definitions(&facts->devices);
  clear_definitions(&facts->streams);
  memset(facts, 0, sizeof *facts);
}
