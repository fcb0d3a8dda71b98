// SPDX-License-Identifier: Apache-2.0
//
// The scripted device does what its script says. Expected times are worked out
// by hand from the model in its header.
#include "scripted_backend.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

std::atomic<uint64_t> host_ns{0};

uint64_t HostNow() {
  return host_ns;
}

class ScriptedBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    host_ns = 1000000000;
    script_.now = HostNow;
  }

  // `enter` makes this thread the collector's.
  void Start(bool enter = true) {
    fake_ = scripted_device_create(&script_);
    backend_ = scripted_device_backend(fake_);
    ASSERT_EQ(backend_->open(scripted_device_index(fake_), &context_, nullptr),
              PPROF_STATUS_OK);
    if (enter) {
      ASSERT_EQ(backend_->collector_enter(context_), PPROF_STATUS_OK);
    }
    stream_ = scripted_stream_create(fake_, 5);
  }

  std::vector<void *> Create(size_t num, uint64_t pool = 5) {
    std::vector<void *> events(num);
    EXPECT_EQ(backend_->event_create(context_, pool, num, events.data()),
              PPROF_STATUS_OK);
    return events;
  }

  pprof_status Record(void *event) {
    return backend_->event_record(context_, event, stream_);
  }

  pprof_status Query(void *event) {
    return backend_->event_query(context_, event);
  }

  int64_t Elapsed(void *from, void *to) {
    int64_t ns = -1;
    EXPECT_EQ(backend_->event_elapsed(context_, from, to, &ns),
              PPROF_STATUS_OK);
    return ns;
  }

  scripted_script script_ = {};
  scripted_device *fake_ = nullptr;
  const pprof_backend *backend_ = nullptr;
  void *context_ = nullptr;
  void *stream_ = nullptr;
};

TEST_F(ScriptedBackendTest, ClockIsSkewedDriftsAndIsCoarse) {
  script_.caps = PPROF_BACKEND_ABSOLUTE_TIME;
  script_.skew_ns = -500000007;
  script_.drift_ppb = 6600;
  script_.resolution_ns = 32;
  Start();
  // 1 s later: 2000000000 - 500000007 + 6600 = 1500006593, down to 32: ...592
  EXPECT_EQ(scripted_device_clock(fake_, 2000000000), 1500006592);
  auto events = Create(1);
  host_ns = 2000000000;
  ASSERT_EQ(Record(events[0]), PPROF_STATUS_OK);
  EXPECT_EQ(Elapsed(nullptr, events[0]), 1500006592);
}

TEST_F(ScriptedBackendTest, ElapsedIsAFloatOfMilliseconds) {
  Start();
  auto events = Create(2);
  ASSERT_EQ(Record(events[0]), PPROF_STATUS_OK);
  host_ns += 4000000100;
  ASSERT_EQ(Record(events[1]), PPROF_STATUS_OK);
  // 4000.0001 ms lies between floats 2^-12 ms = 244 ns apart: 4000 ms.
  EXPECT_EQ(Elapsed(events[0], events[1]), 4000000000);
  int64_t ns;
  EXPECT_EQ(backend_->event_elapsed(context_, nullptr, events[1], &ns),
            PPROF_STATUS_UNSUPPORTED);
  EXPECT_EQ(scripted_device_num_violations(fake_), 0u);
}

TEST_F(ScriptedBackendTest, FaultsComeWhenScripted) {
  script_.fail_create_at = 2;
  script_.fail_record_at = 2;
  script_.sticky_at = 5;
  Start();
  auto events = Create(2);
  EXPECT_EQ(backend_->event_create(context_, 5, 2, events.data()),
            PPROF_STATUS_NO_MEMORY);
  EXPECT_EQ(scripted_device_num_live_events(fake_), 2u);
  EXPECT_EQ(Record(events[0]), PPROF_STATUS_OK);
  EXPECT_EQ(Record(events[1]), PPROF_STATUS_INVALID);
  EXPECT_EQ(Record(events[1]), PPROF_STATUS_OK);
  EXPECT_EQ(Query(events[0]), PPROF_STATUS_OK);
  EXPECT_EQ(Query(events[0]), PPROF_STATUS_DEVICE);  // the fifth call
  EXPECT_EQ(scripted_device_num_calls_after_error(fake_), 0u);
  EXPECT_EQ(Record(events[0]), PPROF_STATUS_DEVICE);
  EXPECT_EQ(scripted_device_num_calls_after_error(fake_), 1u);
}

TEST_F(ScriptedBackendTest, BreachesOfContractAreCounted) {
  Start(false);
  std::vector<void *> events(1);
  EXPECT_EQ(backend_->event_create(context_, 5, 1, events.data()),
            PPROF_STATUS_OK);
  EXPECT_STREQ(scripted_device_first_violation(fake_),
               "event_create not on the collector's thread");
  EXPECT_EQ(scripted_device_num_violations(fake_), 1u);
  ASSERT_EQ(backend_->collector_enter(context_), PPROF_STATUS_OK);
  size_t expected = 1;
  auto breach = [&] {
    expected++;
    EXPECT_EQ(scripted_device_num_violations(fake_), expected);
  };
  Query(events[0]);  // never recorded
  breach();
  scripted_stream_set_capturing(stream_, true);
  EXPECT_EQ(Record(events[0]), PPROF_STATUS_INVALID);
  breach();
  scripted_stream_set_capturing(stream_, false);
  scripted_stream_submit(stream_, 100);
  EXPECT_EQ(Record(events[0]), PPROF_STATUS_OK);
  int64_t ns;
  EXPECT_EQ(backend_->event_elapsed(context_, events[0], events[0], &ns),
            PPROF_STATUS_BUSY);  // not ready
  breach();
  EXPECT_EQ(Record(events[0]), PPROF_STATUS_OK);  // not happened yet
  breach();
  host_ns += 1000;
  auto other = Create(1, 6);
  EXPECT_EQ(Record(other[0]), PPROF_STATUS_INVALID);  // of another pool
  breach();
  std::thread([&] { Query(events[0]); }).join();
  breach();
  backend_->event_destroy(context_, 5, 1, events.data());
  EXPECT_EQ(Record(events[0]), PPROF_STATUS_INVALID);  // destroyed
  breach();
  backend_->event_destroy(context_, 5, 1, events.data());  // twice
  breach();
  EXPECT_EQ(scripted_device_num_live_events(fake_), 1u);
}

}  // namespace
