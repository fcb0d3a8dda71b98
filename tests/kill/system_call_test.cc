// SPDX-License-Identifier: Apache-2.0
//
// A child that records is killed at each system call of the collector, of the
// log's I/O thread and of whoever stops the session; then recover, itself
// killed at one of its system calls, must find every record once.
#include <gtest/gtest.h>
#include <pprof/session.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <set>
#include <string>

#include "log/recover/log_recover.h"
#include "recover/salvage.h"
#include "spool/spool.h"
#include "tests/support/long_run.h"
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
    // Where recover looks for the spool of a .part that does not name it yet.
    setenv("XDG_RUNTIME_DIR", spools_.c_str(), 1);
  }

  void TearDown() override {
    unsetenv("XDG_RUNTIME_DIR");
    Remove();
    rmdir(folder_.c_str());
    rmdir(spools_.c_str());
  }

  void Remove() {
    for (const std::string &path :
         {log_, part_, copy_, log_ + ".recovering", copy_ + ".recovering"})
      unlink(path.c_str());
    // Also the spool of a child killed before it reported the spool's name.
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
    ppi_recover_options options = {output, false, keep, false, nullptr};
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

  // A kill may also end a write in its midst: the block that was about to be
  // written then stands in the file in part.
  void TearLastBlock(uint64_t n) {
    if (call_ != SYS_write || FileSize(part_) < 64) return;
    ppi_salvage *salvage = nullptr;
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_salvage_open(memory_->spool, &salvage, nullptr));
    uint64_t cursor = 0, number;
    const void *bytes;
    uint32_t len;
    const ppi_staging *staging = ppi_salvage_staging(salvage);
    if (staging && ppi_staging_walk(staging, &cursor, &bytes, &len, &number)) {
      FILE *file = fopen(part_.c_str(), "ab");
      fwrite(bytes, 1, 1 + n * 7919 % (len - 1), file);
      fclose(file);
      num_torn_++;
    }
    ppi_salvage_close(salvage);
  }

  // Everything that may be done with what a killed child left.
  void CheckLeftOver(uint64_t n, bool lossless) {
    const std::string left = LeftOver();
    const bool whole = left == log_;
    if (!whole) TearLastBlock(n);
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

  // Of the spool that a child left; 0: there is none.
  uint32_t NumAllocated() const {
    ppi_spool_header header = {};
    FILE *file = fopen(memory_->spool, "r");
    if (!file) return 0;
    if (fread(&header, sizeof header, 1, file) != 1) header.num_allocated = 0;
    fclose(file);
    return header.num_allocated;
  }

  // How many there are.
  size_t CheckSegments() {
    std::vector<std::string> paths;
    for (const auto &file : std::filesystem::directory_iterator(folder_)) {
      const std::string name = file.path().filename();
      paths.push_back(file.path());
      // A run that died before it recorded anything has one log, no segments.
      const bool is_segment = name.size() == 14
                                  ? name.substr(0, 4) == "run."
                                  : name == "run.pplog" && paths.size() == 1;
      num_failures_ += !is_segment;
      EXPECT_TRUE(is_segment)
          << name << " is left, killed at system call " << call_;
    }
    std::sort(paths.begin(), paths.end());
    const Findings found = kill_test::CheckLogs(paths, *memory_, true);
    EXPECT_EQ("", found.problems) << "killed at system call " << call_;
    num_failures_ += !found.problems.empty();
    in_flight_ += found.in_flight;
    return paths.size();
  }

  static long FileSize(const std::string &path) {
    FILE *file = fopen(path.c_str(), "r");
    if (!file) return 0;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    fclose(file);
    return size;
  }

  // At a quarter of them in short runs.
  void KillEverywhere(const Load &load, uint64_t num_points, bool lossless) {
    uint64_t num_calls = 0, points = 0;
    if (!pprof_test::IsLongRun()) num_points /= 4;
    ASSERT_TRUE(RunChild(load, 0, &num_calls));
    ASSERT_EQ(PPROF_STATUS_OK, memory_->stop_status);
    Check(log_, lossless, "not killed");
    const uint64_t step = std::max<uint64_t>(1, num_calls / num_points);
    const pprof_test::Sample sample(step, step);
    for (uint64_t n = 1 + sample.first; n <= num_calls; n += step) {
      uint64_t seen;
      ASSERT_TRUE(RunChild(load, n, &seen));
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
    RecordProperty("torn", num_torn_);
    RecordProperty("recovers_killed", static_cast<int>(num_recovers_killed_));
  }

  std::string folder_, spools_, log_, part_, copy_;
  Memory *memory_ = nullptr;
  long call_ = -1;
  int num_failures_ = 0, num_recovers_killed_ = 0, num_torn_ = 0;
  uint64_t in_flight_ = 0, lost_ = 0, excluded_ = 0, found_ = 0;
};

TEST_F(SystemCallTest, NothingIsLostOrDoubled) {
  const Load load = {log_.c_str(), spools_.c_str(), 8u << 20, 100, 12, 12,
                     true,         false,           0};
  KillEverywhere(load, 240, true);
  // A short run need not meet a write.
  if (pprof_test::IsLongRun()) {
    EXPECT_GT(num_torn_, 0);
  }
}

TEST_F(SystemCallTest, WhatDoesNotFitIsCounted) {
  const Load load = {log_.c_str(), spools_.c_str(), 2u << 20, 100, 3,
                     600,          false,           false,    0};
  KillEverywhere(load, 60, false);
  EXPECT_GT(lost_, 0u);
}

TEST_F(SystemCallTest, WhatWindowsLeaveOutIsCounted) {
  const Load load = {
      log_.c_str(), spools_.c_str(), 8u << 20, 100, 12, 12, true, true, 0};
  KillEverywhere(load, 60, false);
  EXPECT_GT(excluded_, 0u);
}

// A large spool gets most of its memory behind the start, from the collector.
TEST_F(SystemCallTest, NothingIsLostWhileTheSpoolGrows) {
  const Load load = {log_.c_str(), spools_.c_str(), 64u << 20, 100, 4, 12,
                     true,         false,           0};
  std::set<uint32_t> sizes;  // in chunks, of what was left
  const pprof_test::Sample sample(45, 18);
  for (uint64_t n = 40 + sample.first, seen; n < 760 && num_failures_ < 3;
       n += sample.stride) {
    ASSERT_TRUE(RunChild(load, n, &seen));
    const uint32_t size = NumAllocated();
    if (size) sizes.insert(size);
    if (memory_->spool[0]) CheckLeftOver(n, true);
  }
  // From 20 MiB to 64, in parts of 4.
  EXPECT_GE(sizes.size(), 4u);
  RecordProperty("sizes", static_cast<int>(sizes.size()));
}

// With a collector that only ever grew it: all records lie in the spool, most
// of them in memory that came later.
TEST_F(SystemCallTest, WhatLiesInMemoryThatCameLaterIsFound) {
  const Load load = {log_.c_str(), spools_.c_str(), 64u << 20, 4000000000, 1,
                     16000,        false,           false,     0};
  Remove();
  *memory_ = {};
  TracedChild child([&] { kill_test::RunLoad(load, memory_); },
                    [this](bool is_main) {
                      return is_main && memory_->phase >= kill_test::kStopping;
                    });
  ASSERT_TRUE(child.Run(1));
  ASSERT_TRUE(child.killed());
  Recover(memory_->spool, true, copy_.c_str());
  Check(copy_, false, "recovered");
  Recover(part_, false, nullptr);
  Check(log_, false, "recovered from the .part");
  // More than lanes can have of the 320 chunks that are there at first; 129 are
  // taken.
  EXPECT_GT(found_, 2 * (191u * 2048u));
  RecordProperty("found", static_cast<int>(found_));
}

// A log in segments, killed also while its files change their names: what is
// left are whole segments and nothing beside them.
TEST_F(SystemCallTest, SegmentsLoseAndLeaveNothing) {
  const Load load = {log_.c_str(), spools_.c_str(), 8u << 20, 100, 12, 12,
                     true,         false,           4096};
  uint64_t num_calls = 0, seen = 0, points = 0;
  size_t num_segments = 0;
  ASSERT_TRUE(RunChild(load, 0, &num_calls));
  const uint64_t num_points = pprof_test::IsLongRun() ? 150 : 40;
  const uint64_t step = std::max<uint64_t>(1, num_calls / num_points);
  const pprof_test::Sample sample(step, step);
  for (uint64_t n = 1 + sample.first; n <= num_calls && num_failures_ < 3;
       n += step) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    ASSERT_TRUE(RunChild(load, n, &seen));
    if (!memory_->spool[0]) continue;
    points++;
    const bool has_spool = access(memory_->spool, F_OK) == 0;
    const bool by_part = has_spool && n % 2 && FileSize(part_) > 64;
    if (has_spool || access(part_.c_str(), F_OK) == 0) {
      RecoverKilled(by_part ? part_ : memory_->spool, 2 + n * 7 % 60);
      // That one may have got to its end.
      ppi_recover_result result;
      if (access(memory_->spool, F_OK) == 0) {
        EXPECT_EQ(PPROF_STATUS_OK,
                  ppi_recover(memory_->spool, nullptr, &result, nullptr));
      }
    }
    num_segments = std::max(num_segments, CheckSegments());
  }
  EXPECT_GT(num_segments, 3u);
  EXPECT_GT(points, num_points / 3);
  RecordProperty("calls", static_cast<int>(num_calls));
  RecordProperty("points", static_cast<int>(points));
  RecordProperty("segments", static_cast<int>(num_segments));
  std::filesystem::remove_all(folder_);
}

// A spool is there with all that makes it one, or it is not there.
TEST_F(SystemCallTest, KilledWhileItsSpoolIsMade) {
  bool done = false;
  int num_unused = 0;
  const pprof_test::Sample sample(3, 1);
  for (uint64_t n = 1 + sample.first; !done; n += sample.stride) {
    Remove();
    TracedChild child(
        [this] {
          pprof_options options = {};
          options.size = sizeof options;
          options.spool_dir = spools_.c_str();
          options.memory_limit_bytes = 4u << 20;
          pprof_session *session = nullptr;
          if (pprof_session_create(&options, &session, nullptr)) _exit(1);
          raise(SIGURG);  // the calls count from here on
          if (pprof_session_start(session)) _exit(1);
        },
        [signals = 0](bool) mutable { return signals++ > 0; });
    ASSERT_TRUE(child.Run(n));
    done = !child.killed();
    for (const auto &file : std::filesystem::directory_iterator(spools_)) {
      const char *path = file.path().c_str();
      ppi_salvage *salvage = nullptr;
      pprof_error error = {};
      const pprof_status status = ppi_salvage_open(path, &salvage, &error);
      EXPECT_TRUE(status == PPROF_STATUS_OK || ppi_salvage_is_unused(path))
          << error.text << ", killed at system call " << child.killed_at();
      num_unused += status != PPROF_STATUS_OK;
      ppi_salvage_close(salvage);
    }
    EXPECT_LT(n, 1000u);
    RecordProperty("calls", static_cast<int>(n));
  }
  // A spool is unused from its creation until it names its owner.
  EXPECT_LT(num_unused, 20);
}

TEST_F(SystemCallTest, ProgramKilledAtAnyTimeIsRecovered) {
  std::mt19937_64 random(pprof_test::SampleSeed());
  for (int i = 0; i < 12; i++) {
    Remove();
    *memory_ = {};
    const uint64_t when = random() % 60000;
    const pid_t child = fork();
    if (child == 0)
      kill_test::RunForever(log_.c_str(), spools_.c_str(), memory_);
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
