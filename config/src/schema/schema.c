// SPDX-License-Identifier: Apache-2.0
//
// Applies a tree to a configuration: single values, and the path to each.
#include "schema/schema.h"

#include <string.h>

#include "base/base.h"
#include "schema/schema_capture.h"

// Whether its path may contain %w depends on `per`.
static pprof_status check_window_path(const ppi_walk *at,
                                      const ppi_yaml_node *path,
                                      const ppi_config_export *item) {
  bool has_number = ppi_check_template(item->path.text, false) != NULL;
  if (has_number && !item->per_window)
    return PPI_REFUSE(at, path, "'path': %%w needs 'per: window'");
  if (!has_number && item->per_window)
    return PPI_REFUSE(at, path, "'path' needs a %%w, the number of the window");
  return PPROF_STATUS_OK;
}

static pprof_status read_export(const ppi_walk *at, const ppi_yaml_node *node) {
  ppi_config *config = at->config;
  if (node->kind != PPI_YAML_MAP)
    return ppi_walk_fail_type(at, node, "exports", "a list of mappings");
  if (config->num_exports == PPI_CONFIG_MAX_EXPORTS)
    return PPI_REFUSE(at, node, "more than %d exports", PPI_CONFIG_MAX_EXPORTS);
  ppi_config_export *item = &config->exports[config->num_exports];
  memset(item, 0, sizeof *item);
  pprof_status status = ppi_walk_map(at, node, "exports[].", item);
  if (status != PPROF_STATUS_OK) return status;
  if (!ppi_yaml_find(node, "format"))
    return PPI_REFUSE(at, node, "an export needs 'format'");
  const ppi_yaml_node *path = ppi_yaml_find(node, "path");
  if (!path) return PPI_REFUSE(at, node, "an export needs 'path'");
  const ppi_yaml_node *shown = ppi_yaml_find(node, "views");
  static const char *const without_views[] = {
      [PPI_EXPORT_CHROME] = "Chrome trace",
      [PPI_EXPORT_LOG] = "log",
      [PPI_EXPORT_HTML] = "page"};
  if (shown && item->format < PPI_EXPORT_REPORT)
    return PPI_REFUSE(at, shown, "a %s has no 'views'",
                      without_views[item->format]);
  if (item->format == PPI_EXPORT_HTML && item->per_window)
    return PPI_REFUSE(at, path, "a page is of the run: no 'per: window'");
  if (item->format == PPI_EXPORT_LOG && !item->per_window)
    return PPI_REFUSE(at, path,
                      "a log as an export needs 'per: window'; that of the run"
                      " is 'output'");
  status = check_window_path(at, path, item);
  if (status == PPROF_STATUS_OK) config->num_exports++;
  return status;
}

static pprof_status read_exports(const ppi_walk *at,
                                 const ppi_yaml_node *node) {
  at->config->num_exports = 0;
  if (node->kind != PPI_YAML_LIST)
    return ppi_walk_fail_type(at, node, "exports", "a list of mappings");
  pprof_status first = PPROF_STATUS_OK;
  for (const ppi_yaml_node *item = node->children; item; item = item->next)
    if (!ppi_walk_goes_on(at, read_export(at, item), &first)) break;
  return first;
}

static pprof_status read_globs(const ppi_walk *at, const ppi_yaml_node *node,
                               ppi_config_globs *out) {
  out->num = 0;
  if (node->kind != PPI_YAML_LIST)
    return ppi_walk_fail_type(at, node, node->key,
                              "a list of names such as [decode, \"load *\"]");
  if (node->num_children > PPI_CONFIG_MAX_GLOBS)
    return PPI_REFUSE(at, node, "'%s' has more than %d names", node->key,
                      PPI_CONFIG_MAX_GLOBS);
  for (const ppi_yaml_node *item = node->children; item; item = item->next) {
    if (item->kind != PPI_YAML_SCALAR || !item->text[0])
      return PPI_REFUSE(at, item, "'%s' must have names, not %s", node->key,
                        item->kind == PPI_YAML_SCALAR ? "empty text" : "lists");
    if (strlen(item->text) >= PPI_CONFIG_MAX_GLOB)
      return PPI_REFUSE(at, item, "a name is longer than %d bytes",
                        PPI_CONFIG_MAX_GLOB - 1);
    strcpy(out->items[out->num++], item->text);
  }
  return PPROF_STATUS_OK;
}

// A rule's column counts from the text's first character, which stands behind
// its quote.
static pprof_status read_condition(const ppi_walk *at,
                                   const ppi_yaml_node *node) {
  ppi_config_flight *flight = &at->config->flight;
  if (node->kind != PPI_YAML_SCALAR)
    return ppi_walk_fail_type(at, node, "rules", "a list of texts");
  if (flight->num_conditions == PPI_CONFIG_MAX_CONDITIONS)
    return PPI_REFUSE(at, node, "more than %d rules",
                      PPI_CONFIG_MAX_CONDITIONS);
  ppi_config_text *out = &flight->conditions[flight->num_conditions];
  if (strlen(node->text) >= sizeof out->text)
    return PPI_REFUSE(at, node, "a rule is longer than %zu bytes",
                      sizeof out->text - 1);
  ppi_rule rule;
  size_t column = 1;
  char why[160] = "";
  if (ppi_rule_parse(node->text, &rule, &column, why, sizeof why) !=
      PPROF_STATUS_OK) {
    ppi_yaml_mark mark = ppi_walk_mark(node);
    mark.column += (uint32_t)column - 1 + node->quoted;
    return ppi_yaml_fail(at->source, mark, at->error, "%s", why);
  }
  strcpy(out->text, node->text);
  ppi_walk_where(at, node, out->where);
  flight->num_conditions++;
  return PPROF_STATUS_OK;
}

static pprof_status read_conditions(const ppi_walk *at,
                                    const ppi_yaml_node *node) {
  at->config->flight.num_conditions = 0;
  if (node->kind != PPI_YAML_LIST)
    return ppi_walk_fail_type(at, node, "rules", "a list of texts");
  pprof_status first = PPROF_STATUS_OK;
  for (const ppi_yaml_node *item = node->children; item; item = item->next)
    if (!ppi_walk_goes_on(at, read_condition(at, item), &first)) break;
  return first;
}

#define MAX_PATH 64

// As many as leave room for the rest of a message.
static size_t put_choices(const char *const *choices, char list[160]) {
  size_t num = 0, len = 0;
  for (; choices[num]; num++) {
    size_t more = strlen(choices[num]) + 2;
    if (len + more + sizeof ", ..." > 160) {
      strcpy(list + len, ", ...");
      break;
    }
    len += (size_t)snprintf(list + len, 160 - len, "%s%s", num > 0 ? ", " : "",
                            choices[num]);
  }
  while (choices[num]) num++;
  return num;
}

static pprof_status fail_choice(const ppi_walk *at, const ppi_yaml_node *node,
                                const ppi_key *key, const char *name) {
  char list[160];
  size_t num = put_choices(key->choices, list);
  const char *near = ppi_nearest(PPI_SHOWN(node->text), key->choices, num);
  return PPI_REFUSE(at, node, "'%s' must be one of %s, not '%s'%s%s%s", name,
                    list, PPI_SHOWN(node->text), near ? " (did you mean '" : "",
                    near ? near : "", near ? "'?)" : "");
}

static bool is_null(const ppi_yaml_node *node) {
  static const char *const words[] = {"", "~", "null", "Null", "NULL"};
  if (node->kind != PPI_YAML_SCALAR || node->quoted) return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(node->text, words[i]) == 0) return true;
  return false;
}

// Both ends of the range as they would be written.
static pprof_status fail_range(const ppi_walk *at, const ppi_yaml_node *node,
                               const ppi_key *key, const char *name) {
  char text[64] = "";
  FILE *out = fmemopen(text, sizeof text, "w");
  if (!out) return PPI_REFUSE(at, node, "'%s' is out of range", name);
  ppi_write_number(key->type, key->minimum, out);
  fputs(" to ", out);
  ppi_write_number(key->type, key->maximum, out);
  fclose(out);
  return PPI_REFUSE(at, node, "'%s' must be %s, not %s", name, text,
                    PPI_SHOWN(node->text));
}

static pprof_status read_number(const ppi_walk *at, const ppi_yaml_node *node,
                                const ppi_key *key, const char *name,
                                uint64_t *out) {
  uint64_t value = 0;
  bool good = false;
  const char *what = "a whole number";
  if (key->type == PPI_KEY_SIZE) {
    what = "a size such as 64MiB";
    bool may_be_none = key->fallback && strcmp(key->fallback, "none") == 0;
    if (may_be_none && ppi_walk_is_plain(node) &&
        strcmp(node->text, "none") == 0) {
      *out = 0;
      return PPROF_STATUS_OK;
    }
    good = ppi_walk_is_plain(node) && ppi_parse_size(node->text, &value);
  } else if (key->type == PPI_KEY_DURATION) {
    what = "a duration such as 500ms";
    good = ppi_walk_is_plain(node) && ppi_parse_duration(node->text, &value);
  } else {
    good = ppi_walk_is_plain(node) && ppi_parse_count(node->text, &value);
  }
  if (!good) return ppi_walk_fail_type(at, node, name, what);
  if (value < key->minimum || value > key->maximum)
    return fail_range(at, node, key, name);
  *out = value;
  return PPROF_STATUS_OK;
}

static pprof_status read_time(const ppi_walk *at, const ppi_yaml_node *node,
                              const char *name, uint64_t *out) {
  if (node->kind == PPI_YAML_SCALAR && ppi_parse_time(node->text, out))
    return PPROF_STATUS_OK;
  return ppi_walk_fail_type(at, node, name,
                            "a time in UTC such as 2026-11-22T10:00:00Z");
}

static pprof_status read_bool(const ppi_walk *at, const ppi_yaml_node *node,
                              const char *name, uint64_t *out) {
  if (ppi_walk_is_plain(node) && ppi_parse_bool(node->text, out))
    return PPROF_STATUS_OK;
  return ppi_walk_fail_type(at, node, name, "true or false");
}

static bool find_choice(const ppi_key *key, const ppi_yaml_node *node,
                        uint64_t *out) {
  for (size_t i = 0; key->choices[i]; i++) {
    if (strcmp(node->text, key->choices[i]) != 0) continue;
    *out = i;
    return true;
  }
  return false;
}

static pprof_status read_choice(const ppi_walk *at, const ppi_yaml_node *node,
                                const ppi_key *key, const char *name,
                                uint64_t *out) {
  if (node->kind != PPI_YAML_SCALAR)
    return ppi_walk_fail_type(at, node, name, "a word");
  if (!find_choice(key, node, out)) return fail_choice(at, node, key, name);
  return PPROF_STATUS_OK;
}

// A list of choices as bits.
static pprof_status read_choices(const ppi_walk *at, const ppi_yaml_node *node,
                                 const ppi_key *key, const char *name,
                                 uint64_t *out) {
  uint64_t bits = 0, choice = 0;
  if (node->kind != PPI_YAML_LIST)
    return ppi_walk_fail_type(at, node, name, "a list");
  for (const ppi_yaml_node *item = node->children; item; item = item->next) {
    PPI_TRY(read_choice(at, item, key, name, &choice));
    if (bits >> choice & 1)
      return PPI_REFUSE(at, item, "'%s' names %s twice", name, item->text);
    bits |= 1ull << choice;
  }
  *out = bits;
  return PPROF_STATUS_OK;
}

static bool looks_like_number_or_bool(const ppi_yaml_node *node) {
  if (node->quoted) return false;
  const char *digits = node->text + strspn(node->text, "+-");
  return !*(digits + strspn(digits, "0123456789.")) ||
         strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0;
}

static pprof_status read_text(const ppi_walk *at, const ppi_yaml_node *node,
                              const ppi_key *key, const char *name,
                              ppi_config_text *out) {
  if (node->kind != PPI_YAML_SCALAR || looks_like_number_or_bool(node))
    return ppi_walk_fail_type(at, node, name, "text");
  if (strlen(node->text) >= sizeof out->text)
    return PPI_REFUSE(at, node, "'%s' is longer than %zu bytes", name,
                      sizeof out->text - 1);
  bool may_be_empty = key->fallback && !*key->fallback;
  if (node->text[0] == 0 && !may_be_empty)
    return PPI_REFUSE(at, node, "'%s' is empty", name);
  const char *wrong = NULL;
  if (key->type == PPI_KEY_PATH && node->text[0])
    wrong = ppi_check_template(node->text, key->maximum != 0);
  if (wrong) return PPI_REFUSE(at, node, "'%s': %s", name, wrong);
  strcpy(out->text, node->text);
  ppi_walk_where(at, node, out->where);
  return PPROF_STATUS_OK;
}

// A list of views becomes the comma-separated text that reports take.
static pprof_status read_views(const ppi_walk *at, const ppi_yaml_node *node,
                               const ppi_key *key, const char *name,
                               ppi_config_text *out) {
  uint64_t bits = 0;
  PPI_TRY(read_choices(at, node, key, name, &bits));
  if (bits == 0) return PPI_REFUSE(at, node, "'%s' is empty", name);
  out->text[0] = 0;
  for (size_t i = 0; key->choices[i]; i++) {
    if (!(bits >> i & 1)) continue;
    if (out->text[0]) strcat(out->text, ",");
    strcat(out->text, key->choices[i]);
  }
  ppi_walk_where(at, node, out->where);
  return PPROF_STATUS_OK;
}

static pprof_status read_steps(const ppi_walk *at, const ppi_yaml_node *node,
                               const ppi_key *key, const char *name,
                               uint64_t *out) {
  if (node->kind != PPI_YAML_LIST || node->num_children != 2)
    return ppi_walk_fail_type(at, node, name,
                              "two step numbers such as [10, 20]");
  const ppi_yaml_node *item = node->children;
  for (size_t i = 0; i < 2; i++, item = item->next) {
    PPI_TRY(read_number(at, item, key, name, &out[i]));
  }
  if (out[1] <= out[0])
    return PPI_REFUSE(at, node, "'%s' must end after it begins", name);
  out[2] = 1;
  return PPROF_STATUS_OK;
}

static pprof_status read_rules(const ppi_walk *at, const ppi_yaml_node *node,
                               const ppi_key *key) {
  ppi_config_rules rules = ppi_config_rules_of(at->config, key);
  if (node->kind != PPI_YAML_MAP)
    return ppi_walk_fail_type(at, node, node->key,
                              key->choices
                                  ? "a mapping of names to words"
                                  : "a mapping of names to categories");
  return ppi_config_read_rules(node, at->source, &rules, at->error);
}

static pprof_status read_nested(const ppi_walk *at, const ppi_yaml_node *node,
                                const ppi_key *key, void *base) {
  uint64_t *given = (uint64_t *)(void *)((char *)base + key->offset);
  if (key->minimum && ppi_walk_is_plain(node) &&
      ppi_parse_bool(node->text, given))
    return PPROF_STATUS_OK;
  if (node->kind != PPI_YAML_MAP)
    return ppi_walk_fail_type(
        at, node, key->path,
        key->minimum ? "on, off or a mapping" : "a mapping");
  if (key->offset) *given = 1;
  char prefix[MAX_PATH];
  snprintf(prefix, sizeof prefix, "%s.", key->path);
  return ppi_walk_map(at, node, prefix, base);
}

static pprof_status read_value(const ppi_walk *at, const ppi_yaml_node *node,
                               const ppi_key *key, void *base) {
  const char *name = node->key;
  void *out = (char *)base + key->offset;
  if (is_null(node)) return PPI_REFUSE(at, node, "'%s' needs a value", name);
  switch (key->type) {
    case PPI_KEY_COUNT:
    case PPI_KEY_SIZE:
    case PPI_KEY_DURATION:
      return read_number(at, node, key, name, out);
    case PPI_KEY_BOOL:
      return read_bool(at, node, name, out);
    case PPI_KEY_CHOICE:
      return read_choice(at, node, key, name, out);
    case PPI_KEY_CHOICES:
      return read_choices(at, node, key, name, out);
    case PPI_KEY_TEXT:
    case PPI_KEY_PATH:
      return read_text(at, node, key, name, out);
    case PPI_KEY_VIEWS:
      return read_views(at, node, key, name, out);
    case PPI_KEY_STEPS:
      return read_steps(at, node, key, name, out);
    case PPI_KEY_MAP:
      return read_nested(at, node, key, base);
    case PPI_KEY_WINDOWS:
      return ppi_walk_windows(at, node);
    case PPI_KEY_EXPORTS:
      return read_exports(at, node);
    case PPI_KEY_RULES:
      return read_rules(at, node, key);
    case PPI_KEY_TIME:
      return read_time(at, node, name, out);
    case PPI_KEY_GLOBS:
      return read_globs(at, node, out);
    case PPI_KEY_CONDITIONS:
      return read_conditions(at, node);
  }
  return PPROF_STATUS_INVALID;
}

pprof_status ppi_config_defaults(ppi_config *config) {
  memset(config, 0, sizeof *config);
  ppi_walk at = {config, "default", NULL, read_value, NULL};
  return ppi_walk_fallbacks(&at, "", config);
}

static pprof_status apply(ppi_config *config, const ppi_yaml *yaml,
                          const ppi_config_refusals *refusals,
                          pprof_error *error) {
  if (!yaml->root || is_null(yaml->root)) return PPROF_STATUS_OK;
  ppi_walk at = {config, yaml->source, error, read_value, refusals};
  if (yaml->root->kind != PPI_YAML_MAP)
    return PPI_REFUSE(&at, yaml->root, "a configuration is a mapping of keys");
  return ppi_walk_map(&at, yaml->root, "", config);
}

pprof_status ppi_config_apply(ppi_config *config, const ppi_yaml *yaml,
                              pprof_error *error) {
  return apply(config, yaml, NULL, error);
}

static pprof_status read_file(ppi_config *config, const char *path,
                              const ppi_config_refusals *refusals,
                              pprof_error *error) {
  ppi_yaml yaml;
  ppi_yaml_init(&yaml, path);
  pprof_status status = ppi_yaml_read(&yaml, error);
  if (status == PPROF_STATUS_OK) status = apply(config, &yaml, refusals, error);
  ppi_yaml_clear(&yaml);
  return status;
}

pprof_status ppi_config_read_text(ppi_config *config, const char *source,
                                  const char *text, pprof_error *error) {
  ppi_yaml yaml;
  ppi_yaml_init(&yaml, source);
  pprof_status status = ppi_yaml_read_text(&yaml, text, strlen(text), error);
  if (status == PPROF_STATUS_OK) status = apply(config, &yaml, NULL, error);
  ppi_yaml_clear(&yaml);
  return status;
}

pprof_status ppi_config_read(ppi_config *config, const char *path,
                             pprof_error *error) {
  return read_file(config, path, NULL, error);
}

pprof_status ppi_config_validate(ppi_config *config, const char *path,
                                 const ppi_config_refusals *refusals) {
  pprof_error error = {""};
  pprof_status status = ppi_config_defaults(config);
  PPI_THEN(status, read_file(config, path, refusals, &error));
  // Values that depend on each other are checked once each is valid.
  if (status == PPROF_STATUS_OK) status = ppi_config_check(config, &error);
  if (error.text[0]) refusals->report(refusals->user, &error);
  return status;
}
