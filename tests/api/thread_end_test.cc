// SPDX-License-Identifier: Apache-2.0
//
// Markers behind the last destructor of a thread that anybody can know of.
// Apart: sanitizers are gone from the thread by then.
#include <gtest/gtest.h>
#include <limits.h>
#include <pthread.h>

#include <cstdint>
#include <thread>

#include "mark/thread.h"
#include "pprof/mark.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(inner_site, "inner", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(late_site, "late", PPROF_CATEGORY_USER_DEFINED);

// The system calls destructors of what they set four times at most: the last
// mark attaches the thread once more, and nothing tells that it leaves.
TEST(ThreadEndTest, ThreadsThatMarkBehindTheirLastDestructorLeaveNothing) {
  LiveSession live;
  live.options.memory_limit_bytes = 2u << 20;
  live.options.drain_interval_us = 200;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  // Newer than the library's own key: its destructor comes later.
  static pthread_key_t key;
  ASSERT_EQ(0, pthread_key_create(&key, [](void *round) {
              intptr_t next = reinterpret_cast<intptr_t>(round) + 1;
              if (next <= PTHREAD_DESTRUCTOR_ITERATIONS)
                pthread_setspecific(key, reinterpret_cast<void *>(next));
              pprof_push(&inner_site);
            }));
  constexpr int kThreads = 200;
  for (int i = 0; i < kThreads; i++) {
    std::thread leaving([] {
      pthread_setspecific(key, reinterpret_cast<void *>(1));
      pprof_mark(&late_site);
    });
    leaving.join();
    ASSERT_EQ(PPROF_STATUS_OK, live.Flush());
  }
  size_t num_blocks = 0;
  for (ppi_thread *t = ppi_thread_list(); t; t = t->next) num_blocks++;
  EXPECT_LE(num_blocks, 16u);
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  pthread_key_delete(key);
  EXPECT_EQ((size_t)kThreads, live.recording.Named("late").size());
  EXPECT_EQ((size_t)kThreads * PTHREAD_DESTRUCTOR_ITERATIONS,
            live.recording.Named("inner").size());
  EXPECT_EQ(0u, live.recording.Total(PPI_TOTAL_LOST));
}

}  // namespace
}  // namespace pprof_test
