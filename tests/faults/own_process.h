// SPDX-License-Identifier: Apache-2.0
//
// Tests that want a process of their own: what a device has met stays with it
// to the process's end, and the loader reads its search path at the start.
//
//   TEST_F(SomeTest, Name) {
//     if (RanInside({"tests/faults/driver"})) return;
//     ... this runs in a child that looks for libraries there
//   }
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/support/log_fixture.h"
#include "tests/support/patience.h"

namespace pprof_test {

struct OwnProcess {
  std::string library_path;
  int exit_code = 0;
  std::vector<std::string> environment = {};  // NAME=value
};

// The exit status of a child, or -signal.
inline int WaitFor(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class OwnProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!IsInside()) folder_ = std::make_unique<pplog::Folder>();
  }

  static bool IsInside() {
    return getenv(kInside) != nullptr;
  }

  // The child's files, for both.
  std::string File(const std::string &name) {
    return IsInside() ? std::string(getenv(kInside)) + "/" + name
                      : *folder_ / name;
  }

  // False in the child, whose body then runs; true in the parent, once the
  // child has ended and was judged.
  bool RanInside(const OwnProcess &process) {
    if (IsInside()) return false;
    pid_t pid = fork();
    if (pid == 0) Become(process);
    EXPECT_EQ(WaitFor(pid), process.exit_code);
    if (HasFailure()) ADD_FAILURE() << pplog::Slurp(File("output"));
    return true;
  }

 private:
  static constexpr const char *kInside = "PPROF_TEST_FOLDER";

  [[noreturn]] void Become(const OwnProcess &process) {
    const testing::TestInfo *test =
        testing::UnitTest::GetInstance()->current_test_info();
    std::string filter = std::string("--gtest_filter=") +
                         test->test_suite_name() + "." + test->name();
    if (!freopen(File("output").c_str(), "w", stdout)) _exit(125);
    dup2(1, 2);
    // Bazel's files and shards are the parent's.
    for (const char *name :
         {"XML_OUTPUT_FILE", "TEST_TOTAL_SHARDS", "TEST_PREMATURE_EXIT_FILE",
          "GTEST_OUTPUT", "TESTBRIDGE_TEST_ONLY"})
      unsetenv(name);
    for (const std::string &one : process.environment)
      putenv(strdup(one.c_str()));
    setenv("LD_LIBRARY_PATH", process.library_path.c_str(), 1);
    setenv(kInside, (*folder_ / "").c_str(), 1);
    // It outlives the exec: a child that hangs dies of it.
    alarm(PPROF_PATIENCE_SECONDS);
    execl("/proc/self/exe", "test", filter.c_str(), nullptr);
    _exit(126);
  }

  std::unique_ptr<pplog::Folder> folder_;  // the parent's
};

}  // namespace pprof_test
