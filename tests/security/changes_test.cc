// SPDX-License-Identifier: Apache-2.0
//
// Programs that change what they are while they record, another user, another
// root, or that have limits: what they are told is true, and nothing is lost.
// Each in a child of its own.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/pprof.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <set>
#include <string>

#include "event/event.h"
#include "log/recover/log_recover.h"
#include "log_fixture.h"
#include "mark/thread.h"
#include "recover/salvage.h"

namespace {

using pplog::Exists;
using pplog::Spill;

PPROF_SITE(work_site, "work", PPROF_CATEGORY_USER_DEFINED);
constexpr uint64_t kMarks = 1000;

// What the child was answered.
struct Shared {
  pprof_status start, stop;
  char start_text[512], stop_text[512], spool[512];
};

class ChangesTest : public testing::Test {
 protected:
  void SetUp() override {
    void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(MAP_FAILED, memory);
    shared_ = static_cast<Shared *>(memory);
    config_ = At("p.yaml");
    Spill(config_, "output: " + At("run.pplog") + "\n");
  }
  void TearDown() override {
    munmap(shared_, sizeof *shared_);
  }
  std::string At(const std::string &name) const {
    return folder_ / name;
  }
  static void Mark() {
    for (uint64_t i = 0; i < kMarks; i++) {
      pprof_push(&work_site);
      pprof_pop();
    }
  }
  static void Keep(char *to, const pprof_error &error) {
    snprintf(to, sizeof shared_->start_text, "%s", error.text);
  }
  // It marks before and after it changes.
  void Run(const std::function<void()> &before,
           const std::function<void()> &change) {
    const pid_t child = fork();
    if (child == 0) {
      pprof_error error = {""};
      before();
      shared_->start =
          pprof_start(config_.empty() ? nullptr : config_.c_str(), &error);
      Keep(shared_->start_text, error);
      if (shared_->start == PPROF_STATUS_OK)
        strcpy(shared_->spool, ppi_recorder_in_force.spool.path);
      Mark();
      change();
      Mark();
      error.text[0] = 0;
      shared_->stop = pprof_stop(&error);
      Keep(shared_->stop_text, error);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    // Whatever it was answered, it goes on to its end.
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(0, WEXITSTATUS(status));
  }
  uint64_t NumRecorded(const std::string &log) {
    struct Counting {
      pprof_sink base;
      uint64_t num;
    } sink = {};
    sink.base.size = sizeof sink.base;
    sink.base.events = [](pprof_sink *self, const pprof_batch *batch) {
      reinterpret_cast<Counting *>(self)->num += batch->num_events;
      return PPROF_STATUS_OK;
    };
    pprof_error error = {""};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(log.c_str(), &sink.base, &error))
        << error.text;
    return sink.num;
  }
  // As what the stop has named does it.
  void Recover() {
    const ppi_recover_options how = {nullptr, false, false, false, nullptr};
    ppi_recover_result result;
    pprof_error error = {""};
    ASSERT_TRUE(Exists(shared_->spool));
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_recover(shared_->spool, &how, &result, &error))
        << error.text;
    EXPECT_FALSE(Exists(shared_->spool));
    EXPECT_FALSE(Exists(At("run.pplog.part")));
  }
  bool Says(const char *text, const std::string &what) {
    return std::string(text).find(what) != std::string::npos;
  }

  pplog::Folder folder_;
  std::string config_;
  Shared *shared_ = nullptr;
};

void Nothing() {}

void Limit(int resource, rlim_t value) {
  const struct rlimit limit = {value, value};
  if (setrlimit(resource, &limit) != 0) _exit(9);
}

TEST_F(ChangesTest, AnotherRootIsNoRemoval) {
  if (geteuid() != 0) GTEST_SKIP() << "chroot needs root";
  mkdir(At("root").c_str(), 0755);
  Run(Nothing, [this] {
    if (chroot(At("root").c_str()) != 0 || chdir("/") != 0) _exit(9);
  });
  EXPECT_EQ(PPROF_STATUS_IO, shared_->stop);
  EXPECT_TRUE(Says(shared_->stop_text, "another root")) << shared_->stop_text;
  EXPECT_FALSE(Says(shared_->stop_text, "removed")) << shared_->stop_text;
  EXPECT_FALSE(Says(shared_->stop_text, "not in it")) << shared_->stop_text;
  Recover();
  EXPECT_EQ(2 * kMarks, NumRecorded(At("run.pplog")));
}

TEST_F(ChangesTest, AnotherUserIsToldWhoCanRecover) {
  if (geteuid() != 0) GTEST_SKIP() << "setuid needs root";
  Run(Nothing, [] {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(9);
  });
  EXPECT_EQ(PPROF_STATUS_IO, shared_->stop);
  EXPECT_TRUE(Says(shared_->stop_text, "as user 65534")) << shared_->stop_text;
  EXPECT_TRUE(Says(shared_->stop_text, "as user 0")) << shared_->stop_text;
  Recover();
  EXPECT_EQ(2 * kMarks, NumRecorded(At("run.pplog")));
}

TEST_F(ChangesTest, LimitOfProcessesIsNotOutOfMemory) {
  config_.clear();  // which that user may not read, nor write beside it
  // Root's processes are not limited; this user has none.
  Run(
      [] {
        if (geteuid() == 0 && setuid(54321) != 0) _exit(9);
        setenv("PPROF_OUTPUT", "/tmp/pprof-changes-test.pplog", 1);
        Limit(RLIMIT_NPROC, 0);
      },
      Nothing);
  EXPECT_EQ(PPROF_STATUS_NO_MEMORY, shared_->start);
  EXPECT_TRUE(Says(shared_->start_text, "no thread can be made"))
      << shared_->start_text;
  EXPECT_TRUE(Says(shared_->start_text, "ulimit -u")) << shared_->start_text;
  EXPECT_FALSE(Says(shared_->start_text, "out of memory"))
      << shared_->start_text;
}

// From far too little to enough: a start or stop that says it is good has all
// of it, and one that does not, names the limit.
TEST_F(ChangesTest, LimitOfAddressesIsNamedOrTheLogIsGood) {
  bool was_refused = false, was_good = false;
  for (rlim_t mib = 32; mib <= 512; mib += 32) {
    SCOPED_TRACE(mib);
    *shared_ = {};
    Run([mib] { Limit(RLIMIT_AS, mib << 20); }, Nothing);
    if (shared_->start != PPROF_STATUS_OK) {
      was_refused = true;
      EXPECT_TRUE(Says(shared_->start_text, "ulimit -v"))
          << shared_->start_text;
      continue;
    }
    if (shared_->stop != PPROF_STATUS_OK) {
      EXPECT_TRUE(Says(shared_->stop_text, "ulimit -v")) << shared_->stop_text;
      unlink(At("run.pplog").c_str());
      unlink(At("run.pplog.part").c_str());
      unlink(shared_->spool);
      continue;
    }
    was_good = true;
    EXPECT_EQ(2 * kMarks, NumRecorded(At("run.pplog")));
    unlink(At("run.pplog").c_str());
  }
  EXPECT_TRUE(was_refused);
  EXPECT_TRUE(was_good);
}

}  // namespace
