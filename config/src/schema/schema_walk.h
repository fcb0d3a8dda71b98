// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the walk over a tree share: schema.c reads values and maps,
// schema_capture.c windows, schema_lists.c the other lists.
#ifndef PPI_SCHEMA_WALK_H_
#define PPI_SCHEMA_WALK_H_

#include "schema/schema.h"

typedef struct ppi_walk {
  ppi_config *config;
  const char *source;
  pprof_error *error;
} ppi_walk;

static inline ppi_yaml_mark ppi_walk_mark(const ppi_yaml_node *node) {
  return (ppi_yaml_mark){node->line, node->column};
}

#define PPI_SHOWN(string) (ppi_quote_of(string).text)
#define PPI_REFUSE(walk, node, ...) \
  ppi_yaml_fail((walk)->source, ppi_walk_mark(node), (walk)->error, __VA_ARGS__)

// "'active' must be <what>, not <what it is>"
pprof_status ppi_walk_fail_type(const ppi_walk *at, const ppi_yaml_node *node,
                                const char *name, const char *what);
// Sets what the map gives among the keys that begin with `prefix`.
pprof_status ppi_walk_map(const ppi_walk *at, const ppi_yaml_node *node,
                          const char *prefix, void *base);
// Sets the defaults of those keys.
pprof_status ppi_walk_fallbacks(const char *prefix, void *base);
// "file:line:column" of a node.
void ppi_walk_where(const ppi_walk *at, const ppi_yaml_node *node,
                    char out[PPI_CONFIG_MAX_WHERE]);

pprof_status ppi_walk_windows(const ppi_walk *at, const ppi_yaml_node *node);
pprof_status ppi_walk_exports(const ppi_walk *at, const ppi_yaml_node *node);
pprof_status ppi_walk_globs(const ppi_walk *at, const ppi_yaml_node *node,
                            ppi_config_globs *out);
pprof_status ppi_walk_conditions(const ppi_walk *at, const ppi_yaml_node *node);

// The keys of windows of one kind, for those who list them.
bool ppi_window_has_key(ppi_window_kind kind, const char *name);
const char *ppi_window_needs(ppi_window_kind kind);

#endif  // PPI_SCHEMA_WALK_H_
