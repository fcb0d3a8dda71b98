// SPDX-License-Identifier: Apache-2.0
//
// The walk over the maps of a tree. schema.c reads values, schema_capture.c
// windows.
#pragma once

#include "schema/schema_keys.h"

typedef struct ppi_walk ppi_walk;
struct ppi_walk {
  ppi_config *config;
  const char *source;
  pprof_error *error;
  // Sets the value of `key` in `base`.
  pprof_status (*read_value)(const ppi_walk *at, const ppi_yaml_node *node,
                             const ppi_key *key, void *base);
  const ppi_config_refusals *refusals;  // NULL: the first refusal ends the walk
};

static inline bool ppi_walk_is_plain(const ppi_yaml_node *node) {
  return node->kind == PPI_YAML_SCALAR && !node->quoted;
}

static inline ppi_yaml_mark ppi_walk_mark(const ppi_yaml_node *node) {
  return (ppi_yaml_mark){node->line, node->column};
}

#define PPI_SHOWN(string) (ppi_quote_of(string).text)
#define PPI_REFUSE(walk, node, ...) \
  ppi_yaml_fail((walk)->source, ppi_walk_mark(node), (walk)->error, __VA_ARGS__)

// "'active' must be <what>, not <the actual type>"
pprof_status ppi_walk_fail_type(const ppi_walk *at, const ppi_yaml_node *node,
                                const char *name, const char *what);
// Whether to continue after the `status` of one member or item. *first becomes
// the first status that was not OK.
bool ppi_walk_goes_on(const ppi_walk *at, pprof_status status,
                      pprof_status *first);
// Sets the keys of the map that begin with `prefix`.
pprof_status ppi_walk_map(const ppi_walk *at, const ppi_yaml_node *node,
                          const char *prefix, void *base);
// Sets the defaults of keys with that prefix.
pprof_status ppi_walk_fallbacks(const ppi_walk *at, const char *prefix,
                                void *base);
// "file:line:column" of a node.
void ppi_walk_where(const ppi_walk *at, const ppi_yaml_node *node,
                    char out[PPI_CONFIG_MAX_WHERE]);
