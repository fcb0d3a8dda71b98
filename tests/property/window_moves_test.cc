// SPDX-License-Identifier: Apache-2.0
//
// Whoever moves the windows, steps, times, markers, demands and new rules, all
// at once: what began is recorded, excluded or lost, and counted as such.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "pprof/mark.h"
#include "session/capture/capture_session.h"
#include "tests/support/capture_rules.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(a_site, "a", PPROF_CATEGORY_FORWARD);
PPROF_SITE(m_site, "m", PPROF_CATEGORY_FORWARD);

// Rules under which something is recorded at any time, if only to be thrown
// away, so that no marker is off.
ppi_capture Rules(unsigned which) {
  const ppi_capture_rule steps = StepsRule(0, 0, 1, 1, 0);
  switch (which % 5) {
    case 0:
      return ppi_capture{};
    case 1:
      return Capture(steps);
    case 2:
      return Capture(StepsRule(0, 0, 2, 3, 0), MarkerRule("m", 2, 3, true));
    case 3:
      return Capture(TimeRule(0, 50000, 100000), steps);
    default:
      return Capture(MarkerRule("m", 1, 1, true), steps, DemandRule());
  }
}

void Mark(int num, std::atomic<uint64_t> *begun) {
  for (int i = 0; i < num; i++) {
    pprof_push(&a_site);
    pprof_push(&m_site);
    pprof_pop();
    pprof_mark(i % 2 ? &m_site : &a_site);
    pprof_pop();
  }
  begun->fetch_add(3u * static_cast<unsigned>(num));
}

void Move(pprof_session *session, unsigned seed, int num) {
  std::mt19937 random(seed);
  uint32_t window = 0;
  for (int i = 0; i < num; i++) {
    const ppi_capture capture = Rules(random());
    const ppi_demand some_steps = {1 + random() % 3, 0};
    const ppi_demand some_time = {0, 1 + random() % 100000};
    switch (random() % 6) {
      case 0:
        ppi_session_set_capture(session, &capture);
        break;
      case 1:
        ppi_session_demand(session, &some_steps, &window);
        break;
      case 2:
        ppi_session_demand(session, &some_time, &window);
        break;
      case 3:
        ppi_session_withdraw(session);
        break;
      case 4:
        ppi_session_new_epoch(session);
        break;
      default:
        pprof_session_flush(session);
        break;
    }
  }
}

// Windows come one after the other, each opened once and closed once.
void ExpectInOrder(const std::vector<WindowCall> &windows) {
  ASSERT_EQ(0u, windows.size() % 2);
  uint64_t before_ns = 0;
  for (size_t i = 0; i < windows.size(); i++) {
    ASSERT_EQ(i / 2, windows[i].index);
    ASSERT_EQ(i % 2 == 0, windows[i].opens);
    ASSERT_LE(before_ns, windows[i].time_ns);
    before_ns = windows[i].time_ns;
  }
}

TEST(WindowMovesTest, NothingIsLostUncounted) {
  for (unsigned seed = 0; seed < 8; seed++) {
    LiveSession live;
    live.options.drain_interval_us = 200;
    ASSERT_NE(nullptr, live.Create());
    const ppi_capture capture = Rules(seed);
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_session_set_capture(live.session(), &capture));
    ASSERT_EQ(PPROF_STATUS_OK, live.Start());
    std::atomic<uint64_t> begun{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
      threads.emplace_back([&] { Mark(1500, &begun); });
    // Steps take from the table of ranges, and where it has none left they are
    // lost: in the process's lane, where nothing else is.
    threads.emplace_back([&] {
      for (int i = 0; i < 300; i++) {
        pprof_step(1);
        if (i % 20 == 0) pprof_session_flush(live.session());
      }
    });
    threads.emplace_back([&] { Move(live.session(), seed, 200); });
    for (std::thread &thread : threads) thread.join();
    ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
    EXPECT_EQ(begun, live.recording.Named("a").size() +
                         live.recording.Named("m").size() +
                         live.recording.Total(PPI_TOTAL_EXCLUDED) +
                         live.recording.Total(PPI_TOTAL_LOST) -
                         live.recording.Total(PPI_TOTAL_LOST, 0))
        << "seed " << seed;
    EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_UNMATCHED)) << seed;
    ExpectInOrder(live.recording.windows);
  }
}

}  // namespace
}  // namespace pprof_test
