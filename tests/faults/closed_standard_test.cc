// SPDX-License-Identifier: Apache-2.0
//
// Programs whose standard descriptors are closed before the start, as some
// supervisors leave them, and which print all the same: what they print meets
// none of our files, and a daemon's dup2(/dev/null) takes none away.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/pprof.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "log/recover/log_recover.h"
#include "tests/support/log_fixture.h"
#include "tests/support/patience.h"
#include "tests/support/patient_flush.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

namespace {

bool refuses;  // threads a table of descriptors of their own

}  // namespace

extern "C" {
long __real_syscall(long number, ...);

long __wrap_syscall(long number, ...) {
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (long &each : a) each = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_close_range && refuses) {
    errno = EPERM;
    return -1;
  }
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
}

namespace {

using pplog::Exists;
using pplog::Pick;
using pplog::Read;
using pplog::Slurp;

constexpr int kRounds = 200;
constexpr char kPrinted[] = "what the program prints\n";

enum class Then { kNothing, kOpensNull };

struct Case {
  unsigned closed;  // bits 0 to 2
  Then then;
};

void Mark() {
  pprof_push_name("marked", PPROF_CATEGORY_USER_DEFINED);
  pprof_pop();
}

// Whether `path`, of /proc, leads into the folder, to a socket or to a pipe.
bool IsOurs(const std::string &path, const std::string &folder) {
  std::string target(600, 0);
  const ssize_t len = readlink(path.c_str(), &target[0], target.size());
  if (len < 0) return false;
  target.resize(static_cast<size_t>(len));
  return target.compare(0, folder.size(), folder) == 0 ||
         target.compare(0, 5, "pipe:") == 0 ||
         target.compare(0, 7, "socket:") == 0;
}

// Of any thread: some have a table of their own.
bool TookStandard(const std::string &folder, unsigned closed) {
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks) return true;
  bool found = false;
  while (const dirent *task = readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    for (int fd = 0; fd < 3; fd++)
      found = found || (closed & 1u << fd &&
                        IsOurs(std::string("/proc/self/task/") + task->d_name +
                                   "/fd/" + std::to_string(fd),
                               folder));
  }
  closedir(tasks);
  return found;
}

class ClosedStandardTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    refuses = GetParam();
  }
  void TearDown() override {
    refuses = false;
  }
  std::string At(const std::string &name) const {
    return *folder_ / name;
  }

  // All that a start can open.
  void Configure() {
    folder_ = std::make_unique<pplog::Folder>();
    pplog::Spill(At("p.yaml"),
                 "output: " + At("run.pplog") + "\nspool: " + At("") +
                     "\nmemory_limit: 8MiB\ncpu: [\"*\"]\nexports:\n"
                     "  - {format: chrome, path: " +
                     At("run.trace.json") +
                     "}\n  - {format: csv, path: " + At("run.csv") +
                     "}\ncontrol: {socket: true, signal: USR2}\n");
  }

  static void Print() {
    for (int fd = 1; fd < 3; fd++)
      if (write(fd, kPrinted, sizeof kPrinted - 1) < 0) errno = 0;
    char byte;
    if (lseek(0, 0, SEEK_SET) == 0 && read(0, &byte, 1) < 0) errno = 0;
  }

  // The program; the child's status says what was wrong, or the alarm's signal
  // that a descriptor of ours has a standard number for good.
  void RunProgram(const Case &one, bool stops) const {
    alarm(PPROF_PATIENCE_SECONDS);
    // What stays open is the test's own to look at: nothing comes of it.
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
      if (one.closed & 1u << fd)
        close(fd);
      else
        dup2(null, fd);
    if (pprof_start(At("p.yaml").c_str(), nullptr) != PPROF_STATUS_OK)
      _exit(99);
    // A thread that has begun late may have one open for a moment.
    for (int fd = 0; fd < 3; fd++)
      while (one.closed & 1u << fd && fcntl(fd, F_GETFD) != -1) sched_yield();
    Print();
    Mark();
    if (one.then == Then::kOpensNull)
      for (int fd = 0; fd < 3; fd++) dup2(null, fd);
    for (int i = 1; i < kRounds; i++) {
      Print();
      Mark();
    }
    if (pprof_test::FlushPatiently(pprof_session_current()) != PPROF_STATUS_OK)
      _exit(98);
    while (one.then == Then::kNothing && TookStandard(At(""), one.closed))
      sched_yield();
    if (!stops) _exit(0);
    _exit(pprof_stop(nullptr));
  }

  int Run(const Case &one, bool stops) const {
    fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) RunProgram(one, stops);
    int status = 0;
    EXPECT_EQ(pid, waitpid(pid, &status, 0));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    DIR *folder = opendir(At("").c_str());
    if (!folder) return names;
    while (const dirent *entry = readdir(folder))
      if (entry->d_name[0] != '.') names.push_back(entry->d_name);
    closedir(folder);
    return names;
  }
  void ExpectNothingPrinted() const {
    for (const std::string &name : Files())
      EXPECT_EQ(std::string::npos, Slurp(At(name)).find(kPrinted)) << name;
  }
  void ExpectAll() const {
    ASSERT_TRUE(Exists(At("run.pplog")));
    EXPECT_EQ(static_cast<size_t>(kRounds),
              Pick(Read(At("run.pplog")), "event").size());
  }

  template <typename Body>
  static void EachCase(Body body) {
    for (Then then : {Then::kNothing, Then::kOpensNull})
      for (unsigned closed = 1; closed < 8; closed++) {
        SCOPED_TRACE("closed: " + std::to_string(closed) +
                     (then == Then::kOpensNull ? ", then /dev/null" : ""));
        body(Case{closed, then});
      }
  }

  std::unique_ptr<pplog::Folder> folder_;
};

TEST_P(ClosedStandardTest, NothingPrintedMeetsOurFiles) {
  EachCase([this](const Case &one) {
    Configure();
    EXPECT_EQ(0, Run(one, true));
    ExpectNothingPrinted();
    ExpectAll();
    EXPECT_TRUE(Exists(At("run.trace.json")));
    EXPECT_TRUE(Exists(At("run.csv")));
  });
}

// The spool and the log's first part lie there as a death leaves them.
TEST_P(ClosedStandardTest, NorWhatADeathLeaves) {
  EachCase([this](const Case &one) {
    Configure();
    EXPECT_EQ(0, Run(one, false));
    ExpectNothingPrinted();
    ppi_recover_result result;
    pprof_error error = {};
    ASSERT_EQ(PPROF_STATUS_OK, ppi_recover(At("run.pplog.part").c_str(),
                                           nullptr, &result, &error))
        << error.text;
    ExpectAll();
  });
}

INSTANTIATE_TEST_SUITE_P(Kernel, ClosedStandardTest,
                         testing::Values(false, true),
                         [](const testing::TestParamInfo<bool> &each) {
                           return each.param ? "Refuses" : "Grants";
                         });

}  // namespace
