// SPDX-License-Identifier: Apache-2.0
//
// A sink that has no room, a trace whose disk does not answer, and one on a
// FIFO that nobody reads: the others miss nothing, the stop ends, and what the
// one has missed is counted under its name.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <string>

#include "chrome/chrome.h"
#include "pprof/log.h"
#include "pprof/pprof.h"
#include "session/collect/window_session.h"
#include "session/state/session_state.h"
#include "tests/faults/disk_shim.h"
#include "tests/support/log_fixture.h"
#include "tests/support/recording_sink.h"
#include "window/window_sinks.h"

namespace pprof_test {
namespace {

PPROF_SITE(value_site, "value", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(new_site, "new", PPROF_CATEGORY_USER_DEFINED);

class HeldSinkTest : public ::testing::Test {
 protected:
  void TearDown() override {
    TheDisk()->Reset();
    live_.Destroy();
  }
  // With `most_held` bytes for a sink that has no room.
  void AddLog(size_t most_held = 1u << 20) {
    live_.options.stop_wait_ms = 20;
    live_.recording.ready = [this] {
      num_cycles_++;
      return true;
    };
    ASSERT_NE(nullptr, live_.Create());
    live_.session()->tee.most_buffered = most_held;
    pprof_sink *log = nullptr;
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_log_writer_create(log_.c_str(), &log, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(live_.session(), log));
  }
  void AddTrace() {
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_chrome_writer_create(trace_.c_str(), &sink_, nullptr));
    ppi_chrome_writer_set_bounds(sink_, 30, 1u << 20);
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(live_.session(), sink_));
  }
  void Mark(size_t num) {
    for (size_t i = 0; i < num; i++)
      pprof_count(&value_site, static_cast<double>(num_made_++) * 1.37);
    AwaitCycles();
  }
  // What was marked before has been delivered then: the live sink is asked at
  // the beginning of each cycle. A flush says that the one sink does not have
  // it all, or that a busy machine kept the collector away.
  void AwaitCycles() {
    const uint64_t first = num_cycles_;
    while (num_cycles_ < first + 2) {
      const pprof_status status = live_.Flush();
      EXPECT_TRUE(status == PPROF_STATUS_OK || status == PPROF_STATUS_BUSY);
    }
  }
  Recording Read() {
    Recording read;
    pprof_sink *sink = RecordingSink::Make(&read);
    EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(log_.c_str(), sink, nullptr));
    sink->destroy(sink);
    return read;
  }
  // Neither the log nor the other sink misses anything.
  void ExpectOthersWhole(const Recording &read) {
    EXPECT_EQ(num_made_, live_.recording.events.size());
    EXPECT_EQ(num_made_, read.events.size());
    EXPECT_EQ(num_made_, read.Total(PPI_TOTAL_RECORDED));
    EXPECT_EQ(0u, read.Total(PPI_TOTAL_LOST));
    EXPECT_EQ(num_made_, live_.Stats().recorded);
    EXPECT_EQ(0u, live_.Stats().lost);
  }

  pplog::Folder folder_;
  const std::string log_ = folder_ / "x.pplog";
  std::string trace_ = folder_ / "x.json";
  pprof_sink *sink_ = nullptr;
  Recording held_;
  LiveSession live_;
  size_t num_made_ = 0;
  std::atomic<uint64_t> num_cycles_{0};
};

TEST_F(HeldSinkTest, TraceOnABlockedDiskHoldsUpNobody) {
  TheDisk()->Fail(".json");
  TheDisk()->Block();
  AddLog();
  AddTrace();
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  Mark(2000);
  TheDisk()->AwaitWriter();
  for (int i = 0; i < 40; i++) Mark(2000);
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  const Recording read = Read();
  ExpectOthersWhole(read);
  // More than its ring took was not even offered to it.
  const uint64_t missed = live_.Stats().missed;
  EXPECT_GT(missed, 0u);
  EXPECT_LT(missed, num_made_);
  const std::string note =
      trace_ + ": had no room for " + std::to_string(missed) + " records";
  EXPECT_EQ(note, read.notes.at("missed"));
  EXPECT_EQ(note, live_.recording.notes.at("missed"));
  EXPECT_NE(std::string::npos, std::string(live_.error.text).find(trace_))
      << live_.error.text;
}

// The disk answers again: the trace is whole but for what it says it missed.
TEST_F(HeldSinkTest, TraceWhoseDiskComesBackCountsWhatItMissed) {
  TheDisk()->Fail(".json");
  TheDisk()->Block();
  AddLog();
  AddTrace();
  ppi_chrome_writer_set_bounds(sink_, 60000, 1u << 20);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  Mark(2000);
  TheDisk()->AwaitWriter();
  while (live_.Stats().missed == 0) Mark(2000);
  TheDisk()->Open();
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  ExpectOthersWhole(Read());
  const uint64_t missed = live_.Stats().missed;
  EXPECT_GT(missed, 0u);
  const std::string trace = pplog::Slurp(trace_);
  size_t num = 0;
  for (size_t at = 0; (at = trace.find("\"ph\":\"C\"", at)) != trace.npos; at++)
    num++;
  EXPECT_EQ(num_made_, num + missed);
  const auto has = [&trace](const std::string &text) {
    return trace.find(text) != std::string::npos;
  };
  EXPECT_TRUE(has("\"recorded\":" + std::to_string(num) + ",")) << num;
  EXPECT_TRUE(has("\"lost\":" + std::to_string(missed) + ",")) << missed;
  EXPECT_TRUE(has("had no room for " + std::to_string(missed) + " records"));
}

TEST_F(HeldSinkTest, TraceOnAFifoWithoutReader) {
  ASSERT_EQ(0, mkfifo(trace_.c_str(), 0600));
  AddLog();
  AddTrace();
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  Mark(5000);
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  ExpectOthersWhole(Read());
  EXPECT_EQ(ETIMEDOUT, ppi_chrome_writer_error(sink_));
  live_.Destroy();
  // The thread that waits for a reader has one, and goes.
  const int fd = open(trace_.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_GE(fd, 0);
  close(fd);
}

pprof_sink *OpenOnFifo(void *user, uint32_t) {
  pprof_sink *sink = nullptr;
  const auto *path = static_cast<const std::string *>(user);
  EXPECT_EQ(PPROF_STATUS_OK,
            pprof_chrome_writer_create(path->c_str(), &sink, nullptr));
  ppi_chrome_writer_set_bounds(sink, 30, 1u << 20);
  return sink;
}

void Complete(void *, uint32_t, pprof_sink *sink, pprof_status status) {
  EXPECT_EQ(PPROF_STATUS_IO, status);
  sink->destroy(sink);
}

TEST_F(HeldSinkTest, TraceOfAWindowOnAFifoWithoutReader) {
  ASSERT_EQ(0, mkfifo(trace_.c_str(), 0600));
  AddLog();
  const ppi_window_maker maker = {OpenOnFifo, Complete, nullptr, &trace_,
                                  nullptr};
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_session_add_window_maker(live_.session(), &maker));
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  for (int i = 0; i < 40; i++) Mark(2000);
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  const Recording read = Read();
  ExpectOthersWhole(read);
  EXPECT_GT(live_.Stats().missed, 0u);
  EXPECT_EQ("sinks of windows: had no room for " +
                std::to_string(live_.Stats().missed) + " records",
            read.notes.at("missed"));
  live_.Destroy();
  close(open(trace_.c_str(), O_RDONLY | O_NONBLOCK));
}

// What fits is held for it, in order.
TEST_F(HeldSinkTest, SinkThatIsNotReadyGetsItLaterAndHoldsUpNobodyElse) {
  std::atomic<bool> ready{true};
  Recording &held = held_;
  held.ready = [&] { return ready.load(); };
  AddLog();
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(
                                 live_.session(), RecordingSink::Make(&held)));
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  Mark(300);
  ready = false;
  Mark(200);
  EXPECT_EQ(500u, live_.recording.events.size());
  EXPECT_EQ(300u, held.events.size());
  pprof_count(&new_site, 1);  // its name first comes now
  num_made_++;
  ready = true;
  while (live_.Flush() != PPROF_STATUS_OK) {
  }
  EXPECT_EQ(501u, held.events.size());
  EXPECT_FALSE(held.gap || held.undefined_site);
  for (size_t i = 0; i < 500; i++)
    ASSERT_EQ(static_cast<double>(i) * 1.37, held.events[i].event.value);
  ready = false;  // and stays so at the stop
  Mark(7);
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  EXPECT_STREQ("sink 3: had no room for 7 records", live_.error.text);
  ExpectOthersWhole(Read());
  EXPECT_EQ(1u, held.num_finished);
  EXPECT_EQ(501u, held.events.size());
  EXPECT_EQ(501u, held.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(7u, held.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(7u, live_.Stats().missed);
}

// Also one that never has room, and keeps: what it missed does not fill the
// memory of lanes, which would be lost to all.
TEST_F(HeldSinkTest, SinkThatKeepsAndNeverHasRoomTakesNoMemoryOfOthers) {
  Recording &held = held_;
  held.ready = [] { return false; };
  held.kept = [](uint32_t, uint64_t *) { return false; };
  live_.options.memory_limit_bytes = 2u << 20;
  AddLog(0);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(
                                 live_.session(), RecordingSink::Make(&held)));
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  for (int i = 0; i < 100; i++) Mark(2000);
  EXPECT_EQ(PPROF_STATUS_IO, live_.Stop());
  ExpectOthersWhole(Read());
  EXPECT_EQ(num_made_, live_.Stats().missed);
  EXPECT_EQ(0u, held.events.size());
}

// Ranges with requests and work amounts are copied with them.
TEST_F(HeldSinkTest, WhatIsHeldIsWhole) {
  std::atomic<bool> ready{true};
  Recording &held = held_;
  held.ready = [&] { return ready.load(); };
  AddLog();
  ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(
                                 live_.session(), RecordingSink::Make(&held)));
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  Mark(1);
  ready = false;
  for (int i = 0; i < 50; i++) {
    pprof_push(&value_site);
    for (int flow = 0; flow < i % 4; flow++)
      pprof_flow(static_cast<uint64_t>(7 + flow));
    pprof_work_amount work = {};
    work.size = sizeof work;
    work.items = i;
    if (i % 3) pprof_work(&work);
    pprof_pop();
  }
  AwaitCycles();
  ready = true;
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop());
  const auto &all = live_.recording.events;
  ASSERT_EQ(51u, all.size());
  ASSERT_EQ(all.size(), held.events.size());
  for (size_t i = 0; i < all.size(); i++) {
    EXPECT_EQ(all[i].flows, held.events[i].flows);
    EXPECT_EQ(all[i].has_work, held.events[i].has_work);
    EXPECT_EQ(all[i].work.items, held.events[i].work.items);
    EXPECT_EQ(all[i].event.start_ns, held.events[i].event.start_ns);
  }
}

}  // namespace
}  // namespace pprof_test
