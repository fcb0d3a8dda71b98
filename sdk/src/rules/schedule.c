// SPDX-License-Identifier: Apache-2.0
//
// Evaluates step schedules as pure functions of the step number.
#include "rules/schedule.h"

ppi_step_phase ppi_schedule_rule_at(const ppi_schedule_rule *rule,
                                    uint64_t step) {
  ppi_step_phase closed = {PPI_PHASE_CLOSED, 0};
  uint64_t period = rule->wait + rule->warmup + rule->active;
  if (step < rule->skip_first || period == 0) return closed;
  uint64_t passed = step - rule->skip_first;
  if (rule->skip_first_wait) passed += rule->wait;
  uint64_t cycle = passed / period;
  uint64_t at = passed % period;
  if (rule->repeat > 0 && cycle >= rule->repeat) return closed;
  if (at < rule->wait) return closed;
  ppi_phase phase =
      at < rule->wait + rule->warmup ? PPI_PHASE_WARMUP : PPI_PHASE_RECORD;
  return (ppi_step_phase){phase, cycle};
}
