// SPDX-License-Identifier: Apache-2.0
//
// A hundred deaths at random points, while four threads and two device streams
// record: each time recover must find every record once that the child's shared
// memory lists as accepted. PPROF_TEST_LONG=1 makes ten thousand of them.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "log/recover/log_recover.h"
#include "tests/support/long_run.h"
#include "workload.h"

namespace {

using kill_test::CheckLog;
using kill_test::Death;
using kill_test::Findings;
using kill_test::Memory;
using kill_test::NumBegun;
using kill_test::Storm;
using pprof_test::Rounds;

// How the parent goes about a death that comes from outside.
enum class Before {
  kNothing,
  kStopProcess,    // SIGSTOP, then SIGKILL
  kStopCollector,  // its thread alone, while the others go on
};

template <class T>
T Median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// Of one thread of a process, by its name; 0: there is none.
pid_t FindThread(pid_t process, const std::string &name) {
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto &task : std::filesystem::directory_iterator(tasks)) {
    std::string found;
    std::getline(std::ifstream(task.path() / "comm"), found);
    if (found == name) return std::stoi(task.path().filename());
  }
  return 0;
}

class RandomKillTest : public testing::Test {
 protected:
  void SetUp() override {
    const char *base = getenv("TEST_TMPDIR");
    folder_ = std::string(base ? base : "/tmp") + "/stormXXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&folder_[0]));
    spools_ = "/dev/shm/pprof-stormXXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&spools_[0]));
    log_ = folder_ + "/run.pplog";
    memory_ = kill_test::MakeMemory();
  }

  void TearDown() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::remove_all(spools_);
  }

  void AwaitBegun(uint64_t num) {
    while (NumBegun(*memory_) < num) sched_yield();
  }

  // Stops one thread, as a debugger does; it stays so until it is killed.
  void StopThread(pid_t process, const char *name, pid_t *out) {
    const pid_t thread = FindThread(process, name);
    ASSERT_NE(0, thread) << name;
    ASSERT_EQ(0, ptrace(PTRACE_SEIZE, thread, nullptr, nullptr));
    ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr));
    int status = 0;
    ASSERT_EQ(thread, waitpid(thread, &status, __WALL));
    ASSERT_TRUE(WIFSTOPPED(status));
    *out = thread;
  }

  // A death from outside, with or without a thread that is stopped before.
  void KillFromOutside(pid_t child, Before before) {
    pid_t stopped = 0;
    int status = 0;
    for (int i = 0; i < kill_test::kStormWorkers; i++)
      while (__atomic_load_n(&memory_->workers[i].begun, __ATOMIC_ACQUIRE) == 0)
        sched_yield();
    if (before == Before::kStopCollector) {
      StopThread(child, "pprof-collector", &stopped);
      if (HasFatalFailure()) return;
      AwaitBegun(NumBegun(*memory_) + random_() % 2000);
    } else if (before == Before::kStopProcess) {
      kill(child, SIGSTOP);
      ASSERT_EQ(child, waitpid(child, &status, WUNTRACED));
    }
    kill(child, SIGKILL);
    // The process ends only once the tracer has waited for its traced thread.
    if (stopped) waitpid(stopped, &status, __WALL);
  }

  // One child, from its first record to what it left.
  void KillOnce(const Storm &storm, Before before) {
    *memory_ = {};
    const pid_t child = fork();
    if (child == 0) kill_test::RunStorm(storm, memory_);
    if (storm.death == Death::kFromOutside) KillFromOutside(child, before);
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    const int expected = storm.death == Death::kSegv    ? SIGSEGV
                         : storm.death == Death::kAbort ? SIGABRT
                                                        : SIGKILL;
    if (storm.death == Death::kExit)
      ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    else
      ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == expected)
          << status;
  }

  void RecoverOnce(bool by_part) {
    const std::string from = by_part ? log_ + ".part" : memory_->spool;
    ppi_recover_result result = {};
    pprof_error error = {};
    // Where recover looks for the spool of a .part that does not name it yet.
    setenv("XDG_RUNTIME_DIR", spools_.c_str(), 1);
    const pprof_status status =
        ppi_recover(from.c_str(), nullptr, &result, &error);
    unsetenv("XDG_RUNTIME_DIR");
    ASSERT_EQ(PPROF_STATUS_OK, status) << error.text;
    EXPECT_EQ(log_, result.path);
    in_memory_.push_back(result.records_recovered);
    in_log_.push_back(result.blocks_copied + result.blocks_staged);
  }

  void CheckOnce() {
    const Findings found = CheckLog(log_, *memory_, false);
    EXPECT_EQ("", found.problems);
    in_flight_.push_back(found.in_flight);
    found_ += found.found;
    lost_ += found.lost;
    // Nothing but the log is left of it.
    EXPECT_TRUE(std::filesystem::is_empty(spools_));
    EXPECT_TRUE(std::filesystem::remove(log_));
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
  }

  void Run(int num_points, Death death, Before before, bool hog) {
    num_points = static_cast<int>(
        Rounds(num_points / 10, static_cast<uint64_t>(num_points) * 10));
    for (int i = 0; i < num_points && !HasFailure(); i++) {
      const auto after_us = static_cast<uint32_t>(random_() % 3000);
      // In the smaller one some records are lost, and there is less to check.
      const uint64_t bytes = (i % 10 ? 2u : 8u) << 20;
      const Storm storm = {log_.c_str(), spools_.c_str(), bytes, 100,
                           death,        after_us,        hog};
      KillOnce(storm, before);
      if (HasFatalFailure()) return;
      RecoverOnce(i % 2);
      CheckOnce();
    }
    EXPECT_GT(Median(in_flight_), 0u);
    EXPECT_GT(Median(in_memory_), 0u);
    Report();
  }

  void Report() {
    RecordProperty("points", static_cast<int>(in_flight_.size()));
    RecordProperty("found", static_cast<int>(found_));
    RecordProperty("lost", static_cast<int>(lost_));
    RecordProperty("in_flight_median", static_cast<int>(Median(in_flight_)));
    RecordProperty("in_memory_median", static_cast<int>(Median(in_memory_)));
    printf(
        "%zu deaths, %llu records found, %llu counted lost; at each, median: "
        "%llu markers in flight, %llu records in no block yet, %llu blocks\n",
        in_flight_.size(), static_cast<unsigned long long>(found_),
        static_cast<unsigned long long>(lost_),
        static_cast<unsigned long long>(Median(in_flight_)),
        static_cast<unsigned long long>(Median(in_memory_)),
        static_cast<unsigned long long>(Median(in_log_)));
  }

  std::string folder_, spools_, log_;
  Memory *memory_ = nullptr;
  std::mt19937_64 random_{pprof_test::SampleSeed()};
  std::vector<uint64_t> in_flight_, in_memory_, in_log_;
  uint64_t found_ = 0, lost_ = 0;
};

TEST_F(RandomKillTest, Sigkill) {
  Run(200, Death::kSigkill, Before::kNothing, false);
}

TEST_F(RandomKillTest, SigkillOfAStoppedProcess) {
  Run(100, Death::kFromOutside, Before::kStopProcess, false);
}

TEST_F(RandomKillTest, SigkillWhileTheCollectorIsStopped) {
  Run(200, Death::kFromOutside, Before::kStopCollector, false);
}

TEST_F(RandomKillTest, Sigsegv) {
  Run(150, Death::kSegv, Before::kNothing, false);
}

TEST_F(RandomKillTest, Abort) {
  Run(100, Death::kAbort, Before::kNothing, false);
}

TEST_F(RandomKillTest, Exit) {
  Run(150, Death::kExit, Before::kNothing, false);
}

// What the kernel does to a process that it takes for the cause of a lack of
// memory: SIGKILL to all of its threads, one of which is asking for pages.
TEST_F(RandomKillTest, SigkillAsTheKernelSendsItOutOfMemory) {
  Run(100, Death::kSigkill, Before::kNothing, true);
}

}  // namespace
