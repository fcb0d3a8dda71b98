// SPDX-License-Identifier: Apache-2.0
//
// One marker, and nothing after it until the collector has taken what it left:
// what publishes a record is the marker's own store, not one that comes later.
// For the thread sanitizer; what is taken must be right as well.
#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <functional>

#include "pprof/mark.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(plain_site, "plain", PPROF_CATEGORY_USER_DEFINED);

class PublishTest : public ::testing::Test {
 protected:
  void SetUp() override {
    live_.options.drain_interval_us = 100;
    // Relaxed, so that waiting for it orders nothing.
    live_.recording.ready = [this] {
      num_taken_.store(live_.recording.events.size(),
                       std::memory_order_relaxed);
      return true;
    };
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
    pprof_mark(&plain_site);
  }

  void Each(const std::function<void()> &mark) {
    for (uint64_t i = 1; i <= kRounds; i++) {
      while (num_taken_.load(std::memory_order_relaxed) < i) sched_yield();
      mark();
    }
    ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
    EXPECT_EQ(1 + kRounds, live_.recording.Named("plain").size());
    EXPECT_EQ(1 + kRounds, live_.recording.Total(PPI_TOTAL_RECORDED));
  }

  static constexpr uint64_t kRounds = 30;
  std::atomic<uint64_t> num_taken_{0};
  LiveSession live_;
};

TEST_F(PublishTest, Ranges) {
  Each([] {
    pprof_push(&plain_site);
    pprof_pop();
  });
}

TEST_F(PublishTest, Scopes) {
  Each([] { PPROF_SCOPE("plain"); });
}

TEST_F(PublishTest, RangesWithFlows) {
  Each([] {
    pprof_push(&plain_site);
    pprof_flow(1);
    pprof_flow(2);
    pprof_pop();
  });
}

TEST_F(PublishTest, Marks) {
  Each([] { pprof_mark(&plain_site); });
}

TEST_F(PublishTest, Counters) {
  Each([] { pprof_count(&plain_site, 1.5); });
}

TEST_F(PublishTest, RangesThatWander) {
  Each([] { pprof_range_end(pprof_range_begin(&plain_site)); });
}

}  // namespace
}  // namespace pprof_test
