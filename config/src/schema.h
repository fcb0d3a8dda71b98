// SPDX-License-Identifier: Apache-2.0
//
// The keys of a configuration: one table (schema.c) from which parsing,
// defaults, help and documentation come. Called by compose.c and the tool.
#ifndef PPI_SCHEMA_H_
#define PPI_SCHEMA_H_

#include <stdio.h>

#include "inject.h"
#include "schedule.h"
#include "yaml_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PPI_CONFIG_MAX_TEXT 1024
#define PPI_CONFIG_MAX_WHERE 160
#define PPI_CONFIG_MAX_EXPORTS 16

typedef struct ppi_config_text {
  char text[PPI_CONFIG_MAX_TEXT];
  char where[PPI_CONFIG_MAX_WHERE];  // "file:line:column"; "" for a default
} ppi_config_text;

// Every value is a uint64_t or a ppi_config_text, so that the table can point
// at it.
typedef struct ppi_config_window {
  uint64_t skip_first, wait, warmup, active, repeat;
  uint64_t steps[2];
  uint64_t has_steps;
} ppi_config_window;

typedef enum ppi_export_format {
  PPI_EXPORT_CHROME = 0,
  PPI_EXPORT_TABLE,
  PPI_EXPORT_JSON,
  PPI_EXPORT_CSV
} ppi_export_format;

typedef struct ppi_config_export {
  uint64_t format;
  ppi_config_text path, views;
} ppi_config_export;

// Bits of `backends`, in the order of the table's choices.
#define PPI_CONFIG_BACKEND_CPU 1u
#define PPI_CONFIG_BACKEND_OPENCL 2u
#define PPI_CONFIG_BACKEND_CUDA 4u
#define PPI_CONFIG_BACKEND_HIP 8u

typedef struct ppi_config {
  uint64_t version;
  ppi_config_text output;
  uint64_t log;
  uint64_t memory_limit_bytes;
  ppi_config_text spool;
  uint64_t drain_interval_us, stop_wait_us;
  ppi_config_window windows[PPI_SCHEDULE_MAX_RULES];
  uint64_t num_windows;
  uint64_t device_mode, graph_nodes;
  uint64_t backends;
  ppi_nvtx_options nvtx;
  ppi_config_export exports[PPI_CONFIG_MAX_EXPORTS];
  uint64_t num_exports;
} ppi_config;

typedef enum ppi_key_type {
  PPI_KEY_COUNT,     // uint64_t
  PPI_KEY_BOOL,      // uint64_t, 0 or 1
  PPI_KEY_SIZE,      // uint64_t, bytes
  PPI_KEY_DURATION,  // uint64_t, microseconds
  PPI_KEY_CHOICE,    // uint64_t, index into choices
  PPI_KEY_CHOICES,   // uint64_t, a bit per choice
  PPI_KEY_TEXT,      // ppi_config_text
  PPI_KEY_PATH,      // ppi_config_text with %-expansions
  PPI_KEY_VIEWS,     // ppi_config_text, a list of views
  PPI_KEY_STEPS,     // uint64_t[3]: from, to, given
  PPI_KEY_MAP,       // the keys below it
  PPI_KEY_WINDOWS,   // windows[]: a map or a list of maps
  PPI_KEY_EXPORTS,   // exports[]: a list of maps
  PPI_KEY_RULES      // nvtx: a map of names to categories
} ppi_key_type;

typedef struct ppi_key {
  const char *path;  // "devices.mode"; "[]" stands for an item of a list
  ppi_key_type type;
  const char *fallback;  // as it would be written; NULL: none
  uint64_t minimum, maximum;
  const char *const *choices;  // ends with NULL
  size_t offset;               // in ppi_config, or in the item of its list
  const char *help;
} ppi_key;

// Where the rules of `key` are.
typedef struct ppi_config_rules {
  uint64_t *num;
  ppi_nvtx_rule *items;
} ppi_config_rules;
ppi_config_rules ppi_config_rules_of(ppi_config *config, const ppi_key *key);

extern const ppi_key ppi_keys[];
extern const size_t ppi_num_keys;

pprof_status ppi_config_defaults(ppi_config *config);
// ppi_config_apply sets what the tree gives and leaves the rest as it is. The
// keys `capture` and `exports` are replaced as a whole.
pprof_status ppi_config_apply(ppi_config *config, const ppi_yaml *yaml,
                              pprof_error *error);
// ppi_config_check looks at what belongs together; call it after the last
// apply.
pprof_status ppi_config_check(const ppi_config *config, pprof_error *error);
void ppi_config_schedule(const ppi_config *config, ppi_schedule *out);

// ppi_config_write prints the configuration in force as YAML.
void ppi_config_write(const ppi_config *config, FILE *out);
// ppi_config_help prints the keys for a terminal, ppi_config_markdown the whole
// of docs/profile-yaml.md.
void ppi_config_help(FILE *out);
void ppi_config_markdown(FILE *out);

// schema_rules.c: reads the map `node` into `rules`, which it replaces.
pprof_status ppi_config_read_rules(const ppi_yaml_node *node,
                                   const char *source,
                                   const ppi_config_rules *rules,
                                   pprof_error *error);

// schema_values.c: single values. Answer false when `text` is not one, or does
// not fit 64 bits.
bool ppi_parse_count(const char *text, uint64_t *out);
bool ppi_parse_size(const char *text, uint64_t *out_bytes);
bool ppi_parse_duration(const char *text, uint64_t *out_us);
void ppi_write_size(uint64_t bytes, FILE *out);
void ppi_write_duration(uint64_t us, FILE *out);
// ppi_nearest answers the candidate that `text` was probably meant to be, NULL
// when none is near.
const char *ppi_nearest(const char *text, const char *const *candidates,
                        size_t num);
// ppi_check_template answers what is wrong with a path's %-expansions, NULL
// when nothing is.
const char *ppi_check_template(const char *text);

#ifdef __cplusplus
}
#endif

#endif  // PPI_SCHEMA_H_
