// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder's rules as texts: conditions for a dump.
//
//   rule     = subject (">" | ">=") duration
//   subject  = "stage" name | "request" | quantile "(" name "," duration ")"
//   quantile = "p" and a percentage above 0 and below 100: p50, p99, p99.9
//   name     = between '"', with \" and \\ in it
//   duration = a decimal number and ns, us, ms, s, min or h, in one word
#pragma once

#include "pprof/event.h"

PPROF_BEGIN_C_

enum { PPI_RULE_NAME_MAX = 256, PPI_RULE_TEXT_MAX = 512, PPI_MAX_RULES = 32 };

typedef enum ppi_rule_kind {
  PPI_RULE_STAGE = 1,  // one range of that name
  PPI_RULE_REQUEST,    // all ranges of one flow, from begin to end
  PPI_RULE_QUANTILE    // of the ranges of that name that ended within over_ns
} ppi_rule_kind;

typedef struct ppi_rule {
  ppi_rule_kind kind;
  bool or_equal;          // ">=": reaching the limit is enough
  uint32_t quantile_ppm;  // of a million: p99 is 990000
  uint64_t limit_ns;
  uint64_t over_ns;  // QUANTILE
  char name[PPI_RULE_NAME_MAX];
  char text[PPI_RULE_TEXT_MAX];  // as it was written
} ppi_rule;

// ppi_rule_parse reads one rule.
//
// Errors: INVALID: *out_column (from 1) is the place of the error in `text`,
// and `why` (`size` bytes) describes it.
pprof_status ppi_rule_parse(const char *text, ppi_rule *out, size_t *out_column,
                            char *why, size_t size);

// ---- evaluation, on the collector thread ----

// Its memory is bounded by the rules, not by the run.
typedef struct ppi_rule_engine ppi_rule_engine;

// Copies the rules. NULL when out of memory.
ppi_rule_engine *ppi_rule_engine_create(const ppi_rule *rules, size_t num);
void ppi_rule_engine_destroy(ppi_rule_engine *engine);
const ppi_rule *ppi_rule_engine_rule(const ppi_rule_engine *engine, size_t i);
// True: rule `i` matched a hashed name. Its text should then stay in the
// process.
bool ppi_rule_engine_is_hashed(const ppi_rule_engine *engine, size_t i);

// Sets the name of a site, perhaps again. False when out of memory.
bool ppi_rule_engine_define(ppi_rule_engine *engine, uint32_t site,
                            const char *name);
// The rules that `event` makes true, as bits.
uint32_t ppi_rule_engine_event(ppi_rule_engine *engine,
                               const pprof_event *event);

PPROF_END_C_
