// SPDX-License-Identifier: Apache-2.0
//
// When to capture, by step number: Paddle's and torch's schedules as one list
// of rules. Pure functions; the session acts on them inside pprof_step.
#ifndef PPI_SCHEDULE_H_
#define PPI_SCHEDULE_H_

#include "pprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// A cycle rule: skip_first steps closed, then wait closed, warmup discarded,
// active recorded, again and again (`repeat` times; 0 = for ever). A span
// [a, b) is skip_first = a, or a - 1 with warmup 1, active = b - a, repeat = 1.
typedef struct ppi_schedule_rule {
  uint64_t skip_first, wait, warmup, active, repeat;
} ppi_schedule_rule;

#define PPI_SCHEDULE_MAX_RULES 16
typedef struct ppi_schedule {
  ppi_schedule_rule rules[PPI_SCHEDULE_MAX_RULES];
  size_t num_rules;  // 0: everything is recorded, one window
} ppi_schedule;

typedef enum ppi_phase {
  PPI_PHASE_CLOSED = 0,
  PPI_PHASE_WARMUP = 1,
  PPI_PHASE_RECORD = 2
} ppi_phase;

// ppi_schedule_at says what step `step` is. Steps of one window share `cycle`;
// where it changes from step to step, one window ends and the next begins.
typedef struct ppi_step_phase {
  ppi_phase phase;
  uint64_t cycle;
} ppi_step_phase;
ppi_step_phase ppi_schedule_at(const ppi_schedule *schedule, uint64_t step);

#ifdef __cplusplus
}
#endif

#endif  // PPI_SCHEDULE_H_
