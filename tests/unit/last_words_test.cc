// SPDX-License-Identifier: Apache-2.0
//
// A test that dies leaves what one needs to find out why.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace {

__attribute__((noinline)) void FallOver(volatile int *where) {
  *where = 1;
}

TEST(LastWordsTest, DISABLED_Dies) {
  std::thread([] { FallOver(nullptr); }).join();
}

TEST(LastWordsTest, TestThatDiesLeavesStacksAndACore) {
  const std::string folder = ::testing::TempDir();
  const std::string core = folder + "/core";
  unlink(core.c_str());
  int ends[2];
  ASSERT_EQ(0, pipe(ends));
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    close(ends[0]);
    unsetenv("PPROF_TEST_LAST_WORDS");
    setenv("TEST_UNDECLARED_OUTPUTS_DIR", folder.c_str(), 1);
    execl("/proc/self/exe", "last_words_test", "--gtest_filter=*Dies",
          "--gtest_also_run_disabled_tests", nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::string said;
  char part[4096];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
    said.append(part, static_cast<size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) << status;
  EXPECT_NE(std::string::npos, said.find("last words: signal 11")) << said;
  ASSERT_EQ(0, access("/usr/bin/gdb", X_OK)) << "./dev test installs gdb";
  EXPECT_NE(std::string::npos, said.find("FallOver")) << said;
  EXPECT_NE(std::string::npos, said.find("RunAllTests")) << said;
  EXPECT_EQ(0, access(core.c_str(), R_OK)) << said;
}

// The other files' tests run, and the result names the one that died.
TEST(LastWordsTest, ResultNamesTheTestThatDied) {
  const std::string folder = ::testing::TempDir();
  const std::string result = folder + "/result.xml";
  const pid_t child = fork();
  if (child == 0) {
    unsetenv("PPROF_TEST_ONE_FILE");
    setenv("TEST_UNDECLARED_OUTPUTS_DIR", folder.c_str(), 1);
    setenv("XML_OUTPUT_FILE", result.c_str(), 1);
    execl("/proc/self/exe", "last_words_test",
          "--gtest_filter=*Dies:record_lines_test",
          "--gtest_also_run_disabled_tests", nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
  std::ifstream file(result);
  const std::string said{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(std::string::npos, said.find("<testcase name=\"DISABLED_Dies\" "
                                         "classname=\"LastWordsTest\"><failure "
                                         "message=\"ended by signal 11\"/>"))
      << said;
  EXPECT_NE(std::string::npos, said.find("classname=\"RecordLinesTest\""))
      << said;
}

}  // namespace
