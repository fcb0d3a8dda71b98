// SPDX-License-Identifier: Apache-2.0
//
// Writes the table of keys as a JSON Schema (2020-12), with which editors
// complete and check a configuration.
#include <string.h>

#include "schema/schema.h"
#include "schema/schema_capture.h"

typedef struct json {
  FILE *out;
  int depth;
  bool first;  // the innermost braces are empty so far
} json;

static void new_line(json *to) {
  fprintf(to->out, "\n%*s", 2 * to->depth, "");
}

static void put_string(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\') fputc('\\', out);
    fputc(*text, out);
  }
  fputc('"', out);
}

static void put_name(json *to, const char *name) {
  if (!to->first) fputc(',', to->out);
  new_line(to);
  put_string(to->out, name);
  fputs(": ", to->out);
  to->first = false;
}

static void open_brace(json *to, const char *name) {
  if (name) put_name(to, name);
  fputc('{', to->out);
  to->depth++;
  to->first = true;
}

static void close_brace(json *to) {
  to->depth--;
  new_line(to);
  fputc('}', to->out);
  to->first = false;
}

static void put_text(json *to, const char *name, const char *text) {
  put_name(to, name);
  put_string(to->out, text);
}

// `raw` is JSON already.
static void put_raw(json *to, const char *name, const char *raw) {
  put_name(to, name);
  fputs(raw, to->out);
}

static void put_number(json *to, const char *name, uint64_t number) {
  put_name(to, name);
  fprintf(to->out, "%llu", (unsigned long long)number);
}

static void put_choices(json *to, const ppi_key *key) {
  put_name(to, "enum");
  for (size_t i = 0; key->choices[i]; i++) {
    fputs(i == 0 ? "[" : ", ", to->out);
    put_string(to->out, key->choices[i]);
  }
  fputc(']', to->out);
}

static void put_unit_pattern(json *to, const ppi_key *key) {
  bool may_be_none = key->fallback && strcmp(key->fallback, "none") == 0;
  put_text(to, "type", "string");
  put_name(to, "pattern");
  fputs("\"^([0-9]+(", to->out);
  ppi_write_units(key->type == PPI_KEY_SIZE, to->out);
  fprintf(to->out, ")%s)$\"", may_be_none ? "|none" : "");
}

static void put_texts(json *to, const ppi_key *key) {
  bool may_be_empty = key->fallback && !*key->fallback;
  put_text(to, "type", "string");
  if (!may_be_empty) put_number(to, "minLength", 1);
  put_number(to, "maxLength", PPI_CONFIG_MAX_TEXT - 1);
  if (key->type == PPI_KEY_TEXT) return;
  put_text(to, "pattern",
           key->maximum != 0 ? "^([^%]|%[hprtw%]|%q\\{[^}]+\\})*$"
                             : "^([^%]|%[hprt%]|%q\\{[^}]+\\})*$");
}

static void put_list(json *to, const ppi_key *key) {
  bool is_globs = key->type == PPI_KEY_GLOBS;
  uint64_t most = is_globs ? PPI_CONFIG_MAX_GLOBS : PPI_CONFIG_MAX_CONDITIONS;
  uint64_t longest = is_globs ? PPI_CONFIG_MAX_GLOB : PPI_RULE_TEXT_MAX;
  put_text(to, "type", "array");
  put_number(to, "maxItems", most);
  open_brace(to, "items");
  put_text(to, "type", "string");
  put_number(to, "minLength", 1);
  put_number(to, "maxLength", longest - 1);
  close_brace(to);
}

static void put_choice_list(json *to, const ppi_key *key) {
  put_text(to, "type", "array");
  put_raw(to, "uniqueItems", "true");
  if (key->type == PPI_KEY_VIEWS) put_number(to, "minItems", 1);
  open_brace(to, "items");
  put_choices(to, key);
  close_brace(to);
}

static void put_count(json *to, const ppi_key *key) {
  put_text(to, "type", "integer");
  put_number(to, "minimum", key->minimum);
  put_number(to, "maximum", key->maximum);
}

static void put_steps(json *to, const ppi_key *key) {
  put_text(to, "type", "array");
  put_number(to, "minItems", 2);
  put_number(to, "maxItems", 2);
  open_brace(to, "items");
  put_count(to, key);
  close_brace(to);
}

static void put_names(json *to, const ppi_key *key) {
  put_text(to, "type", "object");
  put_number(to, "maxProperties", PPI_NVTX_MAX_RULES);
  open_brace(to, "additionalProperties");
  if (key->choices)
    put_choices(to, key);
  else
    put_text(to, "type", "string");
  close_brace(to);
}

static void put_windows(json *to, const ppi_key *key) {
  (void)key;
  put_raw(to, "oneOf",
          "[{\"$ref\": \"#/$defs/window\"}, {\"type\": \"array\", "
          "\"minItems\": 1, \"maxItems\": 16, "
          "\"items\": {\"$ref\": \"#/$defs/window\"}}]");
}

static void put_object(json *to, const char *prefix, int kind);

static void put_exports(json *to, const ppi_key *key) {
  (void)key;
  put_text(to, "type", "array");
  put_number(to, "maxItems", PPI_CONFIG_MAX_EXPORTS);
  open_brace(to, "items");
  put_object(to, "exports[].", -1);
  put_raw(to, "required", "[\"format\", \"path\"]");
  close_brace(to);
}

#define BOOLEANS "[true, false, \"on\", \"off\", \"yes\", \"no\"]"

static void put_map(json *to, const ppi_key *key) {
  char prefix[64];
  snprintf(prefix, sizeof prefix, "%s.", key->path);
  if (!key->minimum) {
    put_object(to, prefix, -1);
    return;
  }
  put_raw(to, "oneOf", "[{\"enum\": " BOOLEANS "},");
  to->depth++;
  new_line(to);
  open_brace(to, NULL);
  put_object(to, prefix, -1);
  close_brace(to);
  to->depth--;
  new_line(to);
  fputc(']', to->out);
}

static void put_bool(json *to, const ppi_key *key) {
  (void)key;
  put_raw(to, "enum", BOOLEANS);
}

static void put_time(json *to, const ppi_key *key) {
  (void)key;
  put_text(to, "type", "string");
  put_text(to, "pattern",
           "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
           "(\\.[0-9]{1,9})?Z$");
}

static void (*const types[])(json *to, const ppi_key *key) = {
    [PPI_KEY_COUNT] = put_count,         [PPI_KEY_BOOL] = put_bool,
    [PPI_KEY_SIZE] = put_unit_pattern,   [PPI_KEY_DURATION] = put_unit_pattern,
    [PPI_KEY_TIME] = put_time,           [PPI_KEY_CHOICE] = put_choices,
    [PPI_KEY_CHOICES] = put_choice_list, [PPI_KEY_VIEWS] = put_choice_list,
    [PPI_KEY_TEXT] = put_texts,          [PPI_KEY_PATH] = put_texts,
    [PPI_KEY_STEPS] = put_steps,         [PPI_KEY_GLOBS] = put_list,
    [PPI_KEY_CONDITIONS] = put_list,     [PPI_KEY_MAP] = put_map,
    [PPI_KEY_WINDOWS] = put_windows,     [PPI_KEY_EXPORTS] = put_exports,
    [PPI_KEY_RULES] = put_names};

// Defaults that are words for "nothing" have no JSON.
static void put_default(json *to, const ppi_key *key) {
  bool plain = key->type == PPI_KEY_COUNT || key->type == PPI_KEY_BOOL;
  if (!key->fallback || key->type >= PPI_KEY_VIEWS ||
      key->type == PPI_KEY_CHOICES)
    return;
  if (plain)
    put_raw(to, "default", key->fallback);
  else
    put_text(to, "default", key->fallback);
}

// The keys directly below `prefix`; for windows those of one `kind`.
static void put_object(json *to, const char *prefix, int kind) {
  size_t len = strlen(prefix);
  put_text(to, "type", "object");
  put_raw(to, "additionalProperties", "false");
  open_brace(to, "properties");
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    const char *name = key->path + len;
    if (strncmp(key->path, prefix, len) != 0 || strpbrk(name, ".[") ||
        (kind >= 0 && !ppi_window_has_key((ppi_window_kind)kind, name)))
      continue;
    open_brace(to, name);
    put_text(to, "description", key->help);
    types[key->type](to, key);
    put_default(to, key);
    close_brace(to);
  }
  close_brace(to);
}

static void put_window_kinds(json *to) {
  open_brace(to, "$defs");
  open_brace(to, "window");
  put_raw(to, "oneOf", "[");
  to->depth++;
  for (int kind = 0; kind < PPI_NUM_WINDOW_KINDS; kind++) {
    if (kind > 0) fputc(',', to->out);
    new_line(to);
    open_brace(to, NULL);
    put_object(to, "capture[].", kind);
    put_name(to, "required");
    fprintf(to->out, "[\"%s\"]", ppi_window_needs((ppi_window_kind)kind));
    close_brace(to);
  }
  to->depth--;
  new_line(to);
  fputc(']', to->out);
  close_brace(to);
  close_brace(to);
}

void ppi_config_json_schema(FILE *out) {
  json to = {.out = out, .first = true};
  open_brace(&to, NULL);
  put_text(&to, "$schema", "https://json-schema.org/draft/2020-12/schema");
  put_text(&to, "title", "pprof configuration");
  put_object(&to, "", -1);
  put_window_kinds(&to);
  close_brace(&to);
  fputc('\n', out);
}
