// SPDX-License-Identifier: Apache-2.0
//
// Configuration text as a small tree with positions. A strict subset of YAML:
// one document, no anchors, aliases or tags, unique text keys, bounded in size,
// depth and number. Called by compose.c.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

#define PPI_YAML_MAX_BYTES (1u << 20)
#define PPI_YAML_MAX_DEPTH 16
#define PPI_YAML_MAX_NODES 4096

typedef enum ppi_yaml_kind {
  PPI_YAML_SCALAR = 0,
  PPI_YAML_MAP,
  PPI_YAML_LIST
} ppi_yaml_kind;

typedef struct ppi_yaml_node {
  ppi_yaml_kind kind;
  bool quoted;            // a quoted scalar is always text
  uint32_t line, column;  // from 1; columns count characters
  uint32_t key_line, key_column;
  char *key;   // NULL in lists and at the root
  char *text;  // of a scalar
  struct ppi_yaml_node *children, *next;
  size_t num_children;
  struct ppi_yaml_node *all;  // of the document, for freeing
} ppi_yaml_node;

typedef struct ppi_yaml {
  const char *source;   // borrowed: the file's path as given, or a variable
  ppi_yaml_node *root;  // NULL: the document is empty
  ppi_yaml_node *all;
  size_t num_nodes;
} ppi_yaml;

// A position for messages: line and column from 1.
typedef struct ppi_yaml_mark {
  uint32_t line, column;
} ppi_yaml_mark;

void ppi_yaml_init(ppi_yaml *yaml, const char *source);
void ppi_yaml_clear(ppi_yaml *yaml);

// ppi_yaml_parse parses a document that begins at `mark` of the source. *out
// becomes NULL when the document is empty.
pprof_status ppi_yaml_parse(ppi_yaml *yaml, const char *bytes, size_t len,
                            ppi_yaml_mark mark, ppi_yaml_node **out,
                            pprof_error *error);
// ppi_yaml_read_text parses a whole document into yaml->root.
pprof_status ppi_yaml_read_text(ppi_yaml *yaml, const char *bytes, size_t len,
                                pprof_error *error);
// ppi_yaml_read parses the file yaml->source into yaml->root.
pprof_status ppi_yaml_read(ppi_yaml *yaml, pprof_error *error);

// ppi_yaml_add makes a map without children, for trees made by code.
ppi_yaml_node *ppi_yaml_add(ppi_yaml *yaml, ppi_yaml_kind kind,
                            ppi_yaml_mark mark);
// ppi_yaml_attach appends `child` to a map. CONFIG: the key exists. Copies
// `key`.
pprof_status ppi_yaml_attach(ppi_yaml *yaml, ppi_yaml_node *map,
                             ppi_yaml_node *child, const char *key,
                             pprof_error *error);
ppi_yaml_node *ppi_yaml_find(const ppi_yaml_node *map, const char *key);

// ppi_yaml_fail answers CONFIG with `source:line:column: message`. Of a source
// that is too long, the message has the end.
pprof_status ppi_yaml_fail(const char *source, ppi_yaml_mark mark,
                           pprof_error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// The quoted text of a message: at most 40 bytes, unprintable ones as '?'.
typedef struct ppi_quote {
  char text[48];
} ppi_quote;
ppi_quote ppi_quote_of(const char *text);

PPROF_END_C_
