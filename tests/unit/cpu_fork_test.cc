// SPDX-License-Identifier: Apache-2.0
//
// CPU use where a process or a thread ends at once: what a process leaves in
// its spool, whose files a forked child has, what is known of a thread that is
// gone.
#include <sys/syscall.h>
#include <sys/wait.h>

#include <thread>

#include "cpu_fixture.h"
#include "mark/thread.h"
#include "recover/salvage.h"

namespace pprof_test {
namespace {

// What a process leaves that is gone before anything was collected.
TEST_F(CpuSessionTest, ItIsInTheSpool) {
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  const pid_t child = fork();
  if (child == 0) {
    live_.options.drain_interval_us = kKeptAwayUs;
    Start();
    const pprof_range range = pprof_range_begin(&work_inside_site);
    pprof_push(&other_site);
    pprof_push(&work_site);
    Spin(1000000);
    pprof_pop();
    pprof_range_end(range);
    pprof_push_name("work open", PPROF_CATEGORY_PREPROCESS);
    const char *path = ppi_recorder_in_force.spool.path;
    _exit(write(ends[1], path, strlen(path)) > 0 ? 0 : 1);
  }
  char path[PATH_MAX] = {};
  close(ends[1]);
  EXPECT_GT(read(ends[0], path, sizeof path - 1), 0);
  close(ends[0]);
  ASSERT_EQ(child, waitpid(child, nullptr, 0));
  Recording left;
  pprof_sink *sink = RecordingSink::Make(&left);
  ppi_salvage *salvage = nullptr;
  pprof_error error = {};
  ASSERT_EQ(PPROF_STATUS_OK, ppi_salvage_open(path, &salvage, &error))
      << error.text;
  EXPECT_EQ(PPROF_STATUS_OK,
            ppi_salvage_deliver(salvage, nullptr, nullptr, true, sink));
  ppi_salvage_close(salvage);
  sink->destroy(sink);
  unlink(path);
  ASSERT_EQ(4u, left.events.size());
  EXPECT_FALSE(left.Named("other")[0].has_cpu);
  EXPECT_TRUE(left.Named("work open")[0].has_cpu);
  EXPECT_EQ(0u, left.Named("work open")[0].cpu.known);
  for (const char *name : {"work", "work inside"}) {
    const pprof_cpu_use use = left.Named(name)[0].cpu;
    EXPECT_TRUE(use.known & PPROF_CPU_TIMES) << name;
    EXPECT_GE(use.user_ns + use.sys_ns, 1000000u) << name;
  }
}

// It would go on reading what the parent's threads wait.
TEST_F(CpuSessionTest, AChildHasNoneOfTheFiles) {
  Start();
  pprof_push(&work_site);
  pprof_pop();
  const size_t num = Files().size();
  const pid_t child = fork();
  if (child == 0) _exit(Files().empty() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_EQ(num, Files().size());
  Stop();
}

// Nobody can ask the kernel for a thread that is gone, least of all the one
// that takes its place.
TEST_F(CpuSessionTest, WhatAGoneThreadLeavesOpenKnowsNothing) {
  Start();
  pthread_t gone;
  ASSERT_EQ(0, pthread_create(
                   &gone, nullptr,
                   [](void *) -> void * {
                     pprof_push(&work_site);
                     Spin(1000000);
                     syscall(SYS_exit, 0);
                     return nullptr;
                   },
                   nullptr));
  pthread_join(gone, nullptr);
  for (int i = 0; i < 20; i++)
    std::thread([] { pprof_mark(&other_site); }).join();
  Stop();
  const RecordedEvent work = The("work");
  EXPECT_FALSE(work.has_cpu && work.cpu.known);
}

}  // namespace
}  // namespace pprof_test
