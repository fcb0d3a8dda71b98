// SPDX-License-Identifier: Apache-2.0
//
// Many threads with few markers each, in the memory that a session has by
// default: all at once, and one after the other, into a log.
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mark/thread.h"
#include "pprof/mark.h"
#include "pprof/pprof.h"
#include "spool/chunks.h"
#include "tests/support/long_run.h"
#include "tests/support/patient_flush.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(inner_site, "inner", PPROF_CATEGORY_USER_DEFINED);

void MarkALittle() {
  pprof_push(&outer_site);
  pprof_mark(&inner_site);
  pprof_pop();
}

// Threads that have marked and wait for one another.
class WaitingThreads {
 public:
  void Add() {
    std::unique_lock<std::mutex> lock(mutex_);
    const size_t before = num_there_;
    threads_.emplace_back([this] {
      MarkALittle();
      std::unique_lock<std::mutex> inner(mutex_);
      num_there_++;
      came_.notify_one();
      ended_.wait(inner, [this] { return over_; });
      inner.unlock();
      MarkALittle();
    });
    came_.wait(lock, [&] { return num_there_ > before; });
  }
  void End() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    ended_.notify_all();
    for (std::thread &thread : threads_) thread.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_, ended_;
  size_t num_there_ = 0;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

// Nothing is ever kept, so that all of it lies in the session's memory at once.
TEST(ManyThreadsTest, TwoThousandAtOnceLoseNothing) {
  const int num = kIsSanitized ? 400 : 2000;
  LiveSession live;
  live.options.memory_limit_bytes = kIsSanitized ? 16u << 20 : 0;
  live.recording.kept = [](uint32_t, uint64_t *out) {
    *out = 0;
    return true;
  };
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  WaitingThreads threads;
  for (int i = 0; i < num; i++) threads.Add();
  threads.End();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_UNMATCHED));
  EXPECT_EQ(4u * num, live.recording.events.size());
}

TEST(ManyThreadsTest, TwentyThousandOneAfterTheOtherLoseNothing) {
  const int num = kIsSanitized ? 2000 : 20000;
  const std::string folder = ::testing::TempDir();
  const std::string config = folder + "/many_threads.yaml";
  std::ofstream(config) << "output: " << folder << "/many_threads.pplog\n";
  pprof_error error = {};
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start(config.c_str(), &error)) << error.text;
  // Rows of 4 096 threads: the collector frees them.
  for (int i = 1; i <= num; i++) {
    std::thread(MarkALittle).join();
    if (i % 1000 == 0) {
      ASSERT_EQ(PPROF_STATUS_OK, FlushPatiently(pprof_session_current()));
    }
  }
  pprof_stats stats = {};
  stats.size = sizeof stats;
  pprof_session_stats(pprof_session_current(), &stats);
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error)) << error.text;
  EXPECT_EQ(0u, stats.lost);
  EXPECT_EQ(0u, stats.unmatched);
  EXPECT_EQ(2u * num, stats.recorded);
  unlink((folder + "/many_threads.pplog").c_str());
}

// What small programs take: eight threads share what one took before.
TEST(ManyThreadsTest, EightThreadsOfFewMarkersTakeOneChunk) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  const ppi_spool *spool = &ppi_recorder_in_force.spool;
  const uint32_t free_before = ppi_spool_chunks_free(spool);
  WaitingThreads threads;
  for (int i = 0; i < 8; i++) threads.Add();
  EXPECT_EQ(free_before - 1, ppi_spool_chunks_free(spool));
  threads.Add();
  EXPECT_EQ(free_before - 2, ppi_spool_chunks_free(spool));
  threads.End();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(36u, live.recording.events.size());
}

}  // namespace
}  // namespace pprof_test
