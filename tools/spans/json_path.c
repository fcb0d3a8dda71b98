// SPDX-License-Identifier: Apache-2.0
//
// Turns JSON tokens into values with their paths of keys.
#include "spans/json_path.h"

#include <string.h>

#include "base/base.h"

void ppi_json_path_begin(ppi_json_path *json, ppi_json_path_take take,
                         void *context) {
  json->take = take;
  json->context = context;
  json->path[0] = 0;
  json->len = json->depth = json->text_len = 0;
}

static void add_text(ppi_json_path *json, const ppi_json_token *token) {
  size_t len = PPI_MIN(token->len, sizeof json->text - 1 - json->text_len);
  if (len) memcpy(json->text + json->text_len, token->text, len);
  json->text_len += len;
  json->text[json->text_len] = 0;
}

// Appends the key to the path. A path that is cut matches no reader's path.
static void set_key(ppi_json_path *json, const ppi_json_token *token) {
  size_t at = json->len;
  if (at && at + 1 < sizeof json->path) json->path[at++] = '.';
  size_t len = PPI_MIN(token->len, sizeof json->path - 1 - at);
  if (len) memcpy(json->path + at, token->text, len);
  json->path[at + len] = 0;
}

static bool open_value(ppi_json_path *json) {
  if (json->depth == PPI_JSON_MAX_DEPTH) return false;
  json->lengths[json->depth++] = (uint16_t)json->len;
  json->len = strlen(json->path);
  return true;
}

// Restores the path: the next object of an array has the same one.
static bool close_value(ppi_json_path *json, bool is_object) {
  if (json->depth == 0) return false;
  json->path[json->len] = 0;
  if (is_object) json->take(json->context, json->path, NULL);
  json->len = json->lengths[--json->depth];
  return true;
}

static void take_scalar(ppi_json_path *json, const ppi_json_token *token) {
  add_text(json, token);
  json->is_text = token->kind == PPI_JSON_STRING;
  json->take(json->context, json->path, json->text);
  json->text_len = 0;
}

bool ppi_json_path_token(void *context, const ppi_json_token *token) {
  ppi_json_path *json = context;
  switch (token->kind) {
    case PPI_JSON_OBJECT:
    case PPI_JSON_ARRAY:
      return open_value(json);
    case PPI_JSON_OBJECT_END:
    case PPI_JSON_ARRAY_END:
      return close_value(json, token->kind == PPI_JSON_OBJECT_END);
    case PPI_JSON_KEY:
      set_key(json, token);
      return true;
    case PPI_JSON_STRING_PART:
      add_text(json, token);
      return true;
    case PPI_JSON_STRING:
    case PPI_JSON_NUMBER:
      take_scalar(json, token);
      return true;
    case PPI_JSON_TRUE:
    case PPI_JSON_FALSE:
    case PPI_JSON_NULL:
      return true;
  }
  return true;
}
