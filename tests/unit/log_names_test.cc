// SPDX-License-Identifier: Apache-2.0
//
// Many runs under one name: what is of another run is neither removed nor
// replaced, and a run that has another name than it was asked for says so.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/pprof.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cstdlib>
#include <random>

#include "log/recover/log_recover.h"
#include "log_fixture.h"
#include "tests/support/patient_flush.h"

namespace {

using pplog::Exists;
using pplog::Lines;
using pplog::Pick;
using pplog::Read;
using pplog::Slurp;
using pplog::Spill;

const char kRotate[] = "rotate: {size: 64KiB}\n";

class LogNamesTest : public testing::Test {
 protected:
  // A session that starts would recover what a test has killed, beside the
  // test.
  void SetUp() override {
    setenv("PPROF_RECLAIM", "0", 1);
  }
  void TearDown() override {
    pprof_stop(nullptr);
  }
  std::string At(const std::string &name) const {
    return folder_ / name;
  }
  void Start(const std::string &more = "") {
    Spill(At("p.yaml"), "output: " + At("service.pplog") + "\n" +
                            "control: {socket: false}\n" + more);
    pprof_error error = {""};
    ASSERT_EQ(PPROF_STATUS_OK, pprof_start(At("p.yaml").c_str(), &error))
        << error.text;
  }
  // What stop says when all is well.
  static std::string Stop() {
    pprof_error error = {""};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error)) << error.text;
    return error.text;
  }
  static void Mark(const char *name, int num) {
    std::mt19937_64 random(1);
    pprof_site site = {name, PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}};
    for (int i = 0; i < num; i++) {
      // What does not compress.
      pprof_count(&site, static_cast<double>(random()));
      if (i % 1000 == 999) pprof_test::FlushPatiently(pprof_session_current());
    }
    pprof_test::FlushPatiently(pprof_session_current());
  }
  // A process that is killed in the middle of a run.
  void RunKilled(const std::string &more = "", int num = 100) {
    pid_t pid = fork();
    if (pid == 0) {
      Start(more);
      Mark("killed", num);
      // The file is behind what is kept; what leads to the spool is in it once
      // it has more than its header, and is not the last segment's any more.
      struct stat part = {}, done = {};
      while (!more.empty() &&
             (stat(At("service.0002.pplog").c_str(), &done) != 0 ||
              stat(At("service.pplog.part").c_str(), &part) != 0 ||
              part.st_ino == done.st_ino || part.st_size <= 64))
        sched_yield();
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(pid, waitpid(pid, &status, 0));
    ASSERT_TRUE(WIFSIGNALED(status));
  }
  std::string Recover(const std::string &name) {
    ppi_recover_result result;
    pprof_error error = {""};
    EXPECT_EQ(PPROF_STATUS_OK,
              ppi_recover(At(name).c_str(), nullptr, &result, &error))
        << error.text;
    return result.path;
  }
  // How many marks of that name the file has; -1: it is not there.
  int Num(const std::string &name, const std::string &mark) {
    if (!Exists(At(name))) return -1;
    const Lines lines = Read(At(name));
    for (const std::string &site : Pick(lines, "define"))
      if (site.find(mark) != std::string::npos)
        return static_cast<int>(Pick(lines, "event").size());
    return 0;
  }
  std::string Taken(const std::string &name) {
    const Lines said = Pick(Read(At(name)), "info name_taken=");
    return said.empty() ? "" : said[0];
  }
  // The marks in all segments.
  int NumInSegments(const std::string &stem, const std::string &mark) {
    int sum = 0;
    for (int i = 1;; i++) {
      char name[64];
      snprintf(name, sizeof name, "%s.%04d.pplog", stem.c_str(), i);
      const int num = Num(name, mark);
      if (num < 0) return sum;
      sum += num;
    }
  }

  pplog::Folder folder_;
};

// What somebody else puts under a name of ours: another run's log, or a text.
class NamesOfOthersTest : public LogNamesTest,
                          public testing::WithParamInterface<bool> {
 protected:
  std::string Other() {
    if (!GetParam()) return "of somebody else";
    Start();
    Mark("other", 3);
    Stop();
    const std::string other = Slurp(At("service.pplog"));
    EXPECT_EQ(0, unlink(At("service.pplog").c_str()));
    return other;
  }
};

INSTANTIATE_TEST_SUITE_P(LogOrText, NamesOfOthersTest, testing::Bool());

TEST_F(LogNamesTest, CrashRestartRecoverKeepsBothRuns) {
  RunKilled();
  Start();
  Mark("restarted", 7);
  EXPECT_EQ(At("service.pplog"), Recover("service.pplog.part"));
  EXPECT_EQ("service.pplog was there already: the log is service.1.pplog",
            Stop());
  EXPECT_EQ(100, Num("service.pplog", "killed"));
  EXPECT_EQ(7, Num("service.1.pplog", "restarted"));
  EXPECT_EQ("info name_taken=service.pplog", Taken("service.1.pplog"));
  EXPECT_FALSE(Exists(At("service.1.pplog.part")));
}

TEST_F(LogNamesTest, FinishedLogOfAnEarlierRunStays) {
  for (int run = 0; run < 3; run++) {
    Start();
    Mark("run", run + 1);
    const std::string said = Stop();
    EXPECT_EQ(run == 0, said.empty()) << said;
  }
  EXPECT_EQ(1, Num("service.pplog", "run"));
  EXPECT_EQ(2, Num("service.1.pplog", "run"));
  EXPECT_EQ(3, Num("service.2.pplog", "run"));
  EXPECT_EQ("", Taken("service.pplog"));
  EXPECT_EQ("info name_taken=service.pplog", Taken("service.2.pplog"));
}

TEST_F(LogNamesTest, SegmentsOfAKilledRunStay) {
  RunKilled(kRotate, 20000);
  const int before = NumInSegments("service", "killed");
  ASSERT_GT(before, 0);
  Start(kRotate);
  Mark("restarted", 20000);
  Recover("service.pplog.part");
  EXPECT_EQ("service.pplog was there already: the log is service.1.pplog",
            Stop());
  EXPECT_EQ(20000, NumInSegments("service", "killed"));
  EXPECT_EQ(20000, NumInSegments("service.1", "restarted"));
  EXPECT_EQ("info name_taken=service.pplog", Taken("service.1.0002.pplog"));
}

// Of which the first ones are gone, and with them the .part.
TEST_F(LogNamesTest, SegmentsOfAFinishedRunStay) {
  Start("rotate: {size: 64KiB, keep: 2}\n");
  Mark("first", 20000);
  EXPECT_EQ("", Stop());
  EXPECT_FALSE(Exists(At("service.0001.pplog")));
  Start(kRotate);
  Mark("second", 10);
  EXPECT_EQ("service.pplog was there already: the log is service.1.pplog",
            Stop());
  EXPECT_EQ(10, Num("service.1.0001.pplog", "second"));
  EXPECT_FALSE(Exists(At("service.0001.pplog")));
}

TEST_F(LogNamesTest, WhatComesUnderItsNameMeanwhileStays) {
  Start();
  Mark("mine", 5);
  Spill(At("service.pplog"), "of somebody else");
  EXPECT_EQ("service.pplog was there already: the log is service.1.pplog",
            Stop());
  EXPECT_EQ("of somebody else", Slurp(At("service.pplog")));
  EXPECT_EQ(5, Num("service.1.pplog", "mine"));
}

// Nor does `keep` remove what is there instead.
TEST_P(NamesOfOthersTest, WhatComesUnderASegmentsNameMeanwhileStays) {
  const std::string other = Other();
  Start("rotate: {size: 64KiB, keep: 2}\n");
  Spill(At("service.0001.pplog"), other);
  Mark("mine", 20000);
  EXPECT_EQ(
      "service.pplog: 1 segments have a number behind theirs, as their names "
      "were there already",
      Stop());
  EXPECT_EQ(other, Slurp(At("service.0001.pplog")));
  EXPECT_GT(Num("service.0001.1.pplog", "mine"), 0);
}

// A limit of the disk makes room of one's own segments only.
TEST_P(NamesOfOthersTest, LimitOfTheDiskSparesOtherRuns) {
  const std::string other = Other();
  Start("rotate: {size: 64KiB}\ndisk_limit: 1MiB\n");
  for (int i = 0; !Exists(At("service.0001.pplog")) && i < 1000; i++)
    Mark("mine", 1000);
  Spill(At("service.0001.pplog"), other);
  for (int i = 0; Exists(At("service.0002.pplog")) || i < 10; i++) {
    Mark("mine", 1000);
    ASSERT_LT(i, 10000);
  }
  Stop();
  EXPECT_EQ(other, Slurp(At("service.0001.pplog")));
}

TEST_F(LogNamesTest, PipesAndSocketsAreStoodAsideOf) {
  ASSERT_EQ(0, mkfifo(At("service.pplog").c_str(), 0600));
  // Its path must be short.
  ASSERT_EQ(0, chdir(At("").c_str()));
  struct sockaddr_un address = {AF_UNIX, "service.1.pplog"};
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(0, bind(fd, reinterpret_cast<struct sockaddr *>(&address),
                    sizeof address));
  close(fd);
  ASSERT_EQ(0, chdir("/"));
  ASSERT_EQ(0, symlink("nowhere", At("service.2.pplog").c_str()));
  Start();
  Mark("mine", 5);
  EXPECT_EQ("service.pplog was there already: the log is service.3.pplog",
            Stop());
  EXPECT_EQ(5, Num("service.3.pplog", "mine"));
}

// An export is made of a log again: the latest one has its name.
TEST_F(LogNamesTest, ExportsAreOfTheLatestRun) {
  const std::string exports =
      "exports:\n  - {format: json, path: " + At("report.json") +
      "}\n  - {format: chrome, path: " + At("trace.json") + "}\n";
  for (const char *name : {"earlier", "later"}) {
    Start(exports);
    Mark(name, 5);
    Stop();
  }
  for (const char *file : {"report.json", "trace.json"}) {
    EXPECT_EQ(std::string::npos, Slurp(At(file)).find("\"earlier\"")) << file;
    EXPECT_FALSE(Exists(At(file) + ".part"));
  }
  EXPECT_NE(std::string::npos, Slurp(At("trace.json")).find("\"later\""));
  EXPECT_FALSE(Exists(At("trace.1.json")));
  EXPECT_FALSE(Exists(At("report.1.json")));
}

}  // namespace
