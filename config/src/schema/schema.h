// SPDX-License-Identifier: Apache-2.0
//
// The keys of a configuration: one table (schema_keys.c) from which parsing,
// defaults, help, documentation and the JSON Schema come. Called by compose.c
// and the tool.
#ifndef PPI_SCHEMA_H_
#define PPI_SCHEMA_H_

#include <stdio.h>

#include "flight/rule.h"
#include "inject/inject.h"
#include "names/choice.h"
#include "rules/capture.h"
#include "yaml/yaml_tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PPI_CONFIG_MAX_TEXT 1024
#define PPI_CONFIG_MAX_WHERE 160
#define PPI_CONFIG_MAX_EXPORTS 16
#define PPI_CONFIG_MAX_GLOBS 64
#define PPI_CONFIG_MAX_GLOB 256  // bytes of one, its end included
#define PPI_CONFIG_MAX_CONDITIONS 16
#define PPI_CONFIG_MAX_KEYS 80

typedef struct ppi_config_text {
  char text[PPI_CONFIG_MAX_TEXT];
  char where[PPI_CONFIG_MAX_WHERE];  // "file:line:column"; "" for a default
} ppi_config_text;

typedef struct ppi_config_globs {
  uint64_t num;
  char items[PPI_CONFIG_MAX_GLOBS][PPI_CONFIG_MAX_GLOB];
} ppi_config_globs;

typedef enum ppi_window_kind {
  PPI_WINDOW_CYCLE = 0,
  PPI_WINDOW_SPAN,
  PPI_WINDOW_TIME,
  PPI_WINDOW_MARKER,
  PPI_WINDOW_DEMAND
} ppi_window_kind;
#define PPI_NUM_WINDOW_KINDS 5

// Every value is a uint64_t or one of the structures above, so that the table
// can point at it.
typedef struct ppi_config_window {
  uint64_t kind;  // ppi_window_kind: by the keys that are given
  uint64_t skip_first, skip_first_wait, wait, warmup, active, repeat;
  uint64_t steps[3];  // from, to, given
  uint64_t delay_us, duration_us, every_us;
  uint64_t at_realtime_ns;  // 0: counted from the start of the session
  ppi_config_text marker;
  uint64_t from, to, then_repeats;  // once read, `to` is not 0
  uint64_t on_demand;
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
  uint64_t per_window;
} ppi_config_export;

typedef struct ppi_config_flight {
  uint64_t given;  // 0: no flight recorder
  uint64_t memory_bytes, before_us, after_us, every_us, limit;
  ppi_config_text output;
  ppi_config_text conditions[PPI_CONFIG_MAX_CONDITIONS];  // its key `rules`
  uint64_t num_conditions;
} ppi_config_flight;

typedef enum ppi_control_signal {
  PPI_CONTROL_SIGNAL_NONE = 0,
  PPI_CONTROL_SIGNAL_USR1,
  PPI_CONTROL_SIGNAL_USR2
} ppi_control_signal;

typedef struct ppi_config_control {
  uint64_t socket;
  ppi_config_text file;  // "": none
  uint64_t signal;       // ppi_control_signal
  uint64_t reload;
} ppi_config_control;

// Bits of `backends`, in the order of the table's choices.
#define PPI_CONFIG_BACKEND_CPU 1u
#define PPI_CONFIG_BACKEND_OPENCL 2u
#define PPI_CONFIG_BACKEND_CUDA 4u
#define PPI_CONFIG_BACKEND_HIP 8u

typedef struct ppi_config {
  uint64_t version;
  uint64_t timer_only;
  ppi_config_text output;
  uint64_t log;
  uint64_t memory_limit_bytes;
  ppi_config_text spool;
  uint64_t reclaim;
  uint64_t drain_interval_us, stop_wait_us, exit_wait_us;
  uint64_t fork;  // ppi_nvtx_fork: what becomes of a forked child
  ppi_config_window windows[PPI_SCHEDULE_MAX_RULES];
  uint64_t num_windows;
  ppi_config_globs include, exclude;
  ppi_config_globs cpu;  // names whose CPU use is measured
  uint64_t requests_every;
  uint64_t hash_names;
  ppi_config_globs allow;              // names that are not hashed
  uint64_t rotate_bytes, rotate_keep;  // 0: one file; 0: all segments
  uint64_t disk_limit_bytes;           // 0: none
  ppi_config_flight flight;
  ppi_config_control control;
  uint64_t device_mode, graph_nodes;
  uint64_t backends;
  ppi_nvtx_options nvtx;
  ppi_config_export exports[PPI_CONFIG_MAX_EXPORTS];
  uint64_t num_exports;
  // By the key's place in ppi_keys; "": its default.
  char origins[PPI_CONFIG_MAX_KEYS][PPI_CONFIG_MAX_WHERE];
} ppi_config;

typedef enum ppi_key_type {
  PPI_KEY_COUNT,      // uint64_t
  PPI_KEY_BOOL,       // uint64_t, 0 or 1
  PPI_KEY_SIZE,       // uint64_t, bytes; 0 is `none` where that is the default
  PPI_KEY_DURATION,   // uint64_t, microseconds
  PPI_KEY_TIME,       // uint64_t, nanoseconds since 1970
  PPI_KEY_CHOICE,     // uint64_t, index into choices
  PPI_KEY_CHOICES,    // uint64_t, a bit per choice
  PPI_KEY_TEXT,       // ppi_config_text
  PPI_KEY_PATH,       // ppi_config_text with %-expansions
  PPI_KEY_VIEWS,      // ppi_config_text, a list of views
  PPI_KEY_STEPS,      // uint64_t[3]: from, to, given
  PPI_KEY_GLOBS,      // ppi_config_globs
  PPI_KEY_MAP,        // the keys below it
  PPI_KEY_WINDOWS,    // windows[]: a map or a list of maps
  PPI_KEY_EXPORTS,    // exports[]: a list of maps
  PPI_KEY_RULES,      // nvtx: a map of names to categories, or to `choices`
  PPI_KEY_CONDITIONS  // flight.conditions[]: a list of rules
} ppi_key_type;

typedef struct ppi_key {
  const char *path;  // "devices.mode"; "[]" stands for an item of a list
  ppi_key_type type;
  const char *fallback;        // as it would be written; NULL: none
  uint64_t minimum, maximum;   // of a path: 1, 1 when it may hold %w
  const char *const *choices;  // ends with NULL
  // In ppi_config, or in the item of its list; of a map: where it is noted that
  // it was given, 0: nowhere.
  size_t offset;
  const char *help;
  bool reloads;  // may change while a session runs
} ppi_key;

// Where the rules of `key` are.
typedef struct ppi_config_rules {
  uint64_t *num;
  ppi_nvtx_rule *items;
  const char *const *words;  // what they may say; NULL: categories
} ppi_config_rules;
ppi_config_rules ppi_config_rules_of(ppi_config *config, const ppi_key *key);

extern const ppi_key ppi_keys[];
extern const size_t ppi_num_keys;

pprof_status ppi_config_defaults(ppi_config *config);
// ppi_config_apply sets what the tree gives and leaves the rest as it is. Lists
// are replaced as a whole.
pprof_status ppi_config_apply(ppi_config *config, const ppi_yaml *yaml,
                              pprof_error *error);
// ppi_config_read applies a file.
pprof_status ppi_config_read(ppi_config *config, const char *path,
                             pprof_error *error);
// ppi_config_check looks at what belongs together; call it after the last
// apply.
pprof_status ppi_config_check(const ppi_config *config, pprof_error *error);

// What the session and the flight recorder take. A choice borrows its texts
// from the configuration and from `out`.
typedef struct ppi_config_chosen {
  ppi_choice choice;
  const char *include[PPI_CONFIG_MAX_GLOBS];
  const char *exclude[PPI_CONFIG_MAX_GLOBS];
  const char *allow[PPI_CONFIG_MAX_GLOBS];
  const char *cpu[PPI_CONFIG_MAX_GLOBS];
} ppi_config_chosen;
void ppi_config_choice(const ppi_config *config, ppi_config_chosen *out);
void ppi_config_capture(const ppi_config *config, ppi_capture *out);
size_t ppi_config_conditions(const ppi_config *config,
                             ppi_rule out[PPI_CONFIG_MAX_CONDITIONS]);

// ppi_config_fixed_change answers the first key whose value differs though it
// may not change while a session runs; NULL when there is none.
const char *ppi_config_fixed_change(const ppi_config *old,
                                    const ppi_config *now);
// ppi_config_origin answers where the value of `key` came from: "default",
// "FILE:LINE:COLUMN", "PPROF_SET:1:COLUMN" or "PPROF_OUTPUT".
const char *ppi_config_origin(const ppi_config *config, const ppi_key *key);
void ppi_config_set_origin(ppi_config *config, const char *path,
                           const char *origin);

// Refuses the output `from`, whose path `path` is another's already.
pprof_status ppi_config_refuse_taken(const ppi_config_text *from,
                                     const char *path, pprof_error *error);

// ppi_config_write prints the configuration in force as YAML;
// ppi_config_write_origins has each key's origin beside it as a comment.
void ppi_config_write(const ppi_config *config, FILE *out);
void ppi_config_write_origins(const ppi_config *config, FILE *out);
// ppi_config_help prints the keys for a terminal, ppi_config_markdown the whole
// of docs/profile-yaml.md, ppi_config_json_schema that of
// docs/profile.schema.json.
void ppi_config_help(FILE *out);
void ppi_config_markdown(FILE *out);
void ppi_config_json_schema(FILE *out);

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
// "2026-11-22T10:00:00Z", with up to nine digits of a fraction.
bool ppi_parse_time(const char *text, uint64_t *out_ns);
void ppi_write_size(uint64_t bytes, FILE *out);
void ppi_write_duration(uint64_t us, FILE *out);
void ppi_write_time(uint64_t ns, FILE *out);
// The units of sizes, or of durations, with '|' between them.
void ppi_write_units(bool of_size, FILE *out);
// ppi_nearest answers the candidate that `text` was probably meant to be, NULL
// when none is near.
const char *ppi_nearest(const char *text, const char *const *candidates,
                        size_t num);
// ppi_check_template answers what is wrong with a path's %-expansions, NULL
// when nothing is. %w is for paths of a window.
const char *ppi_check_template(const char *text, bool of_window);

#ifdef __cplusplus
}
#endif

#endif  // PPI_SCHEMA_H_
