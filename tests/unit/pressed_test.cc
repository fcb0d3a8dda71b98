// SPDX-License-Identifier: Apache-2.0
//
// A sink that keeps records with each checkpoint only, as a log does: where
// memory gets short the collector takes one, and where it does not, or there is
// no more to be had, it does not. The clock stands nearly still, so that no
// second passes.
#include <errno.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/types.h>

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "mark/thread.h"
#include "pprof/mark.h"
#include "spool/chunks.h"
#include "spool/spool.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);

std::atomic<bool> refuses_memory{false};
std::atomic<uint64_t> ticks{1000000000};

uint64_t Now() {
  return ticks.fetch_add(1);
}

class PressedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ppi_clock_inject(Now, 1000000000);
    live_.options.drain_interval_us = 100;
    live_.recording.kept = [this](uint32_t lane, uint64_t *out) {
      const size_t num = live_.recording.num_open.size();
      if (num_checkpoints_.exchange(num) != num)
        kept_ = live_.recording.next_seq;
      *out = kept_[lane];
      return true;
    };
    live_.recording.ready = [this] {
      num_cycles_++;
      return true;
    };
  }
  void TearDown() override {
    live_.Destroy();
    refuses_memory = false;
    ppi_clock_inject(nullptr, 0);
  }

  // In bursts far smaller than the memory, each taken before the next one.
  void Mark(uint64_t num, uint64_t at_once, const std::function<void()> &mark) {
    for (uint64_t i = 0; i < num; i += at_once) {
      for (uint64_t k = 0; k < at_once; k++) mark();
      WaitForCycles(3);
    }
  }

  void WaitForCycles(uint64_t num) {
    const uint64_t first = num_cycles_;
    while (num_cycles_ < first + num) sched_yield();
  }

  // More than there is: the collector asks, too, and is refused.
  void TakeAndGiveAll() {
    ppi_spool *spool = &ppi_recorder_in_force.spool;
    std::vector<uint32_t> taken;
    for (int i = 0; i < 200; i++) {
      if (uint32_t chunk = ppi_chunk_take(spool)) taken.push_back(chunk);
    }
    refuses_memory = true;
    while (uint32_t chunk = ppi_chunk_take(spool)) taken.push_back(chunk);
    WaitForCycles(3);
    for (uint32_t chunk : taken) ppi_chunk_give(spool, chunk);
  }

  std::atomic<uint64_t> num_cycles_{0};
  std::atomic<size_t> num_checkpoints_{0};
  std::map<uint32_t, uint64_t> kept_;
  LiveSession live_;
};

TEST_F(PressedTest, RecordsAreKeptBeforeMemoryIsShort) {
  live_.options.memory_limit_bytes = 2u << 20;
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  // 32 chunks of 2 048 records.
  Mark(200000, 2000, [] { pprof_mark(&point_site); });
  ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_EQ(0u, live_.recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(200000u, live_.recording.Total(PPI_TOTAL_RECORDED));
  EXPECT_GT(num_checkpoints_, 3u);
  EXPECT_LT(num_checkpoints_, 100u);
}

TEST_F(PressedTest, RangesThatWanderAreKeptBeforeTheirTableIsFull) {
  live_.options.memory_limit_bytes = 2u << 20;
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  Mark(10000, 50, [] { pprof_range_end(pprof_range_begin(&point_site)); });
  ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_EQ(0u, live_.recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(10000u, live_.recording.Total(PPI_TOTAL_RECORDED));
}

TEST_F(PressedTest, MemoryThatDoesNotComeIsNotWaitedFor) {
  live_.options.memory_limit_bytes = 64u << 20;
  const std::string dir = testing::TempDir();
  live_.options.spool_dir = dir.c_str();
  ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  TakeAndGiveAll();
  const size_t before = num_checkpoints_;
  Mark(20000, 500, [] { pprof_mark(&point_site); });
  EXPECT_LE(num_checkpoints_, before + 1);
  ASSERT_EQ(PPROF_STATUS_OK, live_.Stop());
  EXPECT_EQ(20000u, live_.recording.Total(PPI_TOTAL_RECORDED));
  EXPECT_NE(std::string::npos, live_.recording.notes["memory"].find(
                                   " of 64.0 MiB, no room for more: "))
      << live_.recording.notes["memory"];
}

}  // namespace

bool RefusesMemory() {
  return refuses_memory;
}

}  // namespace pprof_test

extern "C" {
int __real_fallocate(int fd, int mode, off_t offset, off_t len);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t len) {
  if (offset > 0 && pprof_test::RefusesMemory()) {
    errno = ENOSPC;
    return -1;
  }
  return __real_fallocate(fd, mode, offset, len);
}
}
