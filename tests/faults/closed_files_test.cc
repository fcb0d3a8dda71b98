// SPDX-License-Identifier: Apache-2.0
//
// A program that closes every descriptor it does not know, as closefrom(3) and
// libraries that make a daemon do, and opens files of its own: they get the
// numbers that were ours. Nothing of ours may reach them, and log and trace are
// whole, also where kernel or sandbox refuse threads a table of their own.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <vector>

#include "pprof/export.h"
#include "pprof/log.h"
#include "pprof/pprof.h"
#include "tests/support/log_fixture.h"
#include "tests/support/recording_sink.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static std::atomic<bool> refuses{false};
static std::atomic<int> num_refused{0};

extern "C" {
long __real_syscall(long number, ...);

long __wrap_syscall(long number, ...) {
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (long &each : a) each = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_close_range && refuses) {
    num_refused++;
    errno = EPERM;
    return -1;
  }
  return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
}

namespace pprof_test {
namespace {

PPROF_SITE(value_site, "value", PPROF_CATEGORY_USER_DEFINED);

// Every number a program may get is a file of its own: far more than we have.
class Databases {
 public:
  explicit Databases(const pplog::Folder &folder) {
    for (int i = 0; i < 64; i++) {
      paths_.push_back(folder / ("db" + std::to_string(i)));
      fds_.push_back(open(paths_.back().c_str(), O_RDWR | O_CREAT, 0600));
      EXPECT_EQ(static_cast<ssize_t>(kText.size()),
                write(fds_.back(), kText.data(), kText.size()));
    }
  }
  void ExpectIntact() {
    for (size_t i = 0; i < fds_.size(); i++) {
      EXPECT_EQ(static_cast<off_t>(kText.size()), lseek(fds_[i], 0, SEEK_CUR))
          << paths_[i] << " was closed, or moved in";
      EXPECT_TRUE(pplog::Slurp(paths_[i]) == kText) << paths_[i];
    }
  }
  void Close() {
    for (int fd : fds_) close(fd);
  }

 private:
  const std::string kText = std::string(1u << 16, 'd');
  std::vector<std::string> paths_;
  std::vector<int> fds_;
};

void CloseFrom3() {
  const long open_max = sysconf(_SC_OPEN_MAX);
  if (__real_syscall(SYS_close_range, 3, ~0u, 0) != 0)
    for (int fd = 3; fd < open_max; fd++) close(fd);
}

size_t NumCounters(const std::string &path) {
  Recording read;
  pprof_sink *sink = RecordingSink::Make(&read);
  pprof_error error = {};
  EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(path.c_str(), sink, &error))
      << error.text;
  sink->destroy(sink);
  return read.events.size();
}

class ClosedFilesTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    refuses = GetParam();
    num_refused = 0;
  }
  void TearDown() override {
    live_.Destroy();
    refuses = false;
  }
  void Start() {
    ASSERT_NE(nullptr, live_.Create());
    pprof_sink *log = nullptr, *trace = nullptr;
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_log_writer_create(log_.c_str(), &log, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(live_.session(), log));
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_chrome_writer_create(trace_.c_str(), &trace, nullptr));
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(live_.session(), trace));
    ASSERT_EQ(PPROF_STATUS_OK, live_.Start());
  }
  void Mark(size_t num) {
    for (size_t i = 0; i < num; i++)
      pprof_count(&value_site, static_cast<double>(num_made_++) * 1.37);
    ASSERT_EQ(PPROF_STATUS_OK, live_.Flush());
  }
  void ExpectAll() {
    EXPECT_EQ(num_made_, NumCounters(log_));
    const std::string trace = pplog::Slurp(trace_);
    size_t num = 0;
    for (size_t at = 0; (at = trace.find("\"ph\":\"C\"", at)) != trace.npos;
         at++)
      num++;
    EXPECT_EQ(num_made_, num);
  }

  pplog::Folder folder_;
  const std::string log_ = folder_ / "x.pplog", trace_ = folder_ / "x.json";
  LiveSession live_;
  size_t num_made_ = 0;
};

TEST_P(ClosedFilesTest, ProgramsFilesStayIntactAndOursAreWhole) {
  Start();
  Mark(1000);
  CloseFrom3();
  Databases databases(folder_);
  for (int i = 0; i < 20; i++) Mark(1000);
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop()) << live_.error.text;
  live_.Destroy();
  databases.ExpectIntact();
  databases.Close();
  ExpectAll();
  EXPECT_EQ(GetParam(), num_refused > 0);
}

// A stop without a marker since: what is left is cut, closed and named.
TEST_P(ClosedFilesTest, StopAloneTouchesNoFileOfTheProgram) {
  Start();
  Mark(3000);
  CloseFrom3();
  Databases databases(folder_);
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop()) << live_.error.text;
  live_.Destroy();
  databases.ExpectIntact();
  databases.Close();
  ExpectAll();
}

// Whoever reads a pipe sees its end when the program closes it, as without us.
TEST_P(ClosedFilesTest, EndsOfPipesAreSeenAtOnce) {
  int before[2], socket[2];
  char byte;
  ASSERT_EQ(0, pipe(before));
  ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, socket));
  const int standard = dup(STDIN_FILENO);
  ASSERT_EQ(STDIN_FILENO, dup2(before[1], STDIN_FILENO));
  Start();
  Mark(10);
  close(before[1]);
  close(socket[1]);
  dup2(standard, STDIN_FILENO);
  close(standard);
  EXPECT_EQ(0, read(before[0], &byte, 1));
  EXPECT_EQ(0, read(socket[0], &byte, 1));
  EXPECT_EQ(PPROF_STATUS_OK, live_.Stop()) << live_.error.text;
  close(before[0]);
  close(socket[0]);
  ExpectAll();
}

// All that pprof_start opens: log, trace, table, control socket, signal, spool.
TEST_P(ClosedFilesTest, ConfiguredProgramToo) {
  const std::string config = folder_ / "pprof.yaml", table = folder_ / "x.csv";
  pplog::Spill(config, "output: " + log_ +
                           "\nexports:\n  - {format: chrome, path: " + trace_ +
                           "}\n  - {format: csv, path: " + table +
                           "}\ncontrol: {socket: true, signal: USR2}\n");
  pprof_error error = {};
  ASSERT_EQ(PPROF_STATUS_OK, pprof_start(config.c_str(), &error)) << error.text;
  for (int i = 0; i < 500; i++) pprof_count(&value_site, i);
  CloseFrom3();
  Databases databases(folder_);
  raise(SIGUSR2);
  for (int i = 0; i < 500; i++) pprof_count(&value_site, i);
  EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error)) << error.text;
  databases.ExpectIntact();
  databases.Close();
  num_made_ = 1000;
  ExpectAll();
  EXPECT_NE(std::string::npos, pplog::Slurp(table).find(','));
}

INSTANTIATE_TEST_SUITE_P(Kernel, ClosedFilesTest,
                         ::testing::Values(false, true),
                         [](const ::testing::TestParamInfo<bool> &each) {
                           return each.param ? "Refuses" : "Grants";
                         });

}  // namespace
}  // namespace pprof_test
