// SPDX-License-Identifier: Apache-2.0
//
// Reads a run's facts from our own traces: texts, totals, notes, and the
// definitions of lanes, devices and streams.
#include "import/own.h"

#include <string.h>

#include "base/mem.h"
#include "import/fields.h"

static bool is(const char *text, const char *wanted) {
  return strcmp(text, wanted) == 0;
}

static void copy_key(char *to, size_t size, const ppi_json_token *token) {
  size_t len = token->len < size ? token->len : size - 1;
  memcpy(to, token->text, len);
  to[len] = '\0';
}

static void add_text(ppi_own_facts *facts, const ppi_json_token *token) {
  size_t room = PPI_OWN_MAX_TEXT - facts->text_len;
  size_t len = token->len < room ? token->len : room;
  char *at = facts->text + facts->text_len;
  memcpy(at, token->text, len);
  for (char *zero; (zero = memchr(at, '\0', len)) != NULL;) *zero = ' ';
  facts->text_len += len;
  facts->text[facts->text_len] = '\0';
  if (facts->text_len == PPI_OWN_MAX_TEXT)
    facts->text[ppi_utf8_cut(facts->text, PPI_OWN_MAX_TEXT)] = '\0';
}

static bool keep(ppi_own_texts *texts, const char *key, const char *value) {
  if (texts->num == PPI_OWN_MAX_TEXTS) return true;
  if (!PPI_ROOM(texts->items, texts->capacity, texts->num + 1)) return false;
  ppi_text text = {ppi_strdup(key), ppi_strdup(value)};
  texts->items[texts->num++] = text;
  return text.key && text.value;
}

// Keeps a note "key: words".
static bool keep_note(ppi_own_facts *facts) {
  char *colon = strstr(facts->text, ": ");
  if (!colon) return true;
  *colon = '\0';
  return keep(&facts->notes, facts->text, colon + 2);
}

static uint64_t number_of(const ppi_json_token *token) {
  double number = token->number;
  if (token->kind != PPI_JSON_NUMBER || !(number >= 0)) return 0;
  if (number < 0x1p53) return (uint64_t)number;
  uint64_t exact = 0;  // a double would round
  for (size_t i = 0; i < token->len; i++) {
    if (token->text[i] < '0' || token->text[i] > '9') return 0;
    exact = exact * 10 + (uint64_t)(token->text[i] - '0');
  }
  return exact;
}

static void take_total(ppi_own_facts *facts, const ppi_json_token *token) {
  for (uint32_t key = 0; key < PPI_NUM_TOTALS; key++)
    if (is(facts->member, ppi_total_name((ppi_total_key)key)))
      facts->totals[key] = number_of(token);
}

// ---- definitions ----

static ppi_own_definitions *list_of(ppi_own_facts *facts) {
  if (is(facts->key, "lanes")) return &facts->lanes;
  if (is(facts->key, "devices")) return &facts->devices;
  return is(facts->key, "streams") ? &facts->streams : NULL;
}

static void clear_next(ppi_own_facts *facts) {
  ppi_free(facts->next.name);
  facts->next = (ppi_own_definition){.name = NULL};
}

static bool take_member(ppi_own_facts *facts, const ppi_json_token *token) {
  ppi_own_definition *next = &facts->next;
  if (is(facts->member, "id")) next->id = (uint32_t)number_of(token);
  if (is(facts->member, "of")) next->of = (uint32_t)number_of(token);
  if (is(facts->member, "number")) next->number = number_of(token);
  if (!is(facts->member, "name") || token->kind != PPI_JSON_STRING) return true;
  ppi_free(next->name);
  next->name = ppi_strdup(facts->text);
  return next->name != NULL;
}

static bool add_definition(ppi_own_facts *facts) {
  ppi_own_definitions *list = list_of(facts);
  if (!list || list->num == PPI_OWN_MAX_DEFINITIONS ||
      (list->num > 0 && facts->next.id <= list->items[list->num - 1].id)) {
    clear_next(facts);
    return true;
  }
  if (!PPI_ROOM(list->items, list->capacity, list->num + 1)) return false;
  list->items[list->num++] = facts->next;
  facts->next = (ppi_own_definition){.name = NULL};
  return true;
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

// ---- tokens ----

static bool take_scalar(ppi_own_facts *facts, const ppi_json_token *token) {
  bool is_text = token->kind == PPI_JSON_STRING;
  if (facts->depth == 2) return take_member(facts, token);
  if (facts->depth == 1) {
    if (is(facts->key, "trust")) take_total(facts, token);
    return is_text && is(facts->key, "notes") ? keep_note(facts) : true;
  }
  if (facts->depth != 0) return true;
  if (is(facts->key, "shift_ns")) facts->shift_ns = number_of(token);
  if (is(facts->key, "told_until_ns"))
    facts->reported_until_ns = number_of(token);
  if (is(facts->key, "counters_not_finite"))
    facts->counters_not_finite = number_of(token);
  // A trace's base is no text of the run.
  return is_text && !is(facts->key, "baseTimeNanoseconds")
             ? keep(&facts->texts, facts->key, facts->text)
             : true;
}

bool ppi_own_facts_take(ppi_own_facts *facts, const ppi_json_token *token) {
  bool done = true;
  switch (token->kind) {
    case PPI_JSON_KEY:
      if (facts->depth == 0) copy_key(facts->key, sizeof facts->key, token);
      copy_key(facts->member, sizeof facts->member, token);
      break;
    case PPI_JSON_OBJECT:
    case PPI_JSON_ARRAY:
      if (facts->depth++ == 1) clear_next(facts);
      break;
    case PPI_JSON_OBJECT_END:
    case PPI_JSON_ARRAY_END:
      facts->depth--;
      if (facts->depth == 1 && token->kind == PPI_JSON_OBJECT_END)
        done = add_definition(facts);
      break;
    case PPI_JSON_STRING_PART:
    case PPI_JSON_STRING:
      add_text(facts, token);
      if (token->kind == PPI_JSON_STRING_PART) return true;
      done = take_scalar(facts, token);
      break;
    default:
      done = take_scalar(facts, token);
  }
  facts->text_len = 0;
  facts->text[0] = '\0';
  return done;
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
  clear_next(facts);
  clear_texts(&facts->texts);
  clear_texts(&facts->notes);
  clear_definitions(&facts->lanes);
  clear_definitions(&facts->devices);
  clear_definitions(&facts->streams);
  memset(facts, 0, sizeof *facts);
}
