// SPDX-License-Identifier: Apache-2.0
//
// Processes that die with a log and a spool of their own, in a folder of the
// test's, and what reclaim makes of what they left.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/pprof.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "log/recover/reclaim.h"
#include "log_fixture.h"
#include "tests/support/patience.h"

namespace reclaim_case {

using pplog::Exists;
using pplog::Pick;
using pplog::Read;
using pplog::Spill;

constexpr uint64_t kLimit = 2u << 20;

inline void Mark(int num) {
  static pprof_site site = {"mark", PPROF_CATEGORY_USER_DEFINED, 0, 0, {0, 0}};
  for (int i = 0; i < num; i++) pprof_mark(&site);
}

class ReclaimTest : public testing::Test {
 protected:
  void SetUp() override {
    spools_ = "/dev/shm/pprof-reclaimXXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&spools_[0]));
    setenv("PPROF_RECLAIM", "1", 1);
    unsetenv("PPROF_SET");
    unsetenv("PPROF_OUTPUT");
    void *memory = mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    phase_ = static_cast<int *>(memory);
  }
  void TearDown() override {
    EXPECT_EQ(0, system(("rm -rf '" + spools_ + "'").c_str()));
  }

  // By name.
  std::vector<std::string> Spools() const {
    std::vector<std::string> paths;
    DIR *entries = opendir(spools_.c_str());
    while (const dirent *entry = readdir(entries))
      if (strstr(entry->d_name, ".spool"))
        paths.push_back(spools_ + "/" + entry->d_name);
    closedir(entries);
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  uint64_t Bytes() const {
    uint64_t bytes = 0;
    struct stat found;
    for (const std::string &path : Spools())
      if (stat(path.c_str(), &found) == 0)
        bytes += static_cast<uint64_t>(found.st_blocks) * 512;
    return bytes;
  }
  uint64_t Bound() const {
    struct statvfs shm;
    EXPECT_EQ(0, statvfs(spools_.c_str(), &shm));
    return std::min<uint64_t>(kLimit, shm.f_blocks * shm.f_frsize / 8);
  }

  void Start(const std::string &log, const std::string &more = "") const {
    const std::string config = log + ".yaml";
    Spill(config, "output: " + log + "\nspool: " + spools_ +
                      "\nmemory_limit: 2MiB\ncontrol: {socket: false}\n" +
                      more);
    pprof_error error = {};
    if (pprof_start(config.c_str(), &error) == PPROF_STATUS_OK) return;
    fprintf(stderr, "%s\n", error.text);
    _exit(99);
  }
  static int Run(const std::function<void()> &body) {
    fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(PPROF_PATIENCE_SECONDS);  // a hang is an end by SIGALRM
      body();
      _exit(0);
    }
    int status = 0;
    EXPECT_EQ(pid, waitpid(pid, &status, 0));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  // A process that marks and is killed; `before` that. It has begun its log: a
  // start waits for that for a second only.
  void Die(
      const std::string &log, int num,
      const std::function<void()> &before = [] {},
      const std::string &more = "") const {
    ASSERT_EQ(-SIGKILL, Run([&] {
      Start(log, more);
      Mark(num);
      if (more.empty())
        WaitFor([&] { return !pplog::Slurp(log + ".part").empty(); });
      before();
      kill(getpid(), SIGKILL);
    }));
  }
  // Dead processes that no start has reclaimed.
  void DieAlone(const std::string &log, int num,
                const std::string &more = "") const {
    setenv("PPROF_RECLAIM", "0", 1);
    Die(
        log, num, [] {}, more);
    setenv("PPROF_RECLAIM", "1", 1);
  }
  static void WaitFor(const std::function<bool()> &what) {
    while (!what()) sched_yield();
  }
  // In a process with a session.
  void WaitUntilAlone() const {
    WaitFor([this] { return Spools().size() == 1 || !IsAtIt(); });
  }
  std::string Log(int number) const {
    return folder_ / ("run" + std::to_string(number) + ".pplog");
  }
  static size_t NumEvents(const std::string &log) {
    return Pick(Read(log), "event").size();
  }
  // The note of reclaim at its end; "" without leftovers.
  std::string Reclaim() const {
    std::string text;
    const ppi_reclaim_options options = {spools_.c_str(), kLimit,
                                         [](void *user, const char *told) {
                                           *static_cast<std::string *>(user) =
                                               told;
                                         },
                                         &text};
    ppi_reclaim *reclaim = ppi_reclaim_start(&options);
    WaitFor([&] { return !reclaim || !IsAtIt(); });
    ppi_reclaim_finish(reclaim, 100000);
    ppi_reclaim_destroy(reclaim);
    return text;
  }
  // Whether the thread of reclaim is there, or one that has no name yet.
  static bool IsAtIt() {
    bool found = false;
    int num_unnamed = 0;  // the process's first thread is one
    const std::string own = pplog::Slurp("/proc/self/comm");
    DIR *threads = opendir("/proc/self/task");
    while (const dirent *entry = readdir(threads)) {
      if (entry->d_name[0] == '.') continue;
      const std::string name = pplog::Slurp(
          "/proc/self/task/" + std::string(entry->d_name) + "/comm");
      found = found || name == "pprof-reclaim\n";
      num_unnamed += name == own;
    }
    closedir(threads);
    return found || num_unnamed > 1;
  }
  static std::string Note(const std::string &log) {
    const pplog::Lines notes = Pick(Read(log), "note reclaim");
    return notes.empty() ? "" : notes[0];
  }

  pplog::Folder folder_;
  std::string spools_;
  int *phase_ = nullptr;
};

}  // namespace reclaim_case
