// SPDX-License-Identifier: Apache-2.0
//
// A child of fork does not wait for threads that were inside a marker in its
// parent and are not in it.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/clock.h"
#include "pprof/mark.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_USER_DEFINED);

thread_local bool is_marking;
std::atomic<uint64_t> ticks{1000000000};
std::atomic<bool> is_inside, is_over;

// The clock, which a marker reads between its begin and its end.
uint64_t Now() {
  while (is_marking && !is_over) {
    is_inside = true;
    sched_yield();
  }
  return ticks.fetch_add(1000);
}

TEST(BusyForkTest, ThreadInsideAMarkerStaysInTheParent) {
  ppi_clock_inject(Now, 1000000000);
  LiveSession live;
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  std::thread held([] {
    is_marking = true;
    pprof_push(&outer_site);
    is_marking = false;
    pprof_pop();
  });
  while (!is_inside) sched_yield();
  const pid_t child = fork();
  if (child == 0) {
    LiveSession own;
    own.options.stop_wait_ms = 1;
    if (own.Start() != PPROF_STATUS_OK) _exit(1);
    pprof_mark(&outer_site);
    if (own.Stop() != PPROF_STATUS_OK) _exit(2);
    if (own.recording.notes.count("stuck")) _exit(3);
    _exit(own.recording.Total(PPI_TOTAL_RECORDED) == 1 ? 0 : 4);
  }
  int status = -1;
  waitpid(child, &status, 0);
  is_over = true;
  held.join();
  EXPECT_EQ(0, status);
  EXPECT_EQ(PPROF_STATUS_OK, live.Stop());
  EXPECT_EQ(1u, live.recording.Total(PPI_TOTAL_RECORDED));
  ppi_clock_inject(nullptr, 0);
}

}  // namespace
}  // namespace pprof_test
