// SPDX-License-Identifier: Apache-2.0
//
// A signal handler forks at every instruction of markers. The forked child goes
// on in the marker that was interrupted, marks once more and ends: it neither
// faults nor records, and its parent loses nothing.
#include <elf.h>
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/session.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/patience.h"

namespace {

struct Shared {
  bool runs;  // what is to be interrupted
  uint64_t num_forks, num_failed;
  int status;  // of the last that failed
  pprof_stats stats;
};

Shared *shared;
bool is_forked;
pprof_site site = {"interrupted", 0, 0, 0, {0, 0}};

void Handler(int) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(PPROF_PATIENCE_SECONDS);  // a child that hangs fails, too
    is_forked = true;
    return;
  }
  int status = 0;
  waitpid(pid, &status, 0);
  shared->num_forks++;
  if (status != 0) {
    shared->num_failed++;
    shared->status = status;
  }
  // Here the parent begins to look for the way back.
#if defined(__x86_64__)
  __asm__ volatile("int3");
#else
  __builtin_trap();
#endif
}

void RunMarkers() {
  pprof_push(&site);
  pprof_mark(&site);
  pprof_pop();
  pprof_count(&site, 1);
  { PPROF_SCOPE("scope"); }
  pprof_push_name("named", PPROF_CATEGORY_USER_DEFINED);
  pprof_pop();
  pprof_range_end(pprof_range_begin(&site));
}
constexpr uint64_t kMarkers = 6;

[[noreturn]] void EndForked() {
  RunMarkers();
  _exit(pprof_epoch_ != 0);
}

[[noreturn]] void ChildToBeSignalled() {
  struct sigaction action = {};
  action.sa_handler = Handler;
  sigaction(SIGUSR1, &action, nullptr);
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  pprof_options options = {};
  options.size = sizeof options;
  options.memory_limit_bytes = 2u << 20;
  options.drain_interval_us = 3600u * 1000000u;  // the collector stays away
  options.stop_wait_ms = 3600u * 1000u;          // a flush waits as long
  pprof_session *session = nullptr;
  if (pprof_session_create(&options, &session, nullptr) != PPROF_STATUS_OK ||
      pprof_session_start(session) != PPROF_STATUS_OK ||
      pprof_session_flush(session) != PPROF_STATUS_OK)  // its first look
    _exit(3);
  RunMarkers();  // names and lane are known from here on
  raise(SIGSTOP);
  shared->runs = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  RunMarkers();
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (is_forked) EndForked();
  shared->runs = false;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (is_forked) EndForked();  // interrupted between the two
  raise(SIGSTOP);
  shared->stats.size = sizeof shared->stats;
  pprof_session_stop(session, nullptr);
  pprof_session_stats(session, &shared->stats);
  pprof_session_destroy(session);
  _exit(0);
}

uintptr_t ProgramCounter(pid_t child) {
  user_regs_struct registers = {};
  iovec vector = {&registers, sizeof registers};
  ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &vector);
#if defined(__x86_64__)
  return registers.rip;
#else
  return registers.pc;
#endif
}

// False: the child is gone.
bool Step(pid_t child, int signal) {
  int status = 0;
  return ptrace(PTRACE_SINGLESTEP, child, nullptr, signal) == 0 &&
         waitpid(child, &status, 0) == child && WIFSTOPPED(status);
}

bool RunToStop(pid_t child) {
  int status = 0;
  return ptrace(PTRACE_CONT, child, nullptr, 0) == 0 &&
         waitpid(child, &status, 0) == child && WIFSTOPPED(status);
}

// One signal at the instruction that comes next; of the handler only the way
// back is stepped through.
bool InterruptOnce(pid_t child) {
  const uintptr_t interrupted = ProgramCounter(child);
  if (!Step(child, SIGUSR1)) return false;
  if (ProgramCounter(child) != reinterpret_cast<uintptr_t>(&Handler))
    return true;
  if (!RunToStop(child)) return false;
  for (int i = 0; i < 10000 && ProgramCounter(child) != interrupted; i++)
    if (!Step(child, 0)) return false;
  return Step(child, 0);
}

TEST(ForkStepTest, ForkAtEveryInstructionOfAMarker) {
  shared = static_cast<Shared *>(mmap(nullptr, sizeof(Shared),
                                      PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t child = fork();
  if (child == 0) ChildToBeSignalled();
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  ASSERT_TRUE(WIFSTOPPED(status));
  while (!shared->runs) ASSERT_TRUE(Step(child, 0));
  while (shared->runs) ASSERT_TRUE(InterruptOnce(child));
  ptrace(PTRACE_CONT, child, nullptr, 0);
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
    ptrace(PTRACE_CONT, child, nullptr, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(0, WEXITSTATUS(status));
  EXPECT_GT(shared->num_forks, 300u);
  EXPECT_EQ(0u, shared->num_failed) << "wait status " << shared->status;
  EXPECT_EQ(2 * kMarkers, shared->stats.recorded);
  EXPECT_EQ(0u, shared->stats.lost);
  RecordProperty("forks", static_cast<int>(shared->num_forks));
}

}  // namespace
