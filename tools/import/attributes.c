// SPDX-License-Identifier: Apache-2.0
//
// The members of args that are kept, written as JSON again.
#include <stdio.h>
#include <string.h>

#include "import/fields.h"

// A member that does not fit is left out whole, so that what is kept stays
// JSON.
static void put(ppi_fields *fields, const char *bytes, size_t len) {
  if (len > PPI_MAX_ATTRIBUTES - fields->attributes_len) {
    fields->attributes_len = fields->member_at;
    fields->attributes_cut = true;
    fields->keeps_arg = false;
    return;
  }
  memcpy(fields->attributes + fields->attributes_len, bytes, len);
  fields->attributes_len += len;
}

static void put_escaped(ppi_fields *fields, const char *text, size_t len) {
  size_t from = 0;
  for (size_t i = 0; i < len && fields->keeps_arg; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    char escaped[8];
    int used = c == '"' || c == '\\'
                   ? snprintf(escaped, sizeof escaped, "\\%c", c)
                   : snprintf(escaped, sizeof escaped, "\\u%04x", c);
    put(fields, text + from, i - from);
    if (fields->keeps_arg) put(fields, escaped, (size_t)used);
    from = i + 1;
  }
  if (fields->keeps_arg) put(fields, text + from, len - from);
}

static void put_comma(ppi_fields *fields) {
  size_t len = fields->attributes_len;
  char last = len > 0 ? fields->attributes[len - 1] : '{';
  if (len == 0 || last == '[' || last == '{' || last == ':') return;
  put(fields, ",", 1);
}

// `is_open_text`: parts of this text have been written.
static void put_text(ppi_fields *fields, const ppi_json_token *token) {
  if (!fields->is_open_text) {
    put_comma(fields);
    if (fields->keeps_arg) put(fields, "\"", 1);
  }
  put_escaped(fields, token->text, token->len);
  fields->is_open_text = token->kind == PPI_JSON_STRING_PART;
  if (!fields->is_open_text && fields->keeps_arg) put(fields, "\"", 1);
}

void ppi_attributes_take(ppi_fields *fields, const ppi_json_token *token) {
  static const char *const words[] = {
      [PPI_JSON_OBJECT] = "{",  [PPI_JSON_OBJECT_END] = "}",
      [PPI_JSON_ARRAY] = "[",   [PPI_JSON_ARRAY_END] = "]",
      [PPI_JSON_TRUE] = "true", [PPI_JSON_FALSE] = "false",
      [PPI_JSON_NULL] = "null"};
  switch (token->kind) {
    case PPI_JSON_STRING_PART:
    case PPI_JSON_STRING:
      put_text(fields, token);
      return;
    case PPI_JSON_KEY:
      fields->is_open_text = false;
      put_text(fields,
               &(ppi_json_token){PPI_JSON_STRING, token->text, token->len, 0});
      if (fields->keeps_arg) put(fields, ":", 1);
      return;
    case PPI_JSON_OBJECT_END:
    case PPI_JSON_ARRAY_END:
      put(fields, words[token->kind], 1);
      return;
    default:
      put_comma(fields);
  }
  if (!fields->keeps_arg) return;
  if (token->kind == PPI_JSON_NUMBER)
    put(fields, token->text, token->len);
  else
    put(fields, words[token->kind], strlen(words[token->kind]));
}

void ppi_attributes_add(ppi_fields *fields, const char *key, const char *text,
                        size_t len) {
  fields->keeps_arg = true;
  fields->member_at = fields->attributes_len;
  ppi_attributes_take(fields,
                      &(ppi_json_token){PPI_JSON_KEY, key, strlen(key), 0});
  if (fields->keeps_arg)
    ppi_attributes_take(fields,
                        &(ppi_json_token){PPI_JSON_STRING, text, len, 0});
}
