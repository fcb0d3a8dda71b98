// SPDX-License-Identifier: Apache-2.0
//
// A child that records is killed at each system call of the collector, of the
// log's I/O thread and of whoever stops the session; then recover, itself
// killed at one of its system calls, must find every record once.
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "log_recover.h"
#include "traced_child.h"
#include "workload.h"

namespace {

using kill_test::CheckLog;
using kill_test::Findings;
using kill_test::Load;
using kill_test::Memory;
using kill_test::TracedChild;

class SystemCallTest : public testing::Test {
 protected:
  void SetUp() override {
    const char *base = getenv("TEST_TMPDIR");
    folder_ = std::string(base ? base : "/tmp") + "/killXXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&folder_[0]));
    spools_ = "/dev/shm/pprof-killXXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&spools_[0]));
    log_ = folder_ + "/run.pplog";
    part_ = log_ + ".part";
    copy_ = folder_ + "/copy.pplog";
    memory_ = kill_test::MakeMemory();
  }

  void TearDown() override {
    Remove();
    rmdir(folder_.c_str());
    rmdir(spools_.c_str());
  }

  void Remove() {
    for (const std::string &path :
         {log_, part_, copy_, log_ + ".recovering", copy_ + ".recovering"})
      unlink(path.c_str());
    // Also one whose child was killed before it told its name.
    for (const auto &spool : std::filesystem::directory_iterator(spools_))
      unlink(spool.path().c_str());
  }

  // The child's fate; false when it was not as planned.
  bool RunChild(const Load &load, uint64_t kill_at, uint64_t *num_calls) {
    Remove();
    *memory_ = {};
    TracedChild child([&] { kill_test::RunLoad(load, memory_); },
                      [this](bool is_main) {
                        return is_main ? memory_->phase >= kill_test::kStopping
                                       : memory_->phase == kill_test::kStarting;
                      });
    const bool as_planned = child.Run(kill_at);
    *num_calls = child.num_calls();
    call_ = child.killed_at();
    return as_planned;
  }

  std::string LeftOver() const {
    if (memory_->spool[0] && access(memory_->spool, F_OK) == 0)
      return memory_->spool;
    return access(log_.c_str(), F_OK) == 0 ? log_ : part_;
  }

  void Recover(const std::string &from, bool keep, const char *output) {
    ppi_recover_options options = {output, false, keep};
    ppi_recover_result result;
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK,
              ppi_recover(from.c_str(), &options, &result, &error))
        << error.text;
    if (!output) {
      EXPECT_EQ(log_, result.path);
    }
  }

  // A recover that is killed, or that comes to its end before.
  void RecoverKilled(const std::string &from, uint64_t kill_at) {
    TracedChild child(
        [&] {
          ppi_recover_result result;
          if (ppi_recover(from.c_str(), nullptr, &result, nullptr)) _exit(1);
        },
        [](bool) { return true; });
    EXPECT_TRUE(child.Run(kill_at));
    num_recovers_killed_ += child.killed();
  }

  void Check(const std::string &path, bool lossless, const char *when) {
    const Findings found = CheckLog(path, *memory_, lossless);
    in_flight_ += found.in_flight;
    lost_ += found.lost;
    excluded_ += found.excluded;
    found_ += found.found;
    if (found.problems.empty()) return;
    num_failures_++;
    ADD_FAILURE() << when << ", killed at system call " << call_ << "\n"
                  << found.problems;
  }

  // Everything that may be done with what a killed child left.
  void CheckLeftOver(uint64_t n, bool lossless) {
    const std::string left = LeftOver();
    const bool whole = left == log_;
    // From the .part file as well as from the spool.
    const bool by_part = n % 2 && !whole && FileSize(part_) > 64;
    const std::string from = by_part ? part_ : left;
    Recover(from, true, whole ? nullptr : copy_.c_str());
    Check(whole ? log_ : copy_, lossless, "recovered");
    RecoverKilled(from, 2 + n * 7 % 60);
    Recover(LeftOver(), false, nullptr);
    Check(log_, lossless, "recovered after a killed recover");
    EXPECT_NE(0, access(part_.c_str(), F_OK)) << "size " << FileSize(part_);
    EXPECT_NE(0, access(memory_->spool, F_OK));
    Recover(log_, false, nullptr);
  }

  static long FileSize(const std::string &path) {
    FILE *file = fopen(path.c_str(), "r");
    if (!file) return 0;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    fclose(file);
    return size;
  }

  void KillEverywhere(const Load &load, uint64_t num_points, bool lossless) {
    uint64_t num_calls = 0, points = 0;
    ASSERT_TRUE(RunChild(load, 0, &num_calls));
    ASSERT_EQ(PPROF_STATUS_OK, memory_->stop_status);
    Check(log_, lossless, "not killed");
    const double step = std::max(
        1.0, static_cast<double>(num_calls) / static_cast<double>(num_points));
    for (double n = 1; n <= static_cast<double>(num_calls); n += step) {
      uint64_t seen;
      ASSERT_TRUE(RunChild(load, static_cast<uint64_t>(n), &seen));
      if (!memory_->spool[0]) continue;  // nothing recorded yet
      points++;
      CheckLeftOver(points, lossless);
      if (num_failures_ > 3) break;
    }
    EXPECT_GT(points, num_points / 2);
    RecordProperty("calls", static_cast<int>(num_calls));
    RecordProperty("points", static_cast<int>(points));
    RecordProperty("in_flight", static_cast<int>(in_flight_));
    RecordProperty("found", static_cast<int>(found_));
    RecordProperty("lost", static_cast<int>(lost_));
    RecordProperty("recovers_killed", static_cast<int>(num_recovers_killed_));
  }

  std::string folder_, spools_, log_, part_, copy_;
  Memory *memory_ = nullptr;
  long call_ = -1;
  int num_failures_ = 0, num_recovers_killed_ = 0;
  uint64_t in_flight_ = 0, lost_ = 0, excluded_ = 0, found_ = 0;
};

TEST_F(SystemCallTest, NothingIsLostOrDoubled) {
  const Load load = {log_.c_str(), spools_.c_str(), 8u << 20, 100, 12, 12, true,
                     false};
  KillEverywhere(load, 180, true);
}

TEST_F(SystemCallTest, WhatDoesNotFitIsCounted) {
  const Load load = {log_.c_str(), spools_.c_str(), 2u << 20, 100, 3,
                     600,          false,           false};
  KillEverywhere(load, 60, false);
  EXPECT_GT(lost_, 0u);
}

TEST_F(SystemCallTest, WhatWindowsLeaveOutIsCounted) {
  const Load load = {log_.c_str(), spools_.c_str(), 8u << 20, 100, 12, 12, true,
                     true};
  KillEverywhere(load, 60, false);
  EXPECT_GT(excluded_, 0u);
}

TEST_F(SystemCallTest, ProgramKilledAtAnyTimeIsRecovered) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 12; i++) {
    Remove();
    *memory_ = {};
    const uint64_t when = random() % 60000;
    const pid_t child = fork();
    if (child == 0) kill_test::RunForever(log_.c_str(), memory_);
    while (__atomic_load_n(&memory_->workers[0].begun, __ATOMIC_ACQUIRE) < when)
      sched_yield();
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const bool by_part = i % 2 && FileSize(part_) > 64;
    const std::string from = by_part ? part_ : memory_->spool;
    Recover(from, true, copy_.c_str());
    Check(copy_, false, "recovered");
    Recover(from, false, nullptr);
    Check(log_, false, "recovered again");
    EXPECT_NE(0, access(memory_->spool, F_OK));
  }
  RecordProperty("in_flight", static_cast<int>(in_flight_));
  RecordProperty("found", static_cast<int>(found_));
  RecordProperty("lost", static_cast<int>(lost_));
}

}  // namespace
