// SPDX-License-Identifier: Apache-2.0
//
// A kernel without membarrier: markers fence themselves, nothing is lost by it,
// and the run says so.
#include <errno.h>
#include <gtest/gtest.h>
#include <stdarg.h>
#include <sys/syscall.h>

#include <atomic>
#include <thread>

#include "mark/thread.h"
#include "pprof/mark.h"
#include "session/capture/capture_session.h"
#include "tests/support/capture_rules.h"
#include "tests/support/recording_sink.h"

extern "C" {
long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...) {
  if (number == SYS_membarrier) {
    errno = ENOSYS;
    return -1;
  }
  long given[6];
  va_list arguments;
  va_start(arguments, number);
  for (long &argument : given) argument = va_arg(arguments, long);
  va_end(arguments);
  return __real_syscall(number, given[0], given[1], given[2], given[3],
                        given[4], given[5]);
}
}

namespace pprof_test {
namespace {

PPROF_SITE(outer_site, "outer", PPROF_CATEGORY_USER_DEFINED);

TEST(FenceMissingTest, WindowsAreWholeAndTheRunSaysSo) {
  const ppi_capture capture = Cycle(0, 0, 0, 1, 0);
  LiveSession live;
  ASSERT_NE(nullptr, live.Create());
  ASSERT_EQ(PPROF_STATUS_OK, ppi_session_set_capture(live.session(), &capture));
  ASSERT_EQ(PPROF_STATUS_OK, live.Start());
  constexpr uint64_t kRounds = 20000;
  std::atomic<bool> done{false};
  std::thread marking([&] {
    for (uint64_t i = 0; i < kRounds; i++) {
      pprof_push(&outer_site);
      pprof_mark(&outer_site);
      pprof_pop();
    }
    // A marker that took no usual way would not have fenced itself.
    EXPECT_EQ(1u, ppi_thread_self->fence);
    EXPECT_EQ(PPI_NO_EPOCH, ppi_thread_self->stacks[0].epoch);
    done = true;
  });
  uint64_t num_steps = 1;  // one is open at the stop
  for (; !done || num_steps < 10; num_steps++) {
    pprof_step(1);
    live.Flush();
  }
  marking.join();
  ASSERT_EQ(PPROF_STATUS_OK, live.Stop());
  const Recording &recording = live.recording;
  EXPECT_EQ(2 * kRounds + num_steps, recording.Total(PPI_TOTAL_RECORDED) +
                                         recording.Total(PPI_TOTAL_LOST));
  EXPECT_EQ(recording.events.size(), recording.Total(PPI_TOTAL_RECORDED));
  EXPECT_EQ(1u, recording.notes.count("membarrier"));
  EXPECT_EQ(0u, recording.notes.count("stuck"));
}

}  // namespace
}  // namespace pprof_test
