// SPDX-License-Identifier: Apache-2.0
//
// A spool that somebody cuts off: whoever may do that (its owner, root) may end
// the process as well, and does; what is in the log stays, and recover believes
// no length.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include "log/recover/log_recover.h"
#include "mark/thread.h"
#include "pprof/pprof.h"
#include "tests/support/log_fixture.h"
#include "tests/support/patient_flush.h"

namespace pprof_test {
namespace {

PPROF_SITE(point_site, "point", PPROF_CATEGORY_USER_DEFINED);

class SpoolFaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(0, mkdir(spools_.c_str(), 0700));
  }

  pprof_session *Begin() {
    pprof_options options = {};
    options.size = sizeof options;
    options.memory_limit_bytes = 2u << 20;
    options.spool_dir = spools_.c_str();
    pprof_session *session = nullptr;
    if (pprof_session_create(&options, &session, nullptr) ||
        pprof_session_add_sink(session, pplog::Create(log_)) ||
        pprof_session_start(session))
      _exit(2);
    for (int i = 0; i < 100; i++) pprof_mark(&point_site);
    FlushPatiently(session);
    return session;
  }

  std::string Spool() const {
    for (const auto &file : std::filesystem::directory_iterator(spools_))
      return file.path();
    return "";
  }

  pplog::Folder folder_;
  std::string spools_ = folder_ / "spools", log_ = folder_ / "x.pplog";
};

TEST_F(SpoolFaultTest, CutOffWhileItIsWrittenEndsAsAKillDoes) {
  int ready[2];
  ASSERT_EQ(0, pipe(ready));
  const pid_t pid = fork();
  if (pid == 0) {
    Begin();
    // Also to the file: by then it holds what was flushed.
    for (size_t num = 0; num < 100;) {
      pplog::Collector lines;
      (void)!pprof_log_read((log_ + ".part").c_str(), lines.sink(), nullptr);
      num = pplog::Pick(lines.lines(), "event").size();
    }
    (void)!write(ready[1], "x", 1);
    for (;;) pprof_mark(&point_site);
  }
  char byte;
  ASSERT_EQ(1, read(ready[0], &byte, 1));
  close(ready[0]);
  close(ready[1]);
  ASSERT_EQ(0, truncate(Spool().c_str(), 0));
  int state = 0;
  ASSERT_EQ(pid, waitpid(pid, &state, 0));
  EXPECT_TRUE(WIFSIGNALED(state));
  EXPECT_EQ(SIGBUS, WTERMSIG(state));
  ppi_recover_result result = {};
  pprof_error error = {};
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_recover((log_ + ".part").c_str(), nullptr, &result, &error))
      << error.text;
  EXPECT_GE(pplog::Pick(pplog::Read(log_), "event").size(), 100u);
}

TEST_F(SpoolFaultTest, CutOffAtAnyLengthIsRefusedInWords) {
  const pid_t pid = fork();
  if (pid == 0) {
    Begin();
    _exit(0);
  }
  int state = 0;
  ASSERT_EQ(pid, waitpid(pid, &state, 0));
  ASSERT_EQ(0, state);
  const std::string whole = pplog::Slurp(Spool());
  ASSERT_EQ(2u << 20, whole.size());
  for (size_t len : {0ul, 1ul, 100ul, 4096ul, 65535ul, 65536ul, 70000ul,
                     1048576ul, 2097151ul}) {
    const std::string cut = folder_ / "cut.spool", copy = folder_ / "c.pplog";
    pplog::Spill(cut, whole.substr(0, len));
    const ppi_recover_options options = {copy.c_str(), false, true, false,
                                         nullptr};
    ppi_recover_result result = {};
    pprof_error error = {};
    EXPECT_NE(PPROF_STATUS_OK,
              ppi_recover(cut.c_str(), &options, &result, &error))
        << len;
    EXPECT_NE('\0', error.text[0]) << len;
    EXPECT_FALSE(pplog::Exists(copy)) << len;
  }
}

// What each of them counted is a sum by then, of which two copies take turns.
TEST_F(SpoolFaultTest, WhatThreadsThatLeftHaveCountedIsThere) {
  const pid_t pid = fork();
  if (pid == 0) {
    pprof_session *session = Begin();
    const uint64_t &word = ppi_recorder_in_force.spool.header->retired_word;
    for (int i = 0; i < 3; i++) {
      const uint64_t before = __atomic_load_n(&word, __ATOMIC_ACQUIRE);
      std::thread([] {
        pprof_mark(&point_site);
        pprof_pop();  // of nothing
      }).join();
      while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == before)
        FlushPatiently(session);
    }
    _exit(0);
  }
  int state = 0;
  ASSERT_EQ(pid, waitpid(pid, &state, 0));
  ASSERT_EQ(0, state);
  ppi_recover_result result = {};
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_recover(Spool().c_str(), nullptr, &result, nullptr));
  std::set<std::string> unmatched;  // of all, and of those that are gone
  for (const std::string &line : pplog::Pick(pplog::Read(log_), "total"))
    if (line.find(" unmatched=") != std::string::npos)
      unmatched.insert(line.substr(line.find(" unmatched=")));
  EXPECT_EQ(std::set<std::string>{" unmatched=3"}, unmatched);
}

}  // namespace
}  // namespace pprof_test
