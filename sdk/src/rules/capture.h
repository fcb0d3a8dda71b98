// SPDX-License-Identifier: Apache-2.0
//
// When to capture: rules by steps, by time, by the occurrences of a marker, or
// on demand. Pure functions say what a rule wants at a moment; the session acts
// on them (windows.c).
#pragma once

#include "rules/schedule.h"

PPROF_BEGIN_C_

typedef enum ppi_capture_kind {
  PPI_CAPTURE_STEPS = 0,
  PPI_CAPTURE_TIME = 1,
  PPI_CAPTURE_MARKER = 2,
  PPI_CAPTURE_DEMAND = 3  // nothing until ppi_session_demand
} ppi_capture_kind;

// From `delay_ns` on, counted from the session's start or from `at`, for
// `duration_ns`; with `every_ns` (>= duration) again from begin to begin,
// `repeat` times (0: for ever).
typedef struct ppi_capture_time {
  uint64_t delay_ns, duration_ns, every_ns, repeat;
  uint64_t at_realtime_ns;  // of the wall clock; 0: the session's start
} ppi_capture_time;

// From the begin of the from-th to the end of the to-th occurrence (counted
// from 1 since the rule is there) of the range or mark with this name; with
// `again`, counted again from there. Occurrences count as they begin.
typedef struct ppi_capture_marker {
  char name[256];
  uint64_t from, to;
  bool again;
} ppi_capture_marker;

typedef struct ppi_capture_rule {
  ppi_capture_kind kind;
  // The one that `kind` says; the others are zero.
  ppi_schedule_rule steps;
  ppi_capture_time time;
  ppi_capture_marker marker;
} ppi_capture_rule;

typedef struct ppi_capture {
  ppi_capture_rule rules[PPI_SCHEDULE_MAX_RULES];
  size_t num_rules;  // 0: everything is recorded, one window
} ppi_capture;

// ppi_capture_check answers INVALID, with the words in `error`, for a rule that
// could never record or that makes no sense.
pprof_status ppi_capture_check(const ppi_capture *capture, pprof_error *error);

// ppi_capture_at_time says what a rule by time wants `now_ns` after the start,
// when the time that it counts from is `from_ns` (before the start: negative).
// *out_next_ns is the time of the next change, INT64_MAX: never.
ppi_step_phase ppi_capture_at_time(const ppi_capture_time *rule,
                                   int64_t from_ns, int64_t now_ns,
                                   int64_t *out_next_ns);

// Whether both rules count the same: then one goes on for the other.
bool ppi_capture_same_state(const ppi_capture_rule *a,
                            const ppi_capture_rule *b);

// The answer for a watched marker (ppi_recorder.watched_begun).
enum {
  PPI_CAPTURE_MOVED = 1,  // the epoch changed: catch up with the lane again
  PPI_CAPTURE_LAST = 2    // the end of this occurrence is to be reported
};

PPROF_END_C_
