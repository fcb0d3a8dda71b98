// SPDX-License-Identifier: Apache-2.0
//
// Reads a run's facts from our own traces: texts, totals, notes, and the
// definitions of lanes, devices and streams.
#include "import/own.h"

#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "cli/say.h"

static bool is(const char *text, const char *wanted) {
  return strcmp(text, wanted) == 0;
}

static void keep(ppi_texts *texts, const char *key, size_t key_len,
                 const char *value) {
  char *own = ppi_tool_must(strndup(key, key_len));
  if (texts->num < PPI_OWN_MAX_TEXTS && !ppi_texts_add(texts, own, value))
    ppi_tool_must(NULL);
  free(own);
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

static void take_member(ppi_own_definition *next, const char *member,
                        const char *text, uint64_t number) {
  if (is(member, "id")) next->id = (uint32_t)number;
  if (is(member, "of")) next->of = (uint32_t)number;
  if (is(member, "number")) next->number = number;
  if (!is(member, "name")) return;
  ppi_free(next->name);
  next->name = ppi_tool_must(ppi_strdup(text));
}

static void add_definition(ppi_own_facts *facts, ppi_own_definitions *list) {
  ppi_own_definition next = facts->next;
  facts->next = (ppi_own_definition){.name = NULL};
  if (list->num == PPI_OWN_MAX_DEFINITIONS ||
      (list->num > 0 && next.id <= list->items[list->num - 1].id)) {
    ppi_free(next.name);
    return;
  }
  PPI_MUST_PUSH(list->items, list->num, list->capacity, next);
}

PPI_ORDER(compare_ids, ppi_own_definition, PPI_UP(id))

size_t ppi_own_find(const ppi_own_definitions *definitions, uint32_t id) {
  const ppi_own_definition key = {.id = id};
  size_t at = ppi_first(&key, definitions->items, definitions->num, sizeof key,
                        compare_ids);
  bool found = at < definitions->num && definitions->items[at].id == id;
  return found ? at : PPI_OWN_NONE;
}

// ---- values ----

static void take(void *context, const char *path, const char *text) {
  ppi_own_facts *facts = context;
  const char *member, *colon;
  ppi_own_definitions *list = list_of(facts, path, &member);
  if (!text) {
    if (list && !*member) add_definition(facts, list);
    return;
  }
  bool is_number = !facts->path.is_text && *text >= '0' && *text <= '9';
  uint64_t number = is_number ? strtoull(text, NULL, 10) : 0;
  if (list) {
    take_member(&facts->next, member, text, number);
    return;
  }
  for (uint32_t key = 0;
       strncmp(path, "trust.", 6) == 0 && key < PPI_NUM_TOTALS; key++)
    if (is(path + 6, ppi_total_name((ppi_total_key)key)))
      facts->totals[key] = number;
  if (is(path, "shift_ns")) facts->shift_ns = number;
  if (is(path, "told_until_ns")) facts->reported_until_ns = number;
  if (is(path, "counters_not_finite")) facts->counters_not_finite = number;
  if (!facts->path.is_text) return;
  // A note is "key: words". A trace's base is no text of the run.
  if (is(path, "notes") && (colon = strstr(text, ": ")) != NULL)
    keep(&facts->notes, text, (size_t)(colon - text), colon + 2);
  else if (!is(path, "notes") && !strchr(path, '.') &&
           !is(path, "baseTimeNanoseconds"))
    keep(&facts->texts, path, strlen(path), text);
}

void ppi_own_facts_take(ppi_own_facts *facts, const ppi_json_token *token) {
  if (!facts->path.take) ppi_json_path_begin(&facts->path, take, facts);
  ppi_json_path_token(&facts->path, token);
}

static void clear_definitions(ppi_own_definitions *definitions) {
  for (size_t i = 0; i < definitions->num; i++)
    ppi_free(definitions->items[i].name);
  ppi_free(definitions->items);
}

void ppi_own_facts_clear(ppi_own_facts *facts) {
  ppi_free(facts->next.name);
  ppi_texts_clear(&facts->texts);
  ppi_texts_clear(&facts->notes);
  clear_definitions(&facts->lanes);
  clear_definitions(&facts->devices);
  clear_definitions(&facts->streams);
  memset(facts, 0, sizeof *facts);
}
