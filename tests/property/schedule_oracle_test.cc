// SPDX-License-Identifier: Apache-2.0
//
// Schedules of the public API, run for random parameters, beside Paddle's
// make_scheduler and tuple, and torch's schedule, as their sources define them.
#include <gtest/gtest.h>
#include <pprof/mark.h>

#include <map>
#include <random>
#include <vector>

#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(inside_site, "inside", PPROF_CATEGORY_USER_DEFINED);

enum State { kClosed, kReady, kRecord, kRecordAndReturn };

// Paddle: make_scheduler(closed, ready, record, repeat, skip_first).
State Paddle(const pprof_schedule &of, uint64_t step) {
  const uint64_t closed = of.wait, ready = of.warmup, record = of.active;
  if (step < of.skip_first) return kClosed;
  const uint64_t s = step - of.skip_first;
  const uint64_t period = closed + ready + record;
  if (of.repeat > 0 && s / period >= of.repeat) return kClosed;
  const uint64_t mod = s % period;
  if (mod < closed) return kClosed;
  if (mod < closed + ready) return kReady;
  return mod < period - 1 ? kRecord : kRecordAndReturn;
}

// torch: schedule(wait, warmup, active, repeat, skip_first, skip_first_wait).
State Torch(const pprof_schedule &of, uint64_t step) {
  if (step < of.skip_first) return kClosed;
  step -= of.skip_first;
  if (of.skip_first_wait != 0) step += of.wait;
  const uint64_t steps = of.wait + of.warmup + of.active;
  if (of.repeat > 0 && step / steps >= of.repeat) return kClosed;
  const uint64_t mod = step % steps;
  if (mod < of.wait) return kClosed;
  if (mod < of.wait + of.warmup) return kReady;
  return mod < steps - 1 ? kRecord : kRecordAndReturn;
}

// Paddle: scheduler=(a, b): steps [a, b), with the step before as READY.
State PaddleTuple(uint64_t a, uint64_t b, uint64_t step) {
  if (step >= a && step < b) return step == b - 1 ? kRecordAndReturn : kRecord;
  return a > 0 && step == a - 1 ? kReady : kClosed;
}

// The window of each recorded step, and the windows reported. The stop reports
// the last one if the run ends in it.
struct Outcome {
  std::map<uint64_t, uint32_t> steps;
  std::vector<uint32_t> told;
};

template <typename StateOf>
Outcome Expected(uint64_t num_steps, StateOf state_of) {
  Outcome expected;
  uint32_t window = 0;
  bool is_open = false;
  for (uint64_t step = 0; step < num_steps; step++) {
    const State state = state_of(step);
    if (state < kRecord) continue;
    expected.steps[step] = window;
    is_open = state == kRecord;
    if (!is_open) expected.told.push_back(window++);
  }
  if (is_open) expected.told.push_back(window);
  return expected;
}

void Tell(void *user, uint32_t window, const pprof_report *report) {
  EXPECT_NE(nullptr, report);
  static_cast<std::vector<uint32_t> *>(user)->push_back(window);
}

// A range in each step, which carries the step's number.
Outcome Record(const pprof_schedule &schedule, uint64_t num_steps) {
  Outcome got;
  Recording recording;
  pprof_session *session = nullptr;
  EXPECT_EQ(PPROF_STATUS_OK, pprof_session_create(nullptr, &session, nullptr));
  EXPECT_EQ(PPROF_STATUS_OK,
            pprof_session_add_sink(session, RecordingSink::Make(&recording)));
  EXPECT_EQ(PPROF_STATUS_OK, pprof_session_set_schedule(session, &schedule));
  EXPECT_EQ(PPROF_STATUS_OK, pprof_session_on_window(session, Tell, &got.told));
  EXPECT_EQ(PPROF_STATUS_OK, pprof_session_start(session));
  for (uint64_t step = 0; step < num_steps; step++) {
    if (step > 0) pprof_step(0);
    pprof_push(&inside_site);
    pprof_flow(step + 1);
    pprof_pop();
  }
  EXPECT_EQ(PPROF_STATUS_OK, pprof_session_stop(session, nullptr));
  for (const RecordedEvent &event : recording.Named("inside"))
    got.steps[event.flows.at(0) - 1] = event.event.window;
  pprof_session_destroy(session);
  return got;
}

template <typename StateOf>
void Compare(const pprof_schedule &schedule, StateOf state_of) {
  const uint64_t num_steps = 30;
  const Outcome expected = Expected(num_steps, state_of);
  const Outcome got = Record(schedule, num_steps);
  SCOPED_TRACE(testing::Message()
               << "skip_first " << schedule.skip_first << " wait "
               << schedule.wait << " warmup " << schedule.warmup << " active "
               << schedule.active << " repeat " << schedule.repeat
               << " skip_first_wait " << schedule.skip_first_wait);
  EXPECT_EQ(expected.steps, got.steps);
  EXPECT_EQ(expected.told, got.told);
}

TEST(ScheduleOracleTest, RandomCyclesAreThoseOfPaddleAndTorch) {
  std::mt19937_64 random(2);
  const auto below = [&](uint64_t n) { return random() % n; };
  for (int i = 0; i < 40; i++) {
    const pprof_schedule schedule = {sizeof schedule, below(5),     below(4),
                                     below(3),        1 + below(4), below(4),
                                     below(2)};
    Compare(schedule, [&](uint64_t step) { return Torch(schedule, step); });
    if (schedule.skip_first_wait == 0)
      Compare(schedule, [&](uint64_t step) { return Paddle(schedule, step); });
  }
}

TEST(ScheduleOracleTest, RandomSpansAreThoseOfPaddle) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 12; i++) {
    const uint64_t a = random() % 6, b = a + 1 + random() % 6;
    Compare(pprof_schedule_span(a, b),
            [&](uint64_t step) { return PaddleTuple(a, b, step); });
  }
}

// Typed from the examples of both.
TEST(ScheduleOracleTest, WorkedExamples) {
  const pprof_schedule cycles = {sizeof cycles, 1, 1, 1, 2, 2, 0};
  const std::map<uint64_t, uint32_t> steps = {{3, 0}, {4, 0}, {7, 1}, {8, 1}};
  EXPECT_EQ(steps, Record(cycles, 11).steps);
  const pprof_schedule no_first_wait = {sizeof cycles, 1, 1, 1, 2, 2, 1};
  const std::map<uint64_t, uint32_t> earlier = {{2, 0}, {3, 0}, {6, 1}, {7, 1}};
  EXPECT_EQ(earlier, Record(no_first_wait, 11).steps);
  const std::map<uint64_t, uint32_t> span = {{3, 0}, {4, 0}, {5, 0}};
  EXPECT_EQ(span, Record(pprof_schedule_span(3, 6), 8).steps);
}

TEST(ScheduleOracleTest, WhatIsNoSchedule) {
  pprof_session *session = nullptr;
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_create(nullptr, &session, nullptr));
  pprof_schedule schedule = {sizeof schedule, 0, 0, 0, 1, 0, 0};
  EXPECT_EQ(PPROF_STATUS_INVALID,
            pprof_session_set_schedule(nullptr, &schedule));
  EXPECT_EQ(PPROF_STATUS_OK, pprof_session_set_schedule(session, nullptr));
  schedule.size = 0;
  EXPECT_EQ(PPROF_STATUS_INVALID,
            pprof_session_set_schedule(session, &schedule));
  const pprof_schedule none = pprof_schedule_span(4, 4);
  EXPECT_EQ(PPROF_STATUS_INVALID, pprof_session_set_schedule(session, &none));
  const pprof_schedule much = {sizeof much, UINT64_MAX, 1, 0, 1, 0, 0};
  EXPECT_EQ(PPROF_STATUS_INVALID, pprof_session_set_schedule(session, &much));
  pprof_session_destroy(session);
}

// While it runs: from the next step on, counted from the start.
TEST(ScheduleOracleTest, ARunningSessionTakesAnother) {
  Recording recording;
  pprof_session *session = nullptr;
  const pprof_schedule never = {sizeof never, 1000, 0, 0, 1, 1, 0};
  const pprof_schedule third = pprof_schedule_span(2, 3);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_create(nullptr, &session, nullptr));
  ASSERT_EQ(PPROF_STATUS_OK,
            pprof_session_add_sink(session, RecordingSink::Make(&recording)));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_set_schedule(session, &never));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session));
  pprof_step(0);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_set_schedule(session, &third));
  pprof_step(0);
  pprof_push(&inside_site);
  pprof_pop();
  pprof_step(0);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_stop(session, nullptr));
  EXPECT_EQ(1u, recording.Named("inside").size());
  EXPECT_EQ(PPROF_STATUS_BUSY, pprof_session_set_schedule(session, &third));
  pprof_session_destroy(session);
}

}  // namespace
}  // namespace pprof_test
