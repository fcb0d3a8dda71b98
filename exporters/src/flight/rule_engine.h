// SPDX-License-Identifier: Apache-2.0
//
// Evaluates rules on events, on the flight recorder's collector thread. Its
// memory is bounded by the rules, not by the run.
#pragma once

#include "flight/rule.h"
#include "pprof/event.h"

PPROF_BEGIN_C_

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
