// SPDX-License-Identifier: Apache-2.0
//
// Evaluates capture rules as pure functions of step number and time.
#include "rules/capture.h"

#include <string.h>

#include "base/base.h"

static int64_t at_most(unsigned __int128 ns) {
  return ns < INT64_MAX ? (int64_t)ns : INT64_MAX;
}

ppi_step_phase ppi_capture_at_time(const ppi_capture_time *rule,
                                   int64_t from_ns, int64_t now_ns,
                                   int64_t *out_next_ns) {
  ppi_step_phase phase = {PPI_PHASE_CLOSED, 0};
  __int128 begin = (__int128)from_ns + rule->delay_ns;
  *out_next_ns = INT64_MAX;
  if (now_ns < begin) {
    *out_next_ns = at_most((unsigned __int128)begin);
    return phase;
  }
  unsigned __int128 passed = (unsigned __int128)(now_ns - begin);
  uint64_t number = 0;
  if (rule->every_ns) {
    number = (uint64_t)(passed / rule->every_ns);
    begin += (__int128)number * rule->every_ns;
    passed %= rule->every_ns;
  }
  if (rule->every_ns && rule->repeat && number >= rule->repeat) return phase;
  if (passed < rule->duration_ns) {
    phase = (ppi_step_phase){PPI_PHASE_RECORD, number};
    begin += rule->duration_ns;
  } else if (rule->every_ns && number + 1 != rule->repeat) {
    begin += rule->every_ns;
  } else {
    return phase;
  }
  // A process that starts in the middle may end before its own start.
  *out_next_ns = begin < 0 ? 0 : at_most((unsigned __int128)begin);
  return phase;
}

static const char *wrong_with_steps(const ppi_schedule_rule *rule) {
  const uint64_t parts[] = {rule->skip_first, rule->wait, rule->warmup,
                            rule->active};
  uint64_t sum = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (__builtin_add_overflow(sum, parts[i], &sum)) return "too many steps";
  return rule->active ? NULL : "'active' is 0: it would never record";
}

static const char *wrong_with_time(const ppi_capture_time *rule) {
  if (rule->duration_ns == 0) return "'duration' is 0: it would never record";
  if (rule->every_ns && rule->every_ns < rule->duration_ns)
    return "'every' is shorter than 'duration'";
  if (!rule->every_ns && rule->repeat > 1) return "'repeat' needs 'every'";
  if (rule->delay_ns > INT64_MAX / 4 || rule->duration_ns > INT64_MAX / 4 ||
      rule->every_ns > INT64_MAX / 4 || rule->at_realtime_ns > INT64_MAX)
    return "a time is too long";
  return NULL;
}

static const char *wrong_with_marker(const ppi_capture_marker *rule) {
  if (!rule->name[0]) return "'marker' has no name";
  if (!memchr(rule->name, 0, sizeof rule->name)) return "'marker' is too long";
  if (rule->from == 0) return "'from' is 0: occurrences count from 1";
  return rule->from > rule->to ? "'from' is beyond 'to'" : NULL;
}

static const char *wrong_with(const ppi_capture_rule *rule) {
  switch (rule->kind) {
    case PPI_CAPTURE_STEPS:
      return wrong_with_steps(&rule->steps);
    case PPI_CAPTURE_TIME:
      return wrong_with_time(&rule->time);
    case PPI_CAPTURE_MARKER:
      return wrong_with_marker(&rule->marker);
    case PPI_CAPTURE_DEMAND:
      return NULL;
  }
  return "unknown kind of rule";
}

pprof_status ppi_capture_check(const ppi_capture *capture, pprof_error *error) {
  if (capture->num_rules > PPI_SCHEDULE_MAX_RULES)
    return ppi_fail(error, PPROF_STATUS_INVALID, "more than %u capture rules",
                    PPI_SCHEDULE_MAX_RULES);
  for (size_t i = 0; i < capture->num_rules; i++) {
    const char *wrong = wrong_with(&capture->rules[i]);
    if (wrong)
      return ppi_fail(error, PPROF_STATUS_INVALID, "capture rule %zu: %s",
                      i + 1, wrong);
  }
  return PPROF_STATUS_OK;
}

static bool same_times(const ppi_capture_time *a, const ppi_capture_time *b) {
  return a->delay_ns == b->delay_ns && a->duration_ns == b->duration_ns &&
         a->every_ns == b->every_ns && a->repeat == b->repeat &&
         a->at_realtime_ns == b->at_realtime_ns;
}

static bool same_markers(const ppi_capture_marker *a,
                         const ppi_capture_marker *b) {
  return strcmp(a->name, b->name) == 0 && a->from == b->from &&
         a->to == b->to && a->again == b->again;
}

bool ppi_capture_same_state(const ppi_capture_rule *a,
                            const ppi_capture_rule *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == PPI_CAPTURE_TIME) return same_times(&a->time, &b->time);
  return a->kind == PPI_CAPTURE_MARKER && same_markers(&a->marker, &b->marker);
}
