// SPDX-License-Identifier: Apache-2.0
//
// A child runs the script one instruction at a time; at every instruction its
// spool is recovered as if it had been killed there. Nothing may be lost,
// nothing doubled. A second run delivers a signal at every instruction; its
// handler marks.
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

#include <algorithm>
#include <cstring>
#include <map>

#include "mark/thread.h"
#include "recover/salvage.h"
#include "script.h"
#include "session/choice_session.h"
#include "tests/support/long_run.h"

namespace {

using kill_test::Record;
using kill_test::Records;
using kill_test::Script;

struct Shared {
  char spool[512];
  size_t begun, done;  // lines of the script
  uint64_t handler_begun, handler_runs;
  pprof_stats stats;
};

Shared *MakeShared() {
  void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return static_cast<Shared *>(memory);
}

pprof_session *StartSession() {
  pprof_options options = {};
  options.size = sizeof options;
  options.memory_limit_bytes = 4u << 20;
  options.drain_interval_us = 3600u * 1000000u;  // the collector stays away
  options.stop_wait_ms = 3600u * 1000u;          // a flush waits as long
  pprof_session *session = nullptr;
  // Ranges with extensions that only the marking thread can write.
  static const char *const measured[] = {"delta"};
  ppi_choice choice = {};
  choice.cpu = measured;
  choice.num_cpu = 1;
  if (pprof_session_create(&options, &session, nullptr) != PPROF_STATUS_OK ||
      ppi_session_set_choice(session, &choice) != PPROF_STATUS_OK ||
      pprof_session_start(session) != PPROF_STATUS_OK ||
      pprof_session_flush(session) != PPROF_STATUS_OK)  // its first look
    _exit(3);
  return session;
}

void RunScript(Shared *shared) {
  for (size_t i = 0; i < Script().size(); i++) {
    shared->begun = i + 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    kill_test::RunLine(i);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    shared->done = i + 1;
  }
}

[[noreturn]] void ChildToBeKilled(Shared *shared) {
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  StartSession();
  strcpy(shared->spool, ppi_recorder_in_force.spool.path);
  raise(SIGSTOP);
  RunScript(shared);
  raise(SIGSTOP);
  _exit(0);
}

// A sink that turns events into what the model speaks of.
struct Collecting {
  pprof_sink base;
  std::map<uint32_t, std::string> names;
  Records records;
};

pprof_status OnDefine(pprof_sink *sink, const pprof_definition *definition) {
  auto *self = reinterpret_cast<Collecting *>(sink);
  if (pprof_definition_get_kind(definition) == PPROF_DEFINITION_SITE)
    self->names[pprof_definition_id(definition)] =
        pprof_definition_name(definition);
  return PPROF_STATUS_OK;
}

pprof_status OnEvents(pprof_sink *sink, const pprof_batch *batch) {
  auto *self = reinterpret_cast<Collecting *>(sink);
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    Record record{
        self->names[event->site],
        event->kind,
        event->flags,
        event->depth,
        std::vector<uint64_t>(event->flows, event->flows + event->num_flows),
        event->work ? event->work->items : 0,
        event->value};
    // How many items a step had is known when it ends, not while it does.
    if (record.name == "ProfileStep" && (event->flags & PPROF_FLAG_CLIPPED))
      record.items = record.value = 0;
    EXPECT_GE(event->end_ns, event->start_ns);
    self->records.push_back(record);
  }
  return PPROF_STATUS_OK;
}

Records Recover(const char *spool) {
  Collecting sink = {};
  sink.base.size = sizeof sink.base;
  sink.base.define = OnDefine;
  sink.base.events = OnEvents;
  ppi_salvage *salvage = nullptr;
  pprof_error error = {};
  EXPECT_EQ(PPROF_STATUS_OK, ppi_salvage_open_live(spool, &salvage, &error))
      << error.text;
  if (!salvage) return {};
  EXPECT_EQ(PPROF_STATUS_OK,
            ppi_salvage_deliver(salvage, nullptr, nullptr, true, &sink.base));
  ppi_salvage_close(salvage);
  std::sort(sink.records.begin(), sink.records.end());
  return sink.records;
}

std::string Text(const Records &records) {
  std::string text;
  for (const Record &record : records) text += record.Text() + "\n";
  return text;
}

bool StepOnce(pid_t child, int signal) {
  int status;
  if (ptrace(PTRACE_SINGLESTEP, child, nullptr, signal) != 0) return false;
  waitpid(child, &status, 0);
  return WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

void AwaitStop(pid_t child, int wanted) {
  int status;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  ASSERT_TRUE(WIFSTOPPED(status));
  ASSERT_EQ(wanted, WSTOPSIG(status));
}

TEST(SingleStepTest, KillAtEveryInstructionLosesAndDoublesNothing) {
  Shared *shared = MakeShared();
  const pid_t child = fork();
  if (child == 0) ChildToBeKilled(shared);
  AwaitStop(child, SIGSTOP);
  std::vector<std::vector<Records>> around;
  for (size_t i = 0; i <= Script().size(); i++)
    around.push_back(kill_test::StatesAround(i));
  size_t points = 0, in_flight = 0, failures = 0;
  const pprof_test::Sample sample(5, 1);
  while (StepOnce(child, 0) && failures < 3) {
    const size_t line = shared->done;
    const bool inside = shared->begun > line;
    in_flight += inside;
    if (points++ % sample.stride != sample.first) continue;
    const Records found = Recover(shared->spool);
    const std::vector<Records> &allowed = around[line];
    const size_t num = inside ? allowed.size() : 1;
    const bool ok =
        std::find(allowed.begin(), allowed.begin() + static_cast<long>(num),
                  found) != allowed.begin() + static_cast<long>(num);
    if (ok) continue;
    failures++;
    ADD_FAILURE() << "line " << line << (inside ? " in flight" : " done")
                  << ", point " << points << "\nfound\n"
                  << Text(found) << "before\n"
                  << Text(allowed.front()) << "after\n"
                  << Text(allowed.back());
  }
  EXPECT_EQ(Script().size(), shared->done);
  EXPECT_GT(in_flight, 1000u);
  RecordProperty("points", static_cast<int>(points));
  RecordProperty("in_flight", static_cast<int>(in_flight));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(Text(around.back().front()), Text(Recover(shared->spool)));
  unlink(shared->spool);
}

Shared *handler_shared;

void Handler(int) {
  static pprof_site push_site = {"in handler", 0, 0, 0, {0, 0}};
  static pprof_site mark_site = {"mark in handler", 0, 0, 0, {0, 0}};
  pprof_push(&push_site);
  pprof_mark(&mark_site);
  pprof_pop();
  handler_shared->handler_begun += 2;
  handler_shared->handler_runs++;
  // Here the parent begins to look for the way back. No raise(): its code may
  // be what was interrupted.
#if defined(__x86_64__)
  __asm__ volatile("int3");
#else
  __builtin_trap();
#endif
}

[[noreturn]] void ChildToBeSignalled(Shared *shared) {
  handler_shared = shared;
  struct sigaction action = {};
  action.sa_handler = Handler;
  sigaction(SIGUSR1, &action, nullptr);
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  pprof_session *session = StartSession();
  RunScript(shared);  // names and lane are known from here on
  shared->begun = shared->done = 0;
  raise(SIGSTOP);
  RunScript(shared);
  raise(SIGSTOP);
  shared->stats.size = sizeof shared->stats;
  pprof_session_stop(session, nullptr);
  pprof_session_stats(session, &shared->stats);
  pprof_session_destroy(session);
  _exit(0);
}

// Of the script: everything its lines begin (a step begins the next one, too).
uint64_t ScriptBegun() {
  uint64_t begun = 1;  // step 0
  for (const kill_test::Line &line : Script()) {
    using kill_test::Op;
    begun += line.op != Op::kPop && line.op != Op::kScopeExit &&
             line.op != Op::kFlow && line.op != Op::kWork &&
             line.op != Op::kRangeEnd && line.op != Op::kRangeFlow &&
             line.op != Op::kDevicePop && line.op != Op::kPopIn;
  }
  return begun;
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

void RunToTrap(pid_t child) {
  int status;
  ptrace(PTRACE_CONT, child, nullptr, 0);
  waitpid(child, &status, 0);
}

TEST(SingleStepTest, HandlerThatMarksAtEveryInstructionIsCounted) {
  Shared *shared = MakeShared();
  const pid_t child = fork();
  if (child == 0) ChildToBeSignalled(shared);
  AwaitStop(child, SIGSTOP);
  // Each instruction meets one signal; of the handler only the way back is
  // stepped through.
  while (shared->begun == 0) StepOnce(child, 0);
  while (shared->done < Script().size()) {
    const uintptr_t interrupted = ProgramCounter(child);
    StepOnce(child, SIGUSR1);
    if (ProgramCounter(child) != reinterpret_cast<uintptr_t>(&Handler))
      continue;
    RunToTrap(child);
    for (int i = 0; i < 10000 && ProgramCounter(child) != interrupted; i++)
      StepOnce(child, 0);
    StepOnce(child, 0);
  }
  int status = 0;
  ptrace(PTRACE_CONT, child, nullptr, 0);
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
    ptrace(PTRACE_CONT, child, nullptr, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(0, WEXITSTATUS(status));
  EXPECT_GT(shared->handler_runs, 1000u);
  EXPECT_EQ(2 * ScriptBegun() - 1 + shared->handler_begun,
            shared->stats.recorded + shared->stats.lost);
  EXPECT_GT(shared->stats.lost, 1000u);  // it did interrupt markers
  // The script's last device pop names a stream on which nothing is open.
  EXPECT_EQ(2u, shared->stats.unmatched);
}

}  // namespace
