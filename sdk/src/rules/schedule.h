// SPDX-License-Identifier: Apache-2.0
//
// When to capture, by step number: Paddle's and torch's schedules as a rule.
// Pure functions; the session acts on them inside pprof_step.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

// A cycle rule: skip_first steps closed, then wait closed, warmup discarded,
// active recorded, again and again (`repeat` times; 0 = for ever). A span
// [a, b) is skip_first = a, or a - 1 with warmup 1, active = b - a, repeat = 1.
// With skip_first_wait the first cycle has no wait.
typedef struct ppi_schedule_rule {
  uint64_t skip_first, wait, warmup, active, repeat;
  uint64_t skip_first_wait;
} ppi_schedule_rule;

#define PPI_SCHEDULE_MAX_RULES 16

typedef enum ppi_phase {
  PPI_PHASE_CLOSED = 0,
  PPI_PHASE_WARMUP = 1,
  PPI_PHASE_RECORD = 2
} ppi_phase;

// The result of one rule or of all. Steps and times of one window share
// `cycle`; where it changes, one window ends and the next begins.
typedef struct ppi_step_phase {
  ppi_phase phase;
  uint64_t cycle;
} ppi_step_phase;

// ppi_schedule_rule_at says what step `step` is.
ppi_step_phase ppi_schedule_rule_at(const ppi_schedule_rule *rule,
                                    uint64_t step);

// Where several rules speak, recording beats warm-up beats closed, and the
// first rule that says so names the window: its index is part of the cycle, so
// that windows of two rules that touch stay two. Rules come in their order.
#define PPI_PHASE_NAMES ((uint64_t)PPI_SCHEDULE_MAX_RULES + 1)
static inline void ppi_phase_prefer(ppi_step_phase *best, ppi_step_phase at,
                                    size_t rule) {
  if (at.phase <= best->phase) return;
  best->phase = at.phase;
  best->cycle = at.cycle * PPI_PHASE_NAMES + rule;
}

PPROF_END_C_
