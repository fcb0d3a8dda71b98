// SPDX-License-Identifier: Apache-2.0
//
// Step schedules as pure functions of the step number.
#include "schedule.h"

static ppi_step_phase rule_at(const ppi_schedule_rule *rule, uint64_t step) {
  ppi_step_phase closed = {PPI_PHASE_CLOSED, 0};
  uint64_t period = rule->wait + rule->warmup + rule->active;
  if (step < rule->skip_first || period == 0) return closed;
  uint64_t cycle = (step - rule->skip_first) / period;
  uint64_t at = (step - rule->skip_first) % period;
  if (rule->repeat > 0 && cycle >= rule->repeat) return closed;
  if (at < rule->wait) return closed;
  ppi_phase phase =
      at < rule->wait + rule->warmup ? PPI_PHASE_WARMUP : PPI_PHASE_RECORD;
  return (ppi_step_phase){phase, cycle};
}

// Where several rules speak, recording beats warm-up beats closed, and the
// first rule that says so names the window. The rule's index is part of the
// cycle, so that windows of two rules that touch stay two.
ppi_step_phase ppi_schedule_at(const ppi_schedule *schedule, uint64_t step) {
  if (schedule->num_rules == 0) return (ppi_step_phase){PPI_PHASE_RECORD, 0};
  ppi_step_phase best = {PPI_PHASE_CLOSED, 0};
  for (size_t i = 0; i < schedule->num_rules; i++) {
    ppi_step_phase at = rule_at(&schedule->rules[i], step);
    if (at.phase <= best.phase) continue;
    best = at;
    best.cycle = at.cycle * PPI_SCHEDULE_MAX_RULES + i;
  }
  return best;
}
