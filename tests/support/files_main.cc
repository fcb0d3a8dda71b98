// SPDX-License-Identifier: Apache-2.0
//
// The main function of all GoogleTest programs. The tests of each file run in a
// process of their own, one file after the other: no test finds what another
// file's tests left in memory, and a process that dies names its test. A filter
// may name files beside tests: `--gtest_filter=log_reader_test`.
#include <fcntl.h>
#include <fnmatch.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

// Where a file's process notes the test that it runs.
constexpr char kNote[] = "PPROF_TEST_NOTE";
// It runs one file: it and all that it starts start no other.
constexpr char kOneFile[] = "PPROF_TEST_ONE_FILE";
constexpr char kDone[] = "done";

// Full names of tests by the name of their file, `log_reader_test`.
using Files = std::map<std::string, std::vector<std::string>>;

bool MatchesAny(const std::string &patterns, const std::string &name) {
  std::istringstream list(patterns);
  for (std::string pattern; std::getline(list, pattern, ':');)
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) return true;
  return false;
}

// As GoogleTest reads filters: wanted patterns, '-', unwanted ones.
bool Selects(const std::string &filter, const std::string &file,
             const std::string &test) {
  const size_t dash = filter.find('-');
  const std::string wanted = filter.substr(0, dash);
  const std::string unwanted =
      dash == std::string::npos ? "" : filter.substr(dash + 1);
  return (wanted.empty() || MatchesAny(wanted, test) ||
          MatchesAny(wanted, file)) &&
         !MatchesAny(unwanted, test) && !MatchesAny(unwanted, file);
}

Files SelectedFiles() {
  const std::string filter = testing::GTEST_FLAG(filter);
  const testing::UnitTest &all = *testing::UnitTest::GetInstance();
  Files files;
  for (int i = 0; i < all.total_test_suite_count(); i++) {
    const testing::TestSuite &suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); j++) {
      const testing::TestInfo &test = *suite.GetTestInfo(j);
      const std::string name = std::string(suite.name()) + "." + test.name();
      const std::string file = std::filesystem::path(test.file()).stem();
      if (Selects(filter, file, name)) files[file].push_back(name);
    }
  }
  return files;
}

// Each shard has every n-th file, never a part of one.
Files OfThisShard(const Files &files) {
  const char *total = getenv("GTEST_TOTAL_SHARDS");
  const char *index = getenv("GTEST_SHARD_INDEX");
  const char *status = getenv("GTEST_SHARD_STATUS_FILE");
  if (!total || !index) return files;
  if (status) std::ofstream(status, std::ios::app);
  Files mine;
  int at = 0;
  for (const auto &file : files)
    if (at++ % atoi(total) == atoi(index)) mine.insert(file);
  unsetenv("GTEST_TOTAL_SHARDS");
  unsetenv("GTEST_SHARD_INDEX");
  unsetenv("GTEST_SHARD_STATUS_FILE");
  return mine;
}

std::string Joined(const std::vector<std::string> &names) {
  std::string all;
  for (const std::string &name : names) all += (all.empty() ? "" : ":") + name;
  return all;
}

std::string Slurp(const std::string &path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Notes : public testing::EmptyTestEventListener {
 public:
  explicit Notes(const char *path) : path_(path), owner_(getpid()) {}

  void OnTestStart(const testing::TestInfo &test) override {
    Write(std::string(test.test_suite_name()) + "." + test.name());
  }
  void OnTestProgramEnd(const testing::UnitTest &) override {
    Write(kDone);
  }

 private:
  void Write(const std::string &text) const {
    if (getpid() == owner_) std::ofstream(path_) << text;
  }

  const std::string path_;
  const pid_t owner_;
};

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status))
    return "ended by signal " + std::to_string(WTERMSIG(status));
  return "left with status " + std::to_string(WEXITSTATUS(status));
}

// Runs one file after the other and gathers their results.
class Runner {
 public:
  explicit Runner(char **argv) : argv_(argv) {
    const char *base = getenv("TEST_TMPDIR");
    folder_ = std::string(base ? base : "/tmp") + "/XXXXXX";
    if (!mkdtemp(folder_.data())) abort();
    const char *xml = getenv("XML_OUTPUT_FILE");
    if (xml) xml_ = xml;
  }

  void Run(const std::string &file, const std::vector<std::string> &tests) {
    printf("===== %s, %zu tests\n", file.c_str(), tests.size());
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) Become(Joined(tests));
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) abort();
    const bool done = Slurp(Path("note")) == kDone;
    if (done)
      suites_ += Inside(Slurp(Path("xml")));
    else
      SayDied(file, HowItEnded(status));
    if (!done || status != 0) failed_.push_back(file);
    std::filesystem::remove_all(folder_);
  }

  // The exit status.
  int Finish() const {
    if (!xml_.empty())
      std::ofstream(xml_) << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                          << "<testsuites name=\"AllTests\">" << suites_
                          << "</testsuites>\n";
    for (const std::string &file : failed_)
      printf("===== failed: %s\n", file.c_str());
    return failed_.empty() ? 0 : 1;
  }

 private:
  std::string Path(const char *name) const {
    return folder_ + "/" + name;
  }

  [[noreturn]] void Become(const std::string &filter) {
    const std::string option = "--gtest_filter=" + filter;
    std::vector<char *> args;
    for (char **arg = argv_; *arg; arg++) args.push_back(*arg);
    args.push_back(const_cast<char *>(option.c_str()));
    args.push_back(nullptr);
    std::filesystem::create_directories(Path("tmp"));
    setenv("TEST_TMPDIR", Path("tmp").c_str(), 1);
    setenv("XML_OUTPUT_FILE", Path("xml").c_str(), 1);
    setenv(kNote, Path("note").c_str(), 1);
    setenv(kOneFile, "1", 1);
    unsetenv("PPROF_TEST_LAST_WORDS");
    execv("/proc/self/exe", args.data());
    _exit(127);
  }

  void SayDied(const std::string &file, const std::string &how) {
    std::string test = Slurp(Path("note"));
    if (test.empty()) test = file + ".start";
    printf("[  DIED  ] %s %s\n", test.c_str(), how.c_str());
    const size_t dot = test.find('.');
    suites_ += "<testsuite name=\"" + file + "\" tests=\"1\" failures=\"1\">" +
               "<testcase name=\"" + test.substr(dot + 1) + "\" classname=\"" +
               test.substr(0, dot) + "\"><failure message=\"" + how +
               "\"/></testcase></testsuite>\n";
  }

  // The content of a result's outermost element.
  static std::string Inside(const std::string &xml) {
    const size_t begin = xml.find('>', xml.find("<testsuites"));
    const size_t end = xml.rfind("</testsuites>");
    if (begin == std::string::npos || end == std::string::npos) return "";
    return xml.substr(begin + 1, end - begin - 1);
  }

  char **argv_;
  std::string folder_, xml_, suites_;
  std::vector<std::string> failed_;
};

}  // namespace

int main(int argc, char **argv) {
  std::vector<char *> given(argv, argv + argc + 1);
  testing::InitGoogleTest(&argc, argv);
  if (const char *note = getenv(kNote)) {
    testing::UnitTest::GetInstance()->listeners().Append(new Notes(note));
    unsetenv(kNote);
  }
  if (getenv(kOneFile) || testing::GTEST_FLAG(list_tests))
    return RUN_ALL_TESTS();
  const Files files = OfThisShard(SelectedFiles());
  if (files.size() == 1) {
    // In this process, where a debugger is.
    testing::GTEST_FLAG(filter) = Joined(files.begin()->second);
    return RUN_ALL_TESTS();
  }
  Runner runner(given.data());
  for (const auto &[file, tests] : files) runner.Run(file, tests);
  return runner.Finish();
}
