// SPDX-License-Identifier: Apache-2.0
//
// Capture rules in one line each, for tests.
#pragma once

#include <cstdio>
#include <string>

#include "rules/capture.h"

namespace pprof_test {

inline ppi_capture_rule StepsRule(uint64_t skip_first, uint64_t wait,
                                  uint64_t warmup, uint64_t active,
                                  uint64_t repeat) {
  ppi_capture_rule rule = {};
  rule.kind = PPI_CAPTURE_STEPS;
  rule.steps.skip_first = skip_first;
  rule.steps.wait = wait;
  rule.steps.warmup = warmup;
  rule.steps.active = active;
  rule.steps.repeat = repeat;
  return rule;
}

inline ppi_capture_rule TimeRule(uint64_t delay_ns, uint64_t duration_ns,
                                 uint64_t every_ns = 0, uint64_t repeat = 0) {
  ppi_capture_rule rule = {};
  rule.kind = PPI_CAPTURE_TIME;
  rule.time.delay_ns = delay_ns;
  rule.time.duration_ns = duration_ns;
  rule.time.every_ns = every_ns;
  rule.time.repeat = repeat;
  return rule;
}

inline ppi_capture_rule MarkerRule(const std::string &name, uint64_t from,
                                   uint64_t to, bool again = false) {
  ppi_capture_rule rule = {};
  rule.kind = PPI_CAPTURE_MARKER;
  snprintf(rule.marker.name, sizeof rule.marker.name, "%s", name.c_str());
  rule.marker.from = from;
  rule.marker.to = to;
  rule.marker.again = again;
  return rule;
}

inline ppi_capture_rule DemandRule() {
  ppi_capture_rule rule = {};
  rule.kind = PPI_CAPTURE_DEMAND;
  return rule;
}

template <typename... Rules>
ppi_capture Capture(const Rules &...rules) {
  ppi_capture capture = {};
  ((capture.rules[capture.num_rules++] = rules), ...);
  return capture;
}

// The commonest: one cycle of steps.
inline ppi_capture Cycle(uint64_t skip_first, uint64_t wait, uint64_t warmup,
                         uint64_t active, uint64_t repeat) {
  return Capture(StepsRule(skip_first, wait, warmup, active, repeat));
}

// The phase by step rules at `step`; without rules all steps are recorded.
inline ppi_step_phase AtStep(const ppi_capture &capture, uint64_t step) {
  ppi_step_phase best = {
      capture.num_rules ? PPI_PHASE_CLOSED : PPI_PHASE_RECORD, 0};
  for (size_t i = 0; i < capture.num_rules; i++)
    if (capture.rules[i].kind == PPI_CAPTURE_STEPS)
      ppi_phase_prefer(&best,
                       ppi_schedule_rule_at(&capture.rules[i].steps, step), i);
  return best;
}

}  // namespace pprof_test
