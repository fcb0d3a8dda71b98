// SPDX-License-Identifier: Apache-2.0
//
// Markers behind the last destructor of a thread that anybody can know of, when
// sanitizers have left the thread; and markers without addresses, which
// sanitizers need themselves.
#include <errno.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "mark/thread.h"
#include "pprof/mark.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_USER_DEFINED);
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

// A marker may stand between a call and the look at its error.
TEST(ThreadEndTest, MarkersThatFindNoMemoryLeaveErrnoAlone) {
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::atomic<bool> limited{false};
  int error = 0;
  std::thread late([&] {
    while (!limited) sched_yield();
    errno = EDOM;
    pprof_push(&outer_site);
    pprof_push_name("named", 0);
    pprof_range_end(pprof_range_begin(&inner_site));
    error = errno;
  });
  rlimit before;
  ASSERT_EQ(0, getrlimit(RLIMIT_AS, &before));
  const rlimit none = {1 << 20, before.rlim_max};
  ASSERT_EQ(0, setrlimit(RLIMIT_AS, &none));
  limited = true;
  late.join();
  ASSERT_EQ(0, setrlimit(RLIMIT_AS, &before));
  EXPECT_EQ(EDOM, error);
  EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
}
}  // namespace
}  // namespace pprof_test
