// SPDX-License-Identifier: Apache-2.0
//
// What those see who look at a running process: counted while they look, and by
// the definitions that everything else is counted by.
#include "live/live.h"

#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "live/live_read.h"
#include "tests/support/event_feed.h"
#include "tests/support/patient_flush.h"

namespace pprof_test {
namespace {

constexpr uint64_t kMs = 1000000;

class LiveTest : public ::testing::Test {
 protected:
  void TearDown() override {
    ppi_live_view_clear(&view_);
    if (fd_ >= 0) close(fd_);
    pprof_session_destroy(session_);
    if (live_ && !session_) ppi_live_sink(live_)->destroy(ppi_live_sink(live_));
  }
  void Create(std::vector<uint64_t> bounds = {}) {
    const ppi_live_options options = {bounds.data(), bounds.size(), nullptr,
                                      nullptr};
    ASSERT_EQ(PPROF_STATUS_OK, ppi_live_create(&options, &live_));
  }
  void StartSession() {
    Create();
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_session_create(nullptr, &session_, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_session_add_sink(session_, ppi_live_sink(live_)));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session_));
  }
  void Watch() {
    fd_ = ppi_live_watch(live_);
    ASSERT_LE(0, fd_);
  }
  void Read() {
    ppi_live_view_clear(&view_);
    ASSERT_TRUE(ppi_live_read(fd_, &view_));
  }
  // Calls of a row; -1: there is none.
  int64_t Calls(const std::string &name, bool on_device = false) {
    for (size_t i = 0; i < view_.num_rows; i++) {
      if (view_.rows[i].name != name || view_.rows[i].is_device != on_device)
        continue;
      ppi_live_changed(nullptr, &view_, i, &change_);
      row_ = &view_.rows[i];
      return static_cast<int64_t>(change_.num);
    }
    return -1;
  }
  void Ranges(const char *name, int num) {
    for (int i = 0; i < num; i++) {
      pprof_push_name(name, PPROF_CATEGORY_INFERENCE);
      pprof_pop();
    }
    ASSERT_EQ(PPROF_STATUS_OK, FlushPatiently(session_));
  }

  ppi_live *live_ = nullptr;
  pprof_session *session_ = nullptr;
  int fd_ = -1;
  ppi_live_view view_ = {};
  ppi_live_change change_ = {};
  const ppi_live_row *row_ = nullptr;
};

TEST_F(LiveTest, CountsWhileSomebodyLooks) {
  StartSession();
  Ranges("before", 3);
  Ranges("both", 3);
  Watch();
  Ranges("both", 2);  // a name that was defined before
  Read();
  EXPECT_EQ(-1, Calls("before"));
  EXPECT_EQ(2, Calls("both"));
  EXPECT_STREQ("Inference", row_->category);
  EXPECT_EQ(1u, view_.header.is_recording);
  ppi_live_leave(live_);
  Ranges("both", 5);
  Read();  // what was there stays readable for who has it
  EXPECT_EQ(2, Calls("both"));
  close(fd_);
  Watch();
  Ranges("both", 1);
  Read();
  EXPECT_EQ(1, Calls("both"));
}

TEST_F(LiveTest, TwoWhoLookShareATable) {
  StartSession();
  Watch();
  const int other = ppi_live_watch(live_);
  ASSERT_LE(0, other);
  close(other);
  ppi_live_leave(live_);
  Ranges("stage", 4);
  Read();
  EXPECT_EQ(4, Calls("stage"));
}

TEST_F(LiveTest, WhoLooksCannotWriteNorCut) {
  StartSession();
  Watch();
  EXPECT_NE(0, ftruncate(fd_, 0));
  const char byte = 'x';
  EXPECT_EQ(-1, pwrite(fd_, &byte, 1, 0));
}

TEST_F(LiveTest, BucketsAndQuantiles) {
  Create({1 * kMs, 10 * kMs, 100 * kMs});
  Watch();
  EventFeed feed;
  feed.Lane(1, 100, "worker");
  // 1 to 200 ms, and one that was cut.
  for (uint64_t i = 1; i <= 200; i++)
    feed.Range(1, "stage", PPROF_CATEGORY_INFERENCE, 0, i * kMs);
  feed.Range(1, "stage", PPROF_CATEGORY_INFERENCE, 0, 999 * kMs).flags =
      PPROF_FLAG_CLIPPED;
  ASSERT_EQ(PPROF_STATUS_OK, feed.Deliver(ppi_live_sink(live_)));
  Read();
  ASSERT_EQ(200, Calls("stage"));
  EXPECT_EQ(1u, row_->num_cut);
  EXPECT_EQ(20100 * kMs, row_->sum_ns);
  EXPECT_EQ(200 * kMs, row_->max_ns);
  // A bound belongs to what it bounds.
  EXPECT_EQ(1u, row_->within[0]);
  EXPECT_EQ(9u, row_->within[1]);
  EXPECT_EQ(90u, row_->within[2]);
  EXPECT_EQ(100u, row_->within[3]);
  EXPECT_NEAR(100.0 * kMs, static_cast<double>(change_.p50_ns), 100e6 / 64);
  EXPECT_NEAR(198.0 * kMs, static_cast<double>(change_.p99_ns), 198e6 / 64);
}

// The middle of a bucket may be.
TEST_F(LiveTest, NoQuantileIsAboveTheGreatest) {
  Create({1 * kMs});
  Watch();
  EventFeed feed;
  feed.Lane(1, 100, "worker");
  feed.Range(1, "stage", PPROF_CATEGORY_INFERENCE, 0, 1 << 20);
  ASSERT_EQ(PPROF_STATUS_OK, feed.Deliver(ppi_live_sink(live_)));
  Read();
  ASSERT_EQ(1, Calls("stage"));
  EXPECT_EQ(1u << 20, change_.p50_ns);
  EXPECT_EQ(1u << 20, change_.p99_ns);
}

TEST_F(LiveTest, EveryDurationIsNearItsBucketsMiddle) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; i++) {
    const uint64_t ns = random() >> (20 + random() % 44);
    const uint32_t fine = ppi_live_fine_of(ns);
    ASSERT_LT(fine, static_cast<uint32_t>(PPI_LIVE_NUM_FINE));
    EXPECT_LE(std::abs(static_cast<double>(ppi_live_middle_of(fine)) -
                       static_cast<double>(ns)),
              static_cast<double>(ns) / 64 + 1)
        << ns;
  }
  EXPECT_EQ(static_cast<uint32_t>(PPI_LIVE_NUM_FINE) - 1,
            ppi_live_fine_of(UINT64_MAX));
}

TEST_F(LiveTest, NamesBeyondShareARow) {
  Create();
  Watch();
  EventFeed feed;
  feed.Lane(1, 100, "worker");
  for (uint64_t i = 0; i < 600; i++)
    feed.Range(1, "name " + std::to_string(i), PPROF_CATEGORY_OPERATOR, i,
               i + 1);
  ASSERT_EQ(PPROF_STATUS_OK, feed.Deliver(ppi_live_sink(live_)));
  Read();
  EXPECT_EQ(512u, view_.num_rows);
  EXPECT_EQ(1, Calls("name 510"));
  EXPECT_EQ(-1, Calls("name 511"));
  EXPECT_EQ(89, Calls("<other>"));
  EXPECT_EQ(89u, view_.header.num_beyond);
}

TEST_F(LiveTest, TheSlowestRequestIsKnown) {
  Create();
  Watch();
  EventFeed feed;
  feed.Lane(1, 100, "worker");
  const uint64_t fast = 7, slow = 8;
  pprof_event *events[] = {
      &feed.Range(1, "stage", PPROF_CATEGORY_INFERENCE, 0, 5 * kMs),
      &feed.Range(1, "stage", PPROF_CATEGORY_INFERENCE, 5 * kMs, 25 * kMs),
      &feed.Range(1, "stage", PPROF_CATEGORY_INFERENCE, 25 * kMs, 26 * kMs)};
  events[0]->flows = events[2]->flows = &fast;
  events[1]->flows = &slow;
  for (pprof_event *event : events) event->num_flows = 1;
  ASSERT_EQ(PPROF_STATUS_OK, feed.Deliver(ppi_live_sink(live_)));
  Read();
  ASSERT_EQ(3, Calls("stage"));
  EXPECT_EQ(8u, row_->slowest_flow);
  EXPECT_EQ(20 * kMs, row_->slowest_ns);
}

TEST_F(LiveTest, WhatIsOpenIsNamedUntilItEnds) {
  StartSession();
  Watch();
  pprof_push_name("outer", PPROF_CATEGORY_USER_DEFINED);
  pprof_push_name("held", PPROF_CATEGORY_USER_DEFINED);
  ASSERT_EQ(PPROF_STATUS_OK, FlushPatiently(session_));
  Read();
  ASSERT_EQ(2u, view_.header.num_open);
  const ppi_live_open &held = view_.header.open[1];
  ASSERT_NE(0u, held.row);
  EXPECT_STREQ("held", view_.rows[held.row - 1].name);
  EXPECT_LE(view_.header.open[0].start_ns, held.start_ns);
  pprof_pop();
  pprof_pop();
  ASSERT_EQ(PPROF_STATUS_OK, FlushPatiently(session_));
  Read();
  for (uint32_t i = 0; i < view_.header.num_open; i++)
    EXPECT_EQ(0u, view_.header.open[i].is_used);
}

// Beside the union of all stretches up to where it is told.
TEST_F(LiveTest, DevicesAreBusyForTheUnionOfTheirWork) {
  for (uint64_t seed = 0; seed < 40; seed++) {
    std::mt19937_64 random(seed);
    EventFeed feed;
    feed.Lane(1, 100, "worker");
    feed.Device(1, "gpu:0");
    feed.Stream(1, 1);
    feed.Stream(2, 1);
    std::vector<std::pair<uint64_t, uint64_t>> stretches;
    uint64_t submit = 0, ends[3] = {0, 0, 0};
    for (int i = 0; i < 60; i++) {
      const uint32_t stream = 1 + random() % 2;
      submit += random() % 50;
      const uint64_t start = std::max(ends[stream], submit) + random() % 40;
      ends[stream] = start + random() % 200;
      feed.OnDevice(1, stream, "kernel", PPROF_CATEGORY_KERNEL, submit, start,
                    ends[stream]);
      stretches.push_back({start, ends[stream]});
    }
    Create();
    Watch();
    ASSERT_EQ(PPROF_STATUS_OK,
              feed.DeliverAs(ppi_live_sink(live_), &random, 6));
    Read();
    if (view_.header.num_devices > 0) {
      const ppi_live_device &device = view_.header.devices[0];
      uint64_t busy = 0, until = 0;
      std::sort(stretches.begin(), stretches.end());
      for (auto stretch : stretches) {
        stretch.second = std::min(stretch.second, device.until_ns);
        if (stretch.second <= std::max(stretch.first, until)) continue;
        busy += stretch.second - std::max(stretch.first, until);
        until = stretch.second;
      }
      EXPECT_EQ(busy, device.busy_ns) << seed;
      EXPECT_STREQ("gpu:0", device.name);
    }
    ppi_live_sink(live_)->destroy(ppi_live_sink(live_));
    live_ = nullptr;
    close(fd_);
    fd_ = -1;
  }
}

// A file of another size, of another version, or of nonsense.
TEST_F(LiveTest, WhatIsNoTableIsRefused) {
  StartSession();
  Watch();
  Ranges("stage", 1);
  // Too large for a stack.
  const auto read = std::make_unique<ppi_live_table>();
  ppi_live_table &table = *read;
  ASSERT_EQ(static_cast<ssize_t>(sizeof table),
            pread(fd_, &table, sizeof table, 0));
  const auto readable = [](const ppi_live_table &bytes, size_t len) {
    FILE *file = tmpfile();
    EXPECT_EQ(len, fwrite(&bytes, 1, len, file));
    fflush(file);
    ppi_live_view view;
    const bool good = ppi_live_read(fileno(file), &view);
    ppi_live_view_clear(&view);
    fclose(file);
    return good;
  };
  EXPECT_TRUE(readable(table, sizeof table));
  EXPECT_FALSE(readable(table, sizeof table.header - 1));
  EXPECT_FALSE(readable(table, sizeof table.header));
  uint32_t ppi_live_header::*const numbers[] = {
      &ppi_live_header::num_rows,     &ppi_live_header::num_devices,
      &ppi_live_header::num_counters, &ppi_live_header::num_open,
      &ppi_live_header::num_bounds,   &ppi_live_header::row_size};
  for (auto number : numbers) {
    const uint32_t good = table.header.*number;
    table.header.*number = UINT32_MAX;
    EXPECT_FALSE(readable(table, sizeof table));
    table.header.*number = good;
  }
  table.header.magic++;
  EXPECT_FALSE(readable(table, sizeof table));
}

}  // namespace
}  // namespace pprof_test
