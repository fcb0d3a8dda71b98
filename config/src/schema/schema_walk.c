// SPDX-License-Identifier: Apache-2.0
//
// Maps: which key each member is, and the defaults of those that are left out.
#include "schema/schema_walk.h"

#include <stdio.h>
#include <string.h>

#include "schema/schema.h"

static const ppi_key *find_key(const char *prefix, const char *name) {
  size_t len = strlen(prefix);
  for (size_t i = 0; i < ppi_num_keys; i++)
    if (strncmp(ppi_keys[i].path, prefix, len) == 0 &&
        strcmp(ppi_keys[i].path + len, name) == 0 && !strpbrk(name, ".[]"))
      return &ppi_keys[i];
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
  const char *near = ppi_nearest(node->key, names, num);
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

pprof_status ppi_walk_map(const ppi_walk *at, const ppi_yaml_node *node,
                          const char *prefix, void *base) {
  for (const ppi_yaml_node *child = node->children; child;
       child = child->next) {
    const ppi_key *key = find_key(prefix, child->key);
    if (!key) return fail_unknown(at, child, prefix);
    pprof_status status = at->read_value(at, child, key, base);
    if (status != PPROF_STATUS_OK) return status;
    if (base == at->config)
      ppi_walk_where(at, child, at->config->origins[key - ppi_keys]);
  }
  return PPROF_STATUS_OK;
}

// Defaults are read by the code that reads files, so the table cannot hold one
// that would be refused there.
pprof_status ppi_walk_fallbacks(const ppi_walk *at, const char *prefix,
                                void *base) {
  size_t len = strlen(prefix);
  ppi_walk own = {base, "default", NULL, at->read_value};
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
    pprof_status status = own.read_value(&own, &node, key, base);
    if (status != PPROF_STATUS_OK) return status;
    if (key->type == PPI_KEY_TEXT || key->type == PPI_KEY_PATH)
      ((ppi_config_text *)(void *)((char *)base + key->offset))->where[0] = 0;
  }
  return PPROF_STATUS_OK;
}
