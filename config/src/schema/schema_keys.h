// SPDX-License-Identifier: Apache-2.0
//
// The keys of a configuration: one table (schema_rows.h), and the structure
// that its rows point into.
#pragma once

#include "inject/inject.h"
#include "machine/source.h"
#include "names/choice.h"
#include "print/lists.h"
#include "rules/schedule.h"
#include "yaml/yaml_tree.h"

PPROF_BEGIN_C_

#define PPI_CONFIG_MAX_TEXT 1024
#define PPI_CONFIG_MAX_WHERE 160
#define PPI_CONFIG_MAX_EXPORTS 16
#define PPI_CONFIG_MAX_GLOBS 64
#define PPI_CONFIG_MAX_GLOB 256  // bytes of one, its end included
#define PPI_CONFIG_MAX_CONDITIONS 16
#define PPI_CONFIG_MAX_KEYS 128

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
  uint64_t kind;  // ppi_window_kind, by the given keys
  uint64_t skip_first, skip_first_wait, wait, warmup, active, repeat;
  uint64_t steps[3];  // from, to, given
  uint64_t delay_us, duration_us, every_us;
  uint64_t at_realtime_ns;  // 0: counted from the start of the session
  ppi_config_text marker;
  uint64_t from, to, then_repeats;  // after reading, `to` is not 0
  uint64_t on_demand;
} ppi_config_window;

typedef enum ppi_export_format {
  PPI_EXPORT_CHROME = 0,
  PPI_EXPORT_LOG,    // for windows only
  PPI_EXPORT_HTML,   // for the run only, made from its log
  PPI_EXPORT_REPORT  // and a ppi_report_format
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

typedef struct ppi_config_metrics {
  ppi_config_text file, buckets;  // "": none
  uint64_t every_us;
} ppi_config_metrics;

// What `pprof-report` reads from a log, as its options: cost.md.
typedef struct ppi_config_cost {
  uint64_t given;
  ppi_config_globs models, dims, peaks;
} ppi_config_cost;

// How `pprof-report run` runs a command with this configuration.
typedef struct ppi_config_run {
  uint64_t given;
  ppi_config_globs environment;      // NAME=value
  ppi_config_globs packages, hints;  // why recording is impossible
  ppi_config_globs hooks;
} ppi_config_run;

// The backends of a configuration, with bits in this order: pprof_backend_NAME
// makes each.
#define PPI_BACKENDS(each) each(cpu) each(opencl) each(cuda) each(hip)

// The field's type of a plain key, by the key's type.
typedef uint64_t ppi_field_COUNT, ppi_field_BOOL, ppi_field_SIZE,
    ppi_field_DURATION, ppi_field_CHOICE, ppi_field_CHOICES;
typedef ppi_config_text ppi_field_TEXT, ppi_field_PATH;
typedef ppi_config_globs ppi_field_GLOBS;

typedef struct ppi_config {
#define KEY(path, type, fallback, minimum, maximum, choices, field, ...) \
  ppi_field_##type field;
#define ROW(...)
#include "schema/schema_rows.h"
#undef KEY
#undef ROW
  ppi_config_window windows[PPI_SCHEDULE_MAX_RULES];
  uint64_t num_windows;
  uint64_t waits;
  uint64_t num_categorised;  // globs of names with a category
  ppi_nvtx_rule categorised[PPI_NVTX_MAX_RULES];
  ppi_config_flight flight;
  ppi_config_control control;
  ppi_config_metrics metrics;
  ppi_config_cost cost;
  ppi_config_run run;
  ppi_nvtx_options nvtx;
  ppi_config_export exports[PPI_CONFIG_MAX_EXPORTS];
  uint64_t num_exports;
  uint64_t is_heard;  // no key: the program gets windows
  // By the key's index in ppi_keys; "": its default.
  char origins[PPI_CONFIG_MAX_KEYS][PPI_CONFIG_MAX_WHERE];
} ppi_config;

// A choice borrows its texts from the configuration and from this.
typedef struct ppi_config_chosen {
  ppi_choice choice;
  const char *include[PPI_CONFIG_MAX_GLOBS];
  const char *exclude[PPI_CONFIG_MAX_GLOBS];
  const char *allow[PPI_CONFIG_MAX_GLOBS];
  const char *cpu[PPI_CONFIG_MAX_GLOBS];
  const char *keep[PPI_CONFIG_MAX_GLOBS];
  const char *shapes[PPI_CONFIG_MAX_GLOBS];
  const char *categorised[PPI_CONFIG_MAX_GLOBS + PPI_NVTX_MAX_RULES];
  uint32_t categories[PPI_CONFIG_MAX_GLOBS + PPI_NVTX_MAX_RULES];
} ppi_config_chosen;

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
  PPI_KEY_RULES,      // a map of names to categories, or to `choices`
  PPI_KEY_CONDITIONS  // flight.conditions[]: a list of rules
} ppi_key_type;

typedef struct ppi_key {
  const char *path;  // "devices.mode"; "[]" stands for an item of a list
  ppi_key_type type;
  const char *fallback;  // as it would be written; NULL: none
  // For a path: 1, 1 if it may contain %w. For a map: 1 if `on` and `off` are
  // values, too.
  uint64_t minimum, maximum;
  const char *const *choices;  // ends with NULL
  // Offset in ppi_config, or in the item of its list. For a map: the offset of
  // its `given` mark, 0: none.
  size_t offset;
  const char *help;
  bool reloads;  // may change while a session runs
} ppi_key;

// The offset of the rules of `key`.
typedef struct ppi_config_rules {
  uint64_t *num;
  ppi_nvtx_rule *items;
  const char *const *words;  // allowed values; NULL: categories
} ppi_config_rules;

extern const ppi_key ppi_keys[];
extern const size_t ppi_num_keys;

// The errors of ppi_config_validate, in the order of the file.
typedef struct ppi_config_refusals {
  void (*report)(void *user, const pprof_error *error);
  void *user;
} ppi_config_refusals;

PPROF_END_C_
