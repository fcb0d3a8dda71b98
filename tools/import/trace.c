// SPDX-License-Identifier: Apache-2.0
//
// The outermost level of a trace: its list of events and what stands beside it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "import/convert.h"
#include "import/foreign.h"
#include "import/own_take.h"
#include "import/trace.h"

typedef enum top_key {
  TOP_OTHER,
  TOP_EVENTS,
  TOP_BASE,
  TOP_PADDLE,
  TOP_EXTRA,
  TOP_DISTRIBUTED,
  TOP_OWN,
  TOP_OWN_FORMAT,
  TOP_FTRACE,
  TOP_KINETO,
  TOP_DEVICES
} top_key;

static const struct {
  const char *text;
  top_key key;
} top_keys[] = {{"traceEvents", TOP_EVENTS},
                {"baseTimeNanoseconds", TOP_BASE},
                {"span_indx", TOP_PADDLE},
                {"ExtraInfo", TOP_EXTRA},
                {"distributedInfo", TOP_DISTRIBUTED},
                {"otherData", TOP_OWN},
                {"pprofTrace", TOP_OWN_FORMAT},
                {"systemTraceEvents", TOP_FTRACE},
                {"schemaVersion", TOP_KINETO},
                {"deviceProperties", TOP_DEVICES}};

static bool is_key(const ppi_json_token *token, const char *text) {
  return token->len == strlen(text) &&
         memcmp(token->text, text, token->len) == 0;
}

static int find_top_key(const ppi_json_token *token) {
  for (size_t i = 0; i < sizeof top_keys / sizeof *top_keys; i++)
    if (is_key(token, top_keys[i].text)) return top_keys[i].key;
  return TOP_OTHER;
}

static bool is_open(ppi_json_kind kind) {
  return kind == PPI_JSON_OBJECT || kind == PPI_JSON_ARRAY;
}

static bool is_close(ppi_json_kind kind) {
  return kind == PPI_JSON_OBJECT_END || kind == PPI_JSON_ARRAY_END;
}

static double number_of(const ppi_json_token *token) {
  char text[64];
  if (token->kind == PPI_JSON_NUMBER) return token->number;
  if (token->kind != PPI_JSON_STRING || token->len >= sizeof text) return -1;
  memcpy(text, token->text, token->len);
  text[token->len] = '\0';
  char *end;
  double value = strtod(text, &end);
  return end != text && *end == '\0' ? value : -1;
}

// Paddle names threads here, by their ids.
static pprof_status take_thread_name(ppi_importer *importer,
                                     const ppi_json_token *token) {
  ppi_places *places = &importer->places;
  int64_t thread;
  if (token->kind != PPI_JSON_STRING ||
      !ppi_integer(importer->info_key, strlen(importer->info_key), &thread) ||
      thread <= 0)
    return PPROF_STATUS_OK;
  ppi_scalar name = {.kind = PPI_SCALAR_TEXT};
  name.len = (uint16_t)PPI_MIN(token->len, PPI_MAX_SCALAR);
  memcpy(name.text, token->text, name.len);
  for (size_t i = 0; i < places->num_rows; i++) {
    ppi_row *row = &places->rows[i];
    if (row->number != (uint64_t)thread || row->name) continue;
    pprof_status status = ppi_place_name(&row->name, &name);
    if (status != PPROF_STATUS_OK) return status;
  }
  return PPROF_STATUS_OK;
}

static void take_extra(ppi_importer *importer, const ppi_json_token *token) {
  ppi_trace_header *header = &importer->header;
  header->dialects |= PPI_IS_PADDLE;
  if (strcmp(importer->info_key, "System Cpu Utilization") == 0)
    header->system_cpu = number_of(token);
  else if (strcmp(importer->info_key, "Process Cpu Utilization") == 0)
    header->process_cpu = number_of(token);
  else
    importer->status = take_thread_name(importer, token);
}

static void take_rank(ppi_importer *importer, const ppi_json_token *token) {
  int64_t rank;
  if (strcmp(importer->info_key, "rank") != 0 ||
      token->kind != PPI_JSON_NUMBER ||
      !ppi_integer(token->text, token->len, &rank) ||
      token->len >= sizeof importer->header.rank)
    return;
  memcpy(importer->header.rank, token->text, token->len);
  importer->header.rank[token->len] = '\0';
}

static bool has_model(const char *models, const char *name, size_t len) {
  for (const char *at = models; *at; at += *at == '\n') {
    size_t own = strcspn(at, "\n");
    if (own == len && memcmp(at, name, len) == 0) return true;
    at += own;
  }
  return false;
}

// What devices are, each model once; "gpu:0" is only which one it is.
static void take_model(ppi_importer *importer, const ppi_json_token *token) {
  char *models = importer->header.models;
  size_t len = strlen(models), room = sizeof importer->header.models - len;
  if (strcmp(importer->info_key, "name") != 0 ||
      token->kind != PPI_JSON_STRING || token->len == 0 ||
      token->len + 2 > room || memchr(token->text, ':', token->len) ||
      has_model(models, token->text, token->len))
    return;
  snprintf(models + len, room, "%s%.*s", len ? "\n" : "", (int)token->len,
           token->text);
}

// A trace of one run says which it is; of several, each has an event.
static void take_uuid(ppi_importer *importer, const ppi_json_token *token) {
  size_t room = sizeof importer->header.uuid;
  if (strcmp(importer->info_key, "uuid") != 0 ||
      token->kind != PPI_JSON_STRING || token->len >= room)
    return;
  memcpy(importer->header.uuid, token->text, token->len);
  importer->header.uuid[token->len] = '\0';
}

// Lines of the kernel's events, which comments are around.
static void count_lines(ppi_importer *importer, const ppi_json_token *token) {
  if (token->kind != PPI_JSON_STRING && token->kind != PPI_JSON_STRING_PART)
    return;
  for (size_t i = 0; i < token->len; i++) {
    char c = token->text[i];
    if (!importer->is_in_line && c != '#' && c != '\n')
      importer->skips[PPI_SKIP_FTRACE_LINES]++;
    importer->is_in_line = c != '\n';
  }
}

// A value beside the events; `depth` of members of the trace itself is 1.
static void take_value(ppi_importer *importer, const ppi_json_token *token) {
  bool is_member = importer->depth == 2;
  if (importer->top_key == TOP_BASE && importer->depth == 1)
    importer->header.has_base =
        (token->kind == PPI_JSON_NUMBER || token->kind == PPI_JSON_STRING) &&
        ppi_integer(token->text, token->len, &importer->header.base_ns);
  else if (importer->top_key == TOP_PADDLE && importer->depth == 1)
    importer->header.dialects |= PPI_IS_PADDLE;
  else if (importer->top_key == TOP_OWN_FORMAT && importer->depth == 1 &&
           !importer->has_events)
    importer->header.is_own = importer->fields.is_own =
        token->kind == PPI_JSON_NUMBER && token->number == 1;
  else if (importer->top_key == TOP_FTRACE && importer->depth == 1)
    count_lines(importer, token);
  else if (importer->top_key == TOP_DEVICES && importer->depth == 3)
    take_model(importer, token);
  else if (importer->top_key == TOP_EXTRA && is_member)
    take_extra(importer, token);
  else if (importer->top_key == TOP_DISTRIBUTED && is_member)
    take_rank(importer, token);
  else if (importer->top_key == TOP_OWN && is_member)
    take_uuid(importer, token);
}

static void take_key(ppi_importer *importer, const ppi_json_token *token) {
  if (importer->depth == 1) {
    importer->top_key = find_top_key(token);
    if (importer->top_key == TOP_KINETO || importer->top_key == TOP_DEVICES)
      importer->header.dialects |= PPI_IS_PYTORCH;
    if (!importer->foreign)
      importer->foreign = ppi_foreign_key(token->text, token->len);
  }
  size_t len = PPI_MIN(token->len, sizeof importer->info_key - 1);
  memcpy(importer->info_key, token->text, len);
  importer->info_key[len] = '\0';
  if (importer->top_key == TOP_OWN && is_key(token, "trust"))
    importer->header.is_older = !importer->header.is_own;
}

static void take_beside(ppi_importer *importer, const ppi_json_token *token) {
  bool is_array = token->kind == PPI_JSON_ARRAY;
  bool is_list = is_array && importer->depth == 1 &&
                 importer->top_key == TOP_EVENTS && !importer->is_array;
  if (token->kind == PPI_JSON_KEY) {
    take_key(importer, token);
  } else if (is_list || (is_array && importer->depth == 0)) {
    importer->is_array = importer->depth == 0;
    importer->has_events = true;
    importer->event_depth = importer->depth + 1;
  } else if (!is_open(token->kind) && !is_close(token->kind)) {
    take_value(importer, token);
  }
}

// Whether a token is of what a run of our own says of itself: beside the
// events, or in the args of one of them.
static bool is_fact(const ppi_importer *importer, const ppi_json_token *token) {
  const ppi_fields *fields = &importer->fields;
  if (!importer->header.is_own) return false;
  if (importer->is_in_event)
    return fields->is_in_args && ppi_own_is_run(fields) &&
           !(fields->depth == 2 && is_close(token->kind));
  return importer->top_key == TOP_OWN && importer->event_depth == 0 &&
         importer->depth >= 2 &&
         !(importer->depth == 2 && is_close(token->kind));
}

bool ppi_trace_take(void *context, const ppi_json_token *token) {
  ppi_importer *importer = context;
  if (is_fact(importer, token)) {
    importer->status = ppi_own_take_fact(importer, token);
    if (importer->status != PPROF_STATUS_OK) return false;
  }
  if (importer->is_in_event) {
    if (ppi_fields_take(&importer->fields, token)) return true;
    importer->is_in_event = false;
    importer->depth--;
    importer->status = ppi_convert(importer);
    return importer->status == PPROF_STATUS_OK;
  }
  if (is_close(token->kind)) {
    // The end of the events; a second list of that name is looked at, too.
    if (importer->depth-- == importer->event_depth) importer->event_depth = 0;
  } else if (importer->event_depth > 0 &&
             importer->depth == importer->event_depth &&
             token->kind == PPI_JSON_OBJECT) {
    ppi_fields_begin(&importer->fields);
    importer->is_in_event = true;
  } else if (importer->event_depth > 0) {
    if (importer->depth == importer->event_depth &&
        token->kind != PPI_JSON_STRING_PART)
      importer->skips[PPI_SKIP_MALFORMED]++;
  } else {
    take_beside(importer, token);
  }
  if (is_open(token->kind)) importer->depth++;
  return importer->status == PPROF_STATUS_OK;
}
