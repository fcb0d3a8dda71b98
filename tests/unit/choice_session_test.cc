// SPDX-License-Identifier: Apache-2.0
//
// What a session records under a choice: excluded markers keep the balance and
// are counted, steps stay, requests are whole or nothing, names are hashed.
#include <ctype.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "mark/thread.h"
#include "pprof/pprof.h"
#include "session/capture/capture_session.h"
#include "session/choice_session.h"
#include "spool/spool.h"
#include "tests/support/capture_rules.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_FORWARD);
PPROF_SITE(noise_site, "noise", PPROF_CATEGORY_OPERATOR);
PPROF_SITE(inner_site, "inner", PPROF_CATEGORY_OPERATOR);
PPROF_SITE(load_site, "load", PPROF_CATEGORY_DATALOADER);
PPROF_SITE(own_step_site, "noise", PPROF_CATEGORY_PROFILE_STEP);

struct Chosen {
  std::vector<const char *> include, exclude, allow;
  bool timer_only = false, hash_names = false;
  uint64_t every = 0;

  pprof_status Set(pprof_session *session) const {
    ppi_choice choice = {};
    choice.include = include.data();
    choice.num_include = include.size();
    choice.exclude = exclude.data();
    choice.num_exclude = exclude.size();
    choice.allow = allow.data();
    choice.num_allow = allow.size();
    choice.timer_only = timer_only;
    choice.hash_names = hash_names;
    choice.requests_every = every;
    return ppi_session_set_choice(session, &choice);
  }
};

class ChoiceSessionTest : public ::testing::Test {
 protected:
  void Start(const Chosen &chosen) {
    ASSERT_NE(nullptr, live_.Create());
    ASSERT_EQ(PPROF_STATUS_OK, chosen.Set(live_.session()));
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  }
  void Stop() {
    ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
    EXPECT_FALSE(live_.recording.undefined_site);
    EXPECT_EQ(0u, live_.Stats().unmatched);
    EXPECT_EQ(0u, live_.Stats().lost);
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto &event : live_.recording.events)
      names.push_back(event.name);
    return names;
  }

  LiveSession live_;
};

using Texts = std::vector<std::string>;

thread_local uint64_t clock_reads;

uint64_t CountedNow() {
  static std::atomic<uint64_t> ticks{1000000};
  clock_reads++;
  return ticks.fetch_add(10);
}

TEST_F(ChoiceSessionTest, ExcludedMarkersDoNotReadTheClock) {
  ppi_clock_inject(CountedNow, 1000000000);
  Start({{}, {"noise"}, {}});
  pprof_push(&noise_site);
  pprof_pop();
  const uint64_t before = clock_reads;
  for (int i = 0; i < 10; i++) {
    pprof_push(&noise_site);
    pprof_mark(&noise_site);
    pprof_pop();
  }
  EXPECT_EQ(before, clock_reads);
  pprof_push(&outer_site);
  pprof_pop();
  EXPECT_EQ(before + 2, clock_reads);
  Stop();
  ppi_clock_inject(nullptr, 0);
}

TEST_F(ChoiceSessionTest, ExcludedPushKeepsTheBalance) {
  Start({{}, {"noise"}, {}});
  pprof_push(&outer_site);
  pprof_push(&noise_site);
  pprof_push(&inner_site);
  pprof_pop();
  pprof_pop();
  pprof_pop();
  pprof_push_name("noise", PPROF_CATEGORY_FORWARD);
  pprof_push_name("other", PPROF_CATEGORY_FORWARD);
  pprof_pop();
  pprof_pop();
  Stop();
  EXPECT_EQ((Texts{"inner", "outer", "other"}), Names());
  EXPECT_EQ(2u, live_.Stats().excluded);
}

// What names a request inside an excluded range reaches what is inside it.
TEST_F(ChoiceSessionTest, RequestsPassThrough) {
  Start({{}, {"noise"}, {}});
  pprof_push(&outer_site);
  pprof_flow(5);
  pprof_push(&noise_site);
  pprof_push(&inner_site);
  pprof_flow(6);
  pprof_pop();
  pprof_pop();
  pprof_push(&inner_site);
  pprof_pop();
  pprof_pop();
  Stop();
  auto inner = live_.recording.Named("inner");
  ASSERT_EQ(2u, inner.size());
  EXPECT_EQ((std::vector<uint64_t>{5, 6}), inner[0].flows);
  EXPECT_EQ((std::vector<uint64_t>{5}), inner[1].flows);
}

uint64_t num_readings;
uint64_t CountReadings() {
  return ++num_readings;
}

TEST_F(ChoiceSessionTest, ExcludedPushReadsNoClock) {
  ppi_clock_inject(CountReadings, 1000000000);
  live_.options.drain_interval_us = kKeptAwayUs;
  Start({{}, {"noise"}, {}});
  pprof_push(&noise_site);  // the thread has a lane from here on
  uint64_t before = num_readings;
  pprof_push(&noise_site);
  pprof_push_name("noise", PPROF_CATEGORY_FORWARD);
  EXPECT_EQ(before, num_readings);
  for (int i = 0; i < 3; i++) pprof_pop();
  Stop();
  ppi_clock_inject(nullptr, 0);
  EXPECT_EQ(3u, live_.Stats().excluded);
}

// The first call decides; the others end at the inline test, uncounted.
TEST_F(ChoiceSessionTest, ExcludedScopeEndsInline) {
  Start({{}, {"no*"}, {}});
  static pprof_site site = {"noise", PPROF_CATEGORY_FORWARD, 0, 0, {0, 0}};
  for (int i = 0; i < 5; i++) {
    pprof_scope_token token = pprof_scope_enter_(&site);
    EXPECT_EQ(i == 0, token.lane != nullptr);
    pprof_push(&inner_site);
    pprof_pop();
    pprof_scope_exit_(&token);
  }
  Stop();
  EXPECT_EQ(5u, live_.recording.events.size());
  EXPECT_EQ(5u, live_.recording.Named("inner").size());
  EXPECT_EQ(1u, live_.Stats().excluded);
}

// What is said inside it is not wanted, either.
TEST_F(ChoiceSessionTest, ExcludedScopeLosesNothing) {
  Start({{}, {"noise"}, {}});
  const pprof_work_amount work = {sizeof work, 1, 0, 0, 0};
  for (int i = 0; i < 2; i++) {
    PPROF_SCOPE("noise");
    pprof_flow(5);
    pprof_work(&work);
  }
  Stop();
  EXPECT_EQ(0u, live_.Stats().flows_lost);
}

// Ranges that an edge has cut were there when the request was named.
TEST_F(ChoiceSessionTest, CutRangesLoseNoRequests) {
  Start({});
  pprof_push(&outer_site);
  pprof_range range = pprof_range_begin(&load_site);
  ASSERT_EQ(PPROF_STATUS_OK, Chosen().Set(live_.session()));
  ASSERT_EQ(PPROF_STATUS_OK, live_.Flush());
  pprof_flow(5);
  pprof_range_flow(range, 5);
  pprof_range_end(range);
  pprof_pop();
  pprof_flow(5);
  pprof_range_flow(range, 5);
  Stop();
  EXPECT_EQ(2u, live_.Stats().clipped);
  EXPECT_EQ(2u, live_.Stats().begun_before);
  EXPECT_EQ(2u, live_.Stats().flows_lost);
}

TEST_F(ChoiceSessionTest, EveryKindOfMarker) {
  Start({{"inner"}, {}, {}});
  pprof_mark(&noise_site);
  pprof_count(&noise_site, 3);
  pprof_range range = pprof_range_begin(&noise_site);
  EXPECT_EQ(0u, range.id);
  pprof_range_flow(range, 4);
  pprof_range_end(range);
  pprof_device_push(nullptr, nullptr, &noise_site);
  const pprof_work_amount work = {sizeof work, 1, 0, 0, 0};
  pprof_device_work(nullptr, nullptr, &work);
  pprof_device_pop(nullptr, nullptr);
  range = pprof_device_range_begin(nullptr, nullptr, &noise_site);
  EXPECT_EQ(0u, range.id);
  pprof_device_next(nullptr, nullptr, &noise_site);
  pprof_device_pop(nullptr, nullptr);
  pprof_mark(&inner_site);
  pprof_count(&inner_site, 3);
  pprof_range_end(pprof_range_begin(&inner_site));
  ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_EQ(3u, live_.recording.events.size());
  EXPECT_EQ(3u, live_.recording.Named("inner").size());
  EXPECT_EQ(6u, live_.Stats().excluded);
  EXPECT_EQ(0u, live_.Stats().lost);
  EXPECT_EQ(0u, live_.Stats().flows_lost);
  EXPECT_EQ(1u, live_.Stats().unmatched);  // pprof_device_next with none open
}

TEST_F(ChoiceSessionTest, StepsStay) {
  Start({{"inner"}, {"ProfileStep", "noise"}, {}});
  pprof_step(1);
  pprof_push(&own_step_site);
  pprof_pop();
  pprof_step(1);
  Stop();
  EXPECT_EQ(1u, live_.recording.Named("noise").size());
  EXPECT_EQ(3u, live_.recording.Named("ProfileStep").size());
}

TEST_F(ChoiceSessionTest, TimerOnly) {
  Chosen chosen;
  chosen.timer_only = true;
  Start(chosen);
  pprof_push(&outer_site);
  pprof_push(&load_site);
  pprof_mark(&load_site);
  pprof_count(&load_site, 2);
  pprof_pop();
  pprof_pop();
  pprof_range_end(pprof_range_begin(&load_site));
  pprof_step(1);
  Stop();
  EXPECT_EQ(2u, live_.recording.Named("load").size());
  EXPECT_EQ(2u, live_.recording.Named("ProfileStep").size());
  EXPECT_EQ(4u, live_.recording.events.size());
  EXPECT_EQ(3u, live_.Stats().excluded);
}

TEST_F(ChoiceSessionTest, ChangesWhileItRuns) {
  Start({{}, {"noise"}, {}});
  auto both = [] {
    pprof_push(&noise_site);
    pprof_push_name("inner", PPROF_CATEGORY_FORWARD);
    pprof_pop();
    pprof_pop();
  };
  both();
  EXPECT_EQ(PPROF_STATUS_OK, Chosen({{}, {"inner"}, {}}).Set(live_.session()));
  both();
  EXPECT_EQ(PPROF_STATUS_OK, Chosen().Set(live_.session()));
  both();
  Stop();
  EXPECT_EQ((Texts{"inner", "noise", "inner", "noise"}), Names());
  EXPECT_EQ(2u, live_.Stats().excluded);
  EXPECT_EQ(2u, live_.recording.windows.size());  // one, opened and closed
}

TEST_F(ChoiceSessionTest, WhatCannotChange) {
  Start({{}, {"noise"}, {}});
  Chosen changed;
  changed.hash_names = true;
  EXPECT_EQ(PPROF_STATUS_INVALID, changed.Set(live_.session()));
  changed = {};
  changed.timer_only = true;
  EXPECT_EQ(PPROF_STATUS_INVALID, changed.Set(live_.session()));
  changed = {};
  changed.every = 2;
  EXPECT_EQ(PPROF_STATUS_INVALID, changed.Set(live_.session()));
  changed = {};
  changed.allow = {"a"};
  EXPECT_EQ(PPROF_STATUS_INVALID, changed.Set(live_.session()));
  pprof_push(&noise_site);
  pprof_pop();
  Stop();
  EXPECT_EQ(1u, live_.Stats().excluded);
  EXPECT_EQ(PPROF_STATUS_BUSY, Chosen().Set(live_.session()));
}

// 3 to 8 and 12 are kept of one in four, 1 and 2 are not (choice_test).
TEST_F(ChoiceSessionTest, RequestsWholeOrNothing) {
  Chosen chosen;
  chosen.every = 4;
  Start(chosen);
  auto serve = [](std::vector<uint64_t> requests) {
    pprof_push(&outer_site);
    for (uint64_t request : requests) pprof_flow(request);
    pprof_mark(&inner_site);
    pprof_pop();
    pprof_range range = pprof_range_begin(&load_site);
    for (uint64_t request : requests) pprof_range_flow(range, request);
    pprof_range_end(range);
  };
  serve({});
  serve({1});
  serve({3});
  serve({2, 4, 1});
  serve({9, 10, 11, 13, 14, 15, 16});
  Stop();
  for (const char *name : {"outer", "inner", "load"}) {
    auto found = live_.recording.Named(name);
    ASSERT_EQ(3u, found.size()) << name;
    EXPECT_TRUE(found[0].flows.empty());
    EXPECT_EQ((std::vector<uint64_t>{3}), found[1].flows);
    EXPECT_EQ((std::vector<uint64_t>{4}), found[2].flows);
  }
  EXPECT_EQ(6u, live_.Stats().excluded);
}

// A checkpoint's promise is kept without the request.
TEST_F(ChoiceSessionTest, RangeToldToBeOpenComes) {
  Chosen chosen;
  chosen.every = 4;
  Start(chosen);
  pprof_push(&outer_site);
  pprof_range range = pprof_range_begin(&load_site);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Flush());
  pprof_flow(1);
  pprof_range_flow(range, 1);
  pprof_push(&inner_site);
  pprof_pop();
  pprof_range_end(range);
  pprof_pop();
  Stop();
  ASSERT_EQ(2u, live_.recording.events.size());
  for (const auto &event : live_.recording.events)
    EXPECT_TRUE(event.flows.empty());
  EXPECT_EQ(1u, live_.Stats().excluded);
}

TEST_F(ChoiceSessionTest, HashedNames) {
  static const uint32_t secret =
      pprof_category_register("secret kind of thing");
  Chosen chosen;
  chosen.hash_names = true;
  chosen.allow = {"in?er"};
  chosen.exclude = {"noise"};
  Start(chosen);
  for (int i = 0; i < 2; i++) {
    pprof_push_name("abc", secret);
    pprof_push(&inner_site);
    pprof_pop();
    pprof_pop();
    pprof_push_name("noise", secret);
    pprof_pop();
  }
  pprof_push_name("hush", secret);
  pprof_pop();
  std::thread([] {
    pprof_thread_name("secret worker");
    pprof_push(&outer_site);
    pprof_pop();
  }).join();
  pprof_step(1);
  const ppi_spool &spool = ppi_recorder_in_force.spool;
  const std::string bytes(static_cast<const char *>(
                              ppi_spool_chunk(&spool, spool.header->names[0])),
                          PPI_CHUNK_SIZE);
  Stop();
  EXPECT_EQ(2u, live_.recording.Named("#ba7816bf8f01").size());
  EXPECT_EQ(2u, live_.recording.Named("inner").size());
  EXPECT_EQ(2u, live_.recording.Named("ProfileStep").size());
  EXPECT_EQ(2u, live_.Stats().excluded);
  // Not "abc": a run's number may have it by chance.
  for (const char *clear : {"hush", "secret", "outer", "worker"})
    EXPECT_EQ(std::string::npos, bytes.find(clear)) << clear;
  for (const auto &lane : live_.recording.lanes)
    EXPECT_EQ(lane.first ? '#' : 'p', lane.second[0]) << lane.second;
  EXPECT_EQ("process", live_.recording.lanes[0]);
}

// ---- watched names ----

class WatchTest : public ChoiceSessionTest {
 protected:
  void Begin(const ppi_capture &capture, const Chosen &chosen = {}) {
    ASSERT_NE(nullptr, live_.Create());
    ASSERT_EQ(PPROF_STATUS_OK, chosen.Set(live_.session()));
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_session_set_capture(live_.session(), &capture));
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  }
  // A number to tell rounds by, in a range of its own.
  static void Round(int i, const std::function<void()> &marker) {
    pprof_push_name(("round " + std::to_string(i)).c_str(),
                    PPROF_CATEGORY_FORWARD);
    pprof_pop();
    marker();
  }
};

struct Marker {
  const char *what;
  void (*run)();
};

void InTheMiddle() {
  pprof_push(&inner_site);
  pprof_pop();
}

const Marker kMarkers[] = {{"push",
                            [] {
                              pprof_push(&outer_site);
                              InTheMiddle();
                              pprof_pop();
                            }},
                           {"name",
                            [] {
                              pprof_push_name("outer", PPROF_CATEGORY_FORWARD);
                              InTheMiddle();
                              pprof_pop();
                            }},
                           {"scope",
                            [] {
                              PPROF_SCOPE("outer");
                              InTheMiddle();
                            }},
                           {"cross_thread",
                            [] {
                              pprof_range range =
                                  pprof_range_begin(&outer_site);
                              InTheMiddle();
                              pprof_range_end(range);
                            }},
                           {"device push",
                            [] {
                              pprof_device_push(nullptr, nullptr, &outer_site);
                              InTheMiddle();
                              pprof_device_pop(nullptr, nullptr);
                            }},
                           {"device range", [] {
                              pprof_range range = pprof_device_range_begin(
                                  nullptr, nullptr, &outer_site);
                              InTheMiddle();
                              pprof_device_range_end(range, nullptr);
                            }}};

class WatchEachTest : public WatchTest,
                      public ::testing::WithParamInterface<Marker> {};

// From the begin of the second to the end of the third of five.
TEST_P(WatchEachTest, OpensAndCloses) {
  Begin(Capture(MarkerRule("outer", 2, 3)));
  for (int i = 1; i <= 5; i++) Round(i, GetParam().run);
  Stop();
  EXPECT_EQ(2u, live_.recording.Named("outer").size());
  EXPECT_EQ(2u, live_.recording.Named("inner").size());
  EXPECT_EQ(1u, live_.recording.Named("round 3").size());
  EXPECT_EQ(5u, live_.recording.events.size());
  EXPECT_EQ(0u, live_.Stats().excluded);
  EXPECT_EQ(0u, live_.Stats().clipped);
  EXPECT_EQ(0u, live_.Stats().begun_before);
}

// Not recorded itself, it opens and closes all the same.
TEST_P(WatchEachTest, ExcludedOneCounts) {
  Begin(Capture(MarkerRule("outer", 2, 3)), {{}, {"outer"}, {}});
  for (int i = 1; i <= 5; i++) Round(i, GetParam().run);
  Stop();
  EXPECT_EQ(0u, live_.recording.Named("outer").size());
  EXPECT_EQ(2u, live_.recording.Named("inner").size());
  EXPECT_EQ(1u, live_.recording.Named("round 3").size());
  EXPECT_EQ(3u, live_.recording.events.size());
  EXPECT_EQ(2u, live_.Stats().excluded);
}

INSTANTIATE_TEST_SUITE_P(All, WatchEachTest, ::testing::ValuesIn(kMarkers),
                         [](const ::testing::TestParamInfo<Marker> &marker) {
                           std::string name = marker.param.what;
                           for (char &c : name)
                             if (!isalnum((unsigned char)c)) c = '_';
                           return name;
                         });

TEST_F(WatchTest, Mark) {
  Begin(Capture(MarkerRule("outer", 2, 2, true)));
  for (int i = 1; i <= 5; i++)
    Round(i, [] {
      pprof_count(&outer_site, 1);  // no occurrence
      pprof_mark(&outer_site);
    });
  Stop();
  EXPECT_EQ(2u, live_.recording.events.size());
  EXPECT_EQ(2u, live_.recording.Named("outer").size());
  EXPECT_EQ(4u, live_.recording.windows.size());
}

// Ended by the scope around it, and by the end of its thread.
TEST_F(WatchTest, AbandonedOnesEnd) {
  Begin(Capture(MarkerRule("outer", 1, 2, true)));
  {
    PPROF_SCOPE("outer");
    pprof_push(&outer_site);
  }
  pprof_mark(&inner_site);
  std::thread([] {
    pprof_push(&outer_site);
    pprof_push(&outer_site);
  }).join();
  pprof_mark(&inner_site);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_EQ(4u, live_.recording.Named("outer").size());
  EXPECT_EQ(0u, live_.recording.Named("inner").size());
  EXPECT_EQ(4u, live_.recording.windows.size());
  EXPECT_EQ(3u, live_.Stats().abandoned);
}

// One too deep to be kept, and to be told when it ends.
TEST_F(WatchTest, LostOneEnds) {
  Begin(Capture(MarkerRule("outer", 1, 2, true)));
  pprof_push(&outer_site);
  for (int i = 0; i < 600; i++) pprof_push(&inner_site);
  pprof_push(&outer_site);
  for (int i = 0; i < 602; i++) pprof_pop();
  ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_EQ(2u, live_.recording.windows.size());
  EXPECT_EQ(1u, live_.recording.Named("outer").size());
  EXPECT_EQ(511u, live_.recording.Named("inner").size());
  EXPECT_EQ(90u, live_.Stats().lost);
}

TEST_F(WatchTest, HashedNameIsWatched) {
  Chosen chosen;
  chosen.hash_names = true;
  Begin(Capture(MarkerRule("abc", 2, 2)), chosen);
  for (int i = 0; i < 3; i++) {
    pprof_push_name("abc", PPROF_CATEGORY_FORWARD);
    pprof_pop();
  }
  Stop();
  EXPECT_EQ(1u, live_.recording.events.size());
  EXPECT_EQ(1u, live_.recording.Named("#ba7816bf8f01").size());
}

}  // namespace
}  // namespace pprof_test
