// SPDX-License-Identifier: Apache-2.0
//
// Prints a configuration as YAML that reads back as the same configuration.
#include <string.h>

#include "file/utf8.h"
#include "schema/schema.h"
#include "schema/schema_capture.h"

typedef struct writer {
  const ppi_config *config;
  FILE *out;
  bool with_origins;
} writer;

// Text in double quotes that reads back unchanged, with all of it visible.
static void put_text(const char *text, FILE *out) {
  const unsigned char *at = (const unsigned char *)text;
  const unsigned char *end = at + strlen(text);
  fputc('"', out);
  for (size_t length; at < end; at += length) {
    length = ppi_utf8_length(at, end);
    uint32_t code = ppi_utf8_code(at, length);
    bool shown = length && !ppi_utf8_is_invisible(code);
    length = length ? length : 1;
    if (*at == '"' || *at == '\\') fputc('\\', out);
    if (shown)
      fwrite(at, 1, length, out);
    else
      fprintf(out, code < 0x100 ? "\\x%02x" : "\\U%08x", code);
  }
  fputc('"', out);
}

static void put_bits(const ppi_key *key, uint64_t bits, FILE *out) {
  const char *separator = "";
  fputc('[', out);
  for (size_t i = 0; key->choices[i]; i++) {
    if (!(bits >> i & 1)) continue;
    fprintf(out, "%s%s", separator, key->choices[i]);
    separator = ", ";
  }
  fputc(']', out);
}

static void put_globs(const ppi_config_globs *globs, FILE *out) {
  fputc('[', out);
  for (uint64_t i = 0; i < globs->num; i++) {
    if (i > 0) fputs(", ", out);
    put_text(globs->items[i], out);
  }
  fputc(']', out);
}

static void put_number(const ppi_key *key, uint64_t value, FILE *out) {
  bool none = value == 0 && key->type == PPI_KEY_SIZE && key->fallback &&
              strcmp(key->fallback, "none") == 0;
  if (none)
    fputs("none", out);
  else
    ppi_write_number(key->type, value, out);
}

static void put_key(const ppi_key *key, const void *base, FILE *out) {
  const void *at = (const char *)base + key->offset;
  const uint64_t *number = at;
  const ppi_config_text *text = at;
  switch (key->type) {
    case PPI_KEY_COUNT:
    case PPI_KEY_SIZE:
    case PPI_KEY_DURATION:
      put_number(key, *number, out);
      break;
    case PPI_KEY_TIME:
      ppi_write_time(*number, out);
      break;
    case PPI_KEY_BOOL:
      fputs(*number ? "true" : "false", out);
      break;
    case PPI_KEY_CHOICE:
      fputs(key->choices[*number], out);
      break;
    case PPI_KEY_CHOICES:
      put_bits(key, *number, out);
      break;
    case PPI_KEY_TEXT:
    case PPI_KEY_PATH:
      put_text(text->text, out);
      break;
    case PPI_KEY_VIEWS:
      fprintf(out, "[%s]", text->text);
      break;
    case PPI_KEY_STEPS:
      fprintf(out, "[%llu, %llu]", (unsigned long long)number[0],
              (unsigned long long)number[1]);
      break;
    case PPI_KEY_GLOBS:
      put_globs(at, out);
      break;
    case PPI_KEY_MAP:
    case PPI_KEY_WINDOWS:
    case PPI_KEY_EXPORTS:
    case PPI_KEY_RULES:
    case PPI_KEY_CONDITIONS:
      break;
  }
}

static void put_origin(const writer *to, const ppi_key *key) {
  if (to->with_origins && key->type != PPI_KEY_MAP)
    fprintf(to->out, "  # %s", ppi_config_origin(to->config, key));
  fputc('\n', to->out);
}

// The keys of a window's kind, without keys that equal a missing value.
static bool is_of_window(const ppi_key *key, const ppi_config_window *window) {
  const char *name = strchr(key->path, '.') + 1;
  if (!ppi_window_has_key((ppi_window_kind)window->kind, name)) return false;
  if (window->kind != PPI_WINDOW_TIME) return true;
  if (strcmp(name, "repeat") == 0 || strcmp(name, "every") == 0)
    return window->every_us != 0;
  return key->type != PPI_KEY_TIME || window->at_realtime_ns != 0;
}

static bool is_of_export(const ppi_key *key, const ppi_config_export *item) {
  return key->type != PPI_KEY_VIEWS || item->views.text[0];
}

// One item of `list` in short form.
static void put_item(const ppi_key *list, const void *base, FILE *out) {
  const char *separator = "  - {";
  size_t len = strlen(list->path);
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    if (strncmp(key->path, list->path, len) != 0 || key->path[len] != '[')
      continue;
    if (list->type == PPI_KEY_WINDOWS ? !is_of_window(key, base)
                                      : !is_of_export(key, base))
      continue;
    fprintf(out, "%s%s: ", separator, strchr(key->path, '.') + 1);
    put_key(key, base, out);
    separator = ", ";
  }
  fputs("}\n", out);
}

static void put_items(const writer *to, const ppi_key *key) {
  const ppi_config *config = to->config;
  fprintf(to->out, "%s:", key->path);
  put_origin(to, key);
  if (key->type == PPI_KEY_WINDOWS)
    for (uint64_t i = 0; i < config->num_windows; i++)
      put_item(key, &config->windows[i], to->out);
  else
    for (uint64_t i = 0; i < config->num_exports; i++)
      put_item(key, &config->exports[i], to->out);
}

static void put_conditions(const writer *to, const ppi_key *key) {
  const ppi_config_flight *flight = &to->config->flight;
  fputs("  rules:", to->out);
  put_origin(to, key);
  for (uint64_t i = 0; i < flight->num_conditions; i++) {
    fputs("    - ", to->out);
    put_text(flight->conditions[i].text, to->out);
    fputc('\n', to->out);
  }
}

static void put_rules(const writer *to, const ppi_key *key) {
  ppi_config_rules rules = ppi_config_rules_of((ppi_config *)to->config, key);
  fprintf(to->out, "  %s: {", strchr(key->path, '.') + 1);
  for (uint64_t i = 0; i < *rules.num; i++) {
    if (i > 0) fputs(", ", to->out);
    put_text(rules.items[i].from, to->out);
    fputs(": ", to->out);
    put_text(rules.items[i].category, to->out);
  }
  fputc('}', to->out);
  put_origin(to, key);
}

static bool is_empty(const ppi_config *config, const ppi_key *key) {
  const void *at = (const char *)config + key->offset;
  switch (key->type) {
    case PPI_KEY_WINDOWS:
      return config->num_windows == 0;
    case PPI_KEY_EXPORTS:
      return config->num_exports == 0;
    case PPI_KEY_CONDITIONS:
      return config->flight.num_conditions == 0;
    case PPI_KEY_RULES:
      return *ppi_config_rules_of((ppi_config *)config, key).num == 0;
    case PPI_KEY_GLOBS:
      return ((const ppi_config_globs *)at)->num == 0;
    case PPI_KEY_MAP:
      return key->offset != 0 && *(const uint64_t *)at == 0;
    default:
      return false;
  }
}

// Whether the key lies in a map that was not given.
static bool is_absent(const ppi_config *config, const ppi_key *key) {
  return (!config->flight.given &&
          strncmp(key->path, "flight_recorder.", 16) == 0) ||
         (!config->run.given && strncmp(key->path, "run.", 4) == 0) ||
         (!config->waits && strncmp(key->path, "waits.", 6) == 0);
}

static void put_line(const writer *to, const ppi_key *key) {
  const char *dot = strchr(key->path, '.');
  if (is_empty(to->config, key)) {
    if (!to->with_origins || !key->fallback) return;
    fprintf(to->out, "%s# %s: %s", dot ? "  " : "", dot ? dot + 1 : key->path,
            key->fallback);
    put_origin(to, key);
  } else if (key->type == PPI_KEY_RULES) {
    put_rules(to, key);
  } else if (key->type == PPI_KEY_CONDITIONS) {
    put_conditions(to, key);
  } else if (key->type == PPI_KEY_WINDOWS || key->type == PPI_KEY_EXPORTS) {
    put_items(to, key);
  } else {
    fprintf(to->out, "%s%s:%s", dot ? "  " : "", dot ? dot + 1 : key->path,
            key->type == PPI_KEY_MAP ? "" : " ");
    put_key(key, to->config, to->out);
    put_origin(to, key);
  }
}

static void write_keys(const writer *to) {
  for (size_t i = 0; i < ppi_num_keys; i++)
    if (!strchr(ppi_keys[i].path, '[') && !is_absent(to->config, &ppi_keys[i]))
      put_line(to, &ppi_keys[i]);
}

void ppi_config_write(const ppi_config *config, FILE *out) {
  write_keys(&(writer){config, out, false});
}

void ppi_config_write_origins(const ppi_config *config, FILE *out) {
  write_keys(&(writer){config, out, true});
}
