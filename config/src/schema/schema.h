// SPDX-License-Identifier: Apache-2.0
//
// The uses of the table of keys: parsing, defaults, help, documentation and the
// JSON Schema. Called by compose.c and the tool.
#pragma once

#include <stdio.h>

#include "flight/rule.h"
#include "rules/capture.h"
#include "schema/schema_keys.h"

PPROF_BEGIN_C_

// schema_rules.c: the rules of `key`.
ppi_config_rules ppi_config_rules_of(ppi_config *config, const ppi_key *key);

pprof_status ppi_config_defaults(ppi_config *config);
// ppi_config_apply sets the tree's values and leaves others as they are. Lists
// are replaced as a whole.
pprof_status ppi_config_apply(ppi_config *config, const ppi_yaml *yaml,
                              pprof_error *error);
// ppi_config_read_text applies the content of a file; messages name it
// `source`.
pprof_status ppi_config_read_text(ppi_config *config, const char *source,
                                  const char *text, pprof_error *error);
// ppi_config_read applies a file.
pprof_status ppi_config_read(ppi_config *config, const char *path,
                             pprof_error *error);
// ppi_config_validate reads a file over the defaults and continues after each
// refused value. Of values that depend on each other, it reports the first.
pprof_status ppi_config_validate(ppi_config *config, const char *path,
                                 const ppi_config_refusals *refusals);
// ppi_config_check checks values that depend on each other; call it after the
// last apply.
pprof_status ppi_config_check(const ppi_config *config, pprof_error *error);

// The settings of the session and the flight recorder.
void ppi_config_choice(const ppi_config *config, ppi_config_chosen *out);
void ppi_config_capture(const ppi_config *config, ppi_capture *out);
size_t ppi_config_conditions(const ppi_config *config,
                             ppi_rule out[PPI_CONFIG_MAX_CONDITIONS]);

bool ppi_config_same_globs(const ppi_config_globs *a,
                           const ppi_config_globs *b);
// ppi_config_fixed_change answers the first changed key that must not change
// while a session runs; NULL: none.
const char *ppi_config_fixed_change(const ppi_config *old,
                                    const ppi_config *now);
// ppi_config_origin answers the source of `key`'s value: "default",
// "FILE:LINE:COLUMN", "PPROF_SET:1:COLUMN" or "PPROF_OUTPUT".
const char *ppi_config_origin(const ppi_config *config, const ppi_key *key);
// ppi_config_is_given: not left at its default.
bool ppi_config_is_given(const ppi_config *config, const char *path);
void ppi_config_set_origin(ppi_config *config, const char *path,
                           const char *origin);

// Refuses the output `from` if another output has its path `path`.
pprof_status ppi_config_refuse_taken(const ppi_config_text *from,
                                     const char *path, pprof_error *error);

// ppi_config_write prints the configuration in force as YAML;
// ppi_config_write_origins has each key's origin beside it as a comment.
void ppi_config_write(const ppi_config *config, FILE *out);
void ppi_config_write_origins(const ppi_config *config, FILE *out);
// ppi_config_help prints the keys for a terminal, ppi_config_json_schema what
// editors read.
void ppi_config_help(FILE *out);
void ppi_config_json_schema(FILE *out);

// schema_rules.c: reads the map `node` into `rules`, which it replaces.
pprof_status ppi_config_read_rules(const ppi_yaml_node *node,
                                   const char *source,
                                   const ppi_config_rules *rules,
                                   pprof_error *error);

// schema_values.c: single values. False: `text` is invalid, or does not fit 64
// bits.
bool ppi_parse_count(const char *text, uint64_t *out);
bool ppi_parse_size(const char *text, uint64_t *out_bytes);
bool ppi_parse_duration(const char *text, uint64_t *out_us);
// true, on and yes; false, off and no.
bool ppi_parse_bool(const char *text, uint64_t *out);
// "2026-11-22T10:00:00Z", with up to nine digits of a fraction.
bool ppi_parse_time(const char *text, uint64_t *out_ns);
// A number, size or duration.
void ppi_write_number(ppi_key_type type, uint64_t value, FILE *out);
void ppi_write_time(uint64_t ns, FILE *out);
// The units of sizes, or of durations, with '|' between them.
void ppi_write_units(bool of_size, FILE *out);
// Edits (insert, delete, replace, swap of neighbours) from `a` to `b`, neither
// longer than 32 bytes; of longer ones 32.
size_t ppi_edits(const char *a, size_t a_len, const char *b, size_t b_len);
// ppi_nearest answers the candidate that `text` probably means; NULL: none is
// near.
const char *ppi_nearest(const char *text, const char *const *candidates,
                        size_t num);
// ppi_check_template answers the error in a path's %-expansions; NULL: none. %w
// is for paths of a window.
const char *ppi_check_template(const char *text, bool of_window);

PPROF_END_C_
