// SPDX-License-Identifier: Apache-2.0
//
// Walks over maps: finds the key of each member, and sets the defaults of
// missing ones.
#include "schema/schema_walk.h"

#include <string.h>

#include "base/base.h"
#include "schema/schema.h"

bool ppi_walk_goes_on(const ppi_walk *at, pprof_status status,
                      pprof_status *first) {
  if (*first == PPROF_STATUS_OK) *first = status;
  if (status == PPROF_STATUS_OK) return true;
  if (!at->refusals || status != PPROF_STATUS_CONFIG) return false;
  // Without a text, the error was reported further inside.
  if (at->error->text[0]) at->refusals->report(at->refusals->user, at->error);
  at->error->text[0] = 0;
  return true;
}

static const ppi_key *find_key(const char *prefix, const char *name) {
  size_t len = strlen(prefix);
  for (size_t i = 0; i < ppi_num_keys; i++)
    if (strncmp(ppi_keys[i].path, prefix, len) == 0 &&
        strcmp(ppi_keys[i].path + len, name) == 0 && !strpbrk(name, ".[]"))
      return &ppi_keys[i];
  return NULL;
}

// Names of keys in other tools.
static const char *find_elsewhere(const char *prefix, const char *name) {
  static const struct {
    const char *prefix, *name, *key;
  } words[] = {{"capture[].", "closed", "wait"},
               {"capture[].", "ready", "warmup"},
               {"capture[].", "record", "active"},
               {"", "closed", "capture: {wait: ...}"},
               {"", "ready", "capture: {warmup: ...}"},
               {"", "record", "capture: {active: ...}"},
               {"", "schedule", "capture"},
               {"", "scheduler", "capture"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i].prefix, prefix) == 0 &&
        strcmp(words[i].name, name) == 0)
      return words[i].key;
  return NULL;
}

static pprof_status fail_unknown(const ppi_walk *at, const ppi_yaml_node *node,
                                 const char *prefix) {
  const char *names[32];
  size_t num = 0, len = strlen(prefix);
  for (size_t i = 0; i < ppi_num_keys && num < 32; i++) {
    const char *rest = ppi_keys[i].path + len;
    if (strncmp(ppi_keys[i].path, prefix, len) == 0 && !strpbrk(rest, ".["))
      names[num++] = rest;
  }
  const char *near = find_elsewhere(prefix, node->key);
  if (!near) near = ppi_nearest(node->key, names, num);
  ppi_yaml_mark mark = {node->key_line, node->key_column};
  return ppi_yaml_fail(at->source, mark, at->error, "unknown key '%s'%s%s%s",
                       PPI_SHOWN(node->key), near ? " (did you mean '" : "",
                       near ? near : "", near ? "'?)" : "");
}

static const char *kind_words(const ppi_yaml_node *node) {
  if (node->kind == PPI_YAML_MAP) return "a mapping";
  if (node->kind == PPI_YAML_LIST) return "a list";
  return PPI_SHOWN(node->text)[0] ? "text in quotes" : "empty text";
}

pprof_status ppi_walk_fail_type(const ppi_walk *at, const ppi_yaml_node *node,
                                const char *name, const char *what) {
  if (ppi_walk_is_plain(node))
    return PPI_REFUSE(at, node, "'%s' must be %s, not '%s'", name, what,
                      PPI_SHOWN(node->text));
  return PPI_REFUSE(at, node, "'%s' must be %s, not %s", name, what,
                    kind_words(node));
}

void ppi_walk_where(const ppi_walk *at, const ppi_yaml_node *node,
                    char out[PPI_CONFIG_MAX_WHERE]) {
  pprof_error place;
  ppi_yaml_fail(at->source, ppi_walk_mark(node), &place, "%s", "");
  size_t len = strlen(place.text);
  snprintf(out, PPI_CONFIG_MAX_WHERE, "%.*s", (int)(len > 2 ? len - 2 : 0),
           place.text);
}

static pprof_status take_member(const ppi_walk *at, const ppi_yaml_node *node,
                                const char *prefix, void *base) {
  const ppi_key *key = find_key(prefix, node->key);
  if (!key) return fail_unknown(at, node, prefix);
  pprof_status status = at->read_value(at, node, key, base);
  if (status == PPROF_STATUS_OK && base == at->config)
    ppi_walk_where(at, node, at->config->origins[key - ppi_keys]);
  return status;
}

pprof_status ppi_walk_map(const ppi_walk *at, const ppi_yaml_node *node,
                          const char *prefix, void *base) {
  pprof_status first = PPROF_STATUS_OK;
  for (const ppi_yaml_node *child = node->children; child; child = child->next)
    if (!ppi_walk_goes_on(at, take_member(at, child, prefix, base), &first))
      break;
  return first;
}

// Defaults are parsed by the code that parses files, so the table cannot
// contain an invalid one.
pprof_status ppi_walk_fallbacks(const ppi_walk *at, const char *prefix,
                                void *base) {
  size_t len = strlen(prefix);
  ppi_walk own = {base, "default", NULL, at->read_value, NULL};
  for (size_t i = 0; i < ppi_num_keys; i++) {
    const ppi_key *key = &ppi_keys[i];
    if (strncmp(key->path, prefix, len) != 0 || !key->fallback ||
        key->type >= PPI_KEY_VIEWS || key->type == PPI_KEY_CHOICES ||
        (!*prefix && strchr(key->path, '[')))
      continue;
    ppi_yaml_node node = {.kind = PPI_YAML_SCALAR,
                          .quoted = !*key->fallback,
                          .key = (char *)key->path,
                          .text = (char *)key->fallback};
    PPI_TRY(own.read_value(&own, &node, key, base));
    if (key->type == PPI_KEY_TEXT || key->type == PPI_KEY_PATH)
      ((ppi_config_text *)(void *)((char *)base + key->offset))->where[0] = 0;
  }
  return PPROF_STATUS_OK;
}
