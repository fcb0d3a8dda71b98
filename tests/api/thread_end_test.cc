// SPDX-License-Identifier: Apache-2.0
//
// Markers behind the last destructor of a thread that anybody can know of;
// markers without addresses; calls of a thread that is cancelled meanwhile.
// Separate: sanitizers are gone from the thread by then, or need addresses.
#include <errno.h>
#include <gtest/gtest.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "inject/inject.h"
#include "mark/thread.h"
#include "pprof/pprof.h"
#include "start/compose.h"
#include "start/injected.h"
#include "tests/support/log_fixture.h"
#include "tests/support/patience.h"
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

// ---- cancellation ----

struct Call {
  const std::function<void()> &body;
  bool has_returned;
};

void *RunCancelled(void *argument) {
  auto *call = static_cast<Call *>(argument);
  pthread_cancel(pthread_self());
  call->body();
  call->has_returned = true;
  pthread_testcancel();
  return nullptr;
}

// `body` on a thread of its own that was cancelled before: it ends at the first
// point of cancellation, which must not lie in a call of ours.
void Cancelled(const char *name, const std::function<void()> &body) {
  Call call = {body, false};
  pthread_t thread;
  void *result = nullptr;
  ASSERT_EQ(0, pthread_create(&thread, nullptr, RunCancelled, &call));
  ASSERT_EQ(0, pthread_join(thread, &result));
  EXPECT_TRUE(call.has_returned) << name;
  EXPECT_EQ(PTHREAD_CANCELED, result) << name << " leaves it switched off";
}

#define CANCELLED(call) Cancelled(#call, [&] { call; })

class CancelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("PPROF_OUTPUT", log_.c_str(), 1);
    setenv("PPROF_SET", "cpu=[\"*\"]", 1);
  }
  void TearDown() override {
    unsetenv("PPROF_OUTPUT");
    unsetenv("PPROF_SET");
  }

  // Recording, from start to stop, is as if nothing had been cancelled.
  void ExpectUsable() {
    pprof_error error = {""};
    ASSERT_EQ(PPROF_STATUS_OK, pprof_start(nullptr, &error)) << error.text;
    pprof_mark(&late_site);
    ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(&error)) << error.text;
  }

  pplog::Folder folder_;
  std::string log_ = folder_ / "x.pplog", trace_ = folder_ / "x.json";
};

TEST_F(CancelTest, StartAndStop) {
  const pprof_start_options options = {sizeof options, nullptr, nullptr,
                                       nullptr,        nullptr, nullptr};
  char last[100];
  for (int i = 0; i < 5; i++) {
    pprof_status started = PPROF_STATUS_BUSY, stopped = PPROF_STATUS_BUSY;
    const std::function<void()> starts[] = {
        [&] { started = pprof_start(nullptr, nullptr); },
        [&] { started = pprof_start_with(&options, nullptr); },
        [&] { started = pprof_start_alone_(nullptr, nullptr); },
        [&] { started = pprof_start_alone_with_(&options, nullptr); },
        [&] { started = pprof_start_alone_text_(&options, "", nullptr); }};
    Cancelled("start", starts[i]);
    CANCELLED(stopped = pprof_stop(nullptr));
    EXPECT_EQ(PPROF_STATUS_OK, started) << i;
    EXPECT_EQ(PPROF_STATUS_OK, stopped) << i;
    CANCELLED(pprof_last_log_(last, sizeof last));
    ExpectUsable();
  }
}

// The start of a forked child is its first marker's.
TEST_F(CancelTest, FirstMarkerOfAForkedChild) {
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start(nullptr, nullptr));
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(PPROF_PATIENCE_SECONDS);
    CANCELLED(pprof_mark(&late_site));
    EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
    ExpectUsable();
    _exit(HasFailure());
  }
  int status = -1;
  EXPECT_EQ(pid, waitpid(pid, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
}

TEST_F(CancelTest, SessionsAndMarkers) {
  pprof_session *session = nullptr;
  pprof_sink *log = nullptr, *trace = nullptr;
  pprof_stats stats = {};
  stats.size = sizeof stats;
  const pprof_schedule cycles = {sizeof cycles, 0, 1, 0, 1, 0, 0};
  pprof_status status = PPROF_STATUS_BUSY;
  pprof_range range;
  CANCELLED(status = pprof_log_writer_create(log_.c_str(), &log, nullptr));
  CANCELLED(status =
                pprof_chrome_writer_create(trace_.c_str(), &trace, nullptr));
  CANCELLED(trace->destroy(trace));
  CANCELLED(status = pprof_session_create(nullptr, &session, nullptr));
  CANCELLED(status = pprof_session_add_sink(session, log));
  CANCELLED(status = pprof_session_set_schedule(session, &cycles));
  CANCELLED(status = pprof_session_start(session));
  ASSERT_EQ(PPROF_STATUS_OK, status);
  CANCELLED(pprof_mark(&late_site));
  CANCELLED(pprof_push_name("new", PPROF_CATEGORY_USER_DEFINED));
  CANCELLED(pprof_thread_name("new"));
  CANCELLED(pprof_category_register("new"));
  CANCELLED(pprof_step(1));
  CANCELLED(range = pprof_range_begin(&inner_site));
  CANCELLED(pprof_range_end(range));
  CANCELLED(pprof_inject_push_(0, nullptr, "new", 0));
  CANCELLED(status = pprof_session_flush(session));
  CANCELLED(status = pprof_session_stats(session, &stats));
  CANCELLED(pprof_inject_attach_());
  CANCELLED(pprof_inject_flush_());
  CANCELLED(status = pprof_session_stop(session, nullptr));
  EXPECT_EQ(PPROF_STATUS_OK, status);
  CANCELLED(pprof_session_destroy(session));
  ExpectUsable();
}

TEST_F(CancelTest, DevicesAndReports) {
  pprof_cpu_stream *stream = nullptr;
  pprof_device *device = nullptr;
  pprof_report *report = nullptr;
  pprof_error error;
  ExpectUsable();
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start(nullptr, nullptr));
  CANCELLED(device = pprof_device_get(pprof_backend_cpu(), 0));
  CANCELLED(pprof_device_available(device, &error));
  CANCELLED((void)!pprof_cpu_stream_create(&stream));
  CANCELLED(pprof_stream_name(device, stream, "new"));
  CANCELLED(pprof_device_push(device, stream, &inner_site));
  CANCELLED((void)!pprof_cpu_stream_submit(
      stream, [](void *) {}, nullptr));
  CANCELLED(pprof_device_pop(device, stream));
  CANCELLED(pprof_cpu_stream_synchronize(stream));
  CANCELLED(pprof_cpu_stream_destroy(stream));
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  CANCELLED((void)!pprof_report_create(&report));
  CANCELLED(
      (void)!pprof_log_read(log_.c_str(), pprof_report_sink(report), nullptr));
  FILE *out = tmpfile();
  setvbuf(out, nullptr, _IONBF, 0);
  CANCELLED((void)!pprof_report_write_table(report, nullptr, out));
  CANCELLED((void)!pprof_report_write_json(report, nullptr, out));
  CANCELLED((void)!pprof_report_write_csv(report, nullptr, out));
  CANCELLED(pprof_report_destroy(report));
  fclose(out);
  ExpectUsable();
}

}  // namespace
}  // namespace pprof_test
