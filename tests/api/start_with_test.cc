// SPDX-License-Identifier: Apache-2.0
//
// pprof_start_with: a schedule in code, a function that is told of each window,
// a log for each window; and what goes before what.
#include <gtest/gtest.h>
#include <pprof/mark.h>
#include <pprof/pprof.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/recording_sink.h"

namespace pprof_test {
namespace {

void Mark(const std::string &name) {
  pprof_push_name(name.c_str(), PPROF_CATEGORY_USER_DEFINED);
  pprof_pop();
}

struct Told {
  std::vector<uint32_t> windows;
  std::vector<std::string> logs;
  std::vector<pprof_status> starts, stops;
};

void Tell(void *user, const pprof_window *window) {
  auto *told = static_cast<Told *>(user);
  EXPECT_EQ(sizeof *window, window->size);
  EXPECT_NE(nullptr, window->report);
  told->windows.push_back(window->index);
  told->logs.push_back(window->log ? window->log : "(none)");
  told->starts.push_back(pprof_start(nullptr, nullptr));
  told->stops.push_back(pprof_stop(nullptr));
}

class StartWithTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/start_with.XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(name));
    folder_ = name;
    setenv("PPROF_OUTPUT", At("run.pplog").c_str(), 1);
    unsetenv("PPROF_SET");
  }
  void TearDown() override {
    pprof_stop(nullptr);
    std::filesystem::remove_all(folder_);
  }
  std::string At(const std::string &name) const {
    return folder_ + "/" + name;
  }
  const char *File(const std::string &text) {
    std::ofstream(At("p.yaml")) << text;
    config_ = At("p.yaml");
    return config_.c_str();
  }
  static void Steps(int num) {
    for (int i = 0; i < num; i++) {
      if (i > 0) pprof_step(0);
      Mark("step" + std::to_string(i));
    }
  }
  static std::vector<std::string> Names(const std::string &path) {
    Recording recording;
    pprof_sink *sink = RecordingSink::Make(&recording);
    EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(path.c_str(), sink, nullptr));
    sink->destroy(sink);
    std::vector<std::string> names;
    for (const auto &event : recording.events)
      if (event.name != "ProfileStep") names.push_back(event.name);
    return names;
  }
  pprof_status StartWith(const pprof_start_options &options) {
    return pprof_start_with(&options, &error_);
  }

  using Texts = std::vector<std::string>;
  std::string folder_, config_;
  pprof_error error_ = {""};
  Told told_;
  const pprof_schedule cycles_ = {sizeof(pprof_schedule), 0, 1, 0, 1, 2, 0};
};

TEST_F(StartWithTest, EveryWindowIsToldWithItsLog) {
  const std::string logs = At("w.%w.pplog");
  ASSERT_EQ(PPROF_STATUS_OK, StartWith({sizeof(pprof_start_options), nullptr,
                                        &cycles_, Tell, &told_, logs.c_str()}))
      << error_.text;
  Steps(6);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(&error_)) << error_.text;
  EXPECT_EQ((std::vector<uint32_t>{0, 1}), told_.windows);
  EXPECT_EQ((Texts{At("w.0.pplog"), At("w.1.pplog")}), told_.logs);
  EXPECT_EQ((Texts{"step1"}), Names(At("w.0.pplog")));
  EXPECT_EQ((Texts{"step3"}), Names(At("w.1.pplog")));
  EXPECT_EQ((Texts{"step1", "step3"}), Names(At("run.pplog")));
  const std::vector<pprof_status> busy(2, PPROF_STATUS_BUSY);
  EXPECT_EQ(busy, told_.starts);
  EXPECT_EQ(busy, told_.stops);
}

TEST_F(StartWithTest, ALogOfYamlIsToldToo) {
  const char *file = File(
      "log: false\ncapture: {active: 1, repeat: 2}\n"
      "exports: [{format: log, path: '" +
      At("y%w.pplog") + "', per: window}]\n");
  ASSERT_EQ(PPROF_STATUS_OK, StartWith({sizeof(pprof_start_options), file,
                                        nullptr, Tell, &told_, nullptr}))
      << error_.text;
  Steps(3);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(&error_)) << error_.text;
  EXPECT_EQ((Texts{At("y0.pplog"), At("y1.pplog")}), told_.logs);
  EXPECT_EQ((Texts{"step1"}), Names(At("y1.pplog")));
}

TEST_F(StartWithTest, CodeGoesBeforeTheFileAndTheEnvironmentBeforeBoth) {
  const char *file = File("capture: {steps: [4, 5]}\n");
  ASSERT_EQ(PPROF_STATUS_OK, StartWith({sizeof(pprof_start_options), file,
                                        &cycles_, nullptr, nullptr, nullptr}));
  Steps(6);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  EXPECT_EQ((Texts{"step1", "step3"}), Names(At("run.pplog")));
  setenv("PPROF_SET", "capture={steps: [2, 3]}", 1);
  ASSERT_EQ(PPROF_STATUS_OK, StartWith({sizeof(pprof_start_options), file,
                                        &cycles_, nullptr, nullptr, nullptr}));
  Steps(6);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  EXPECT_EQ((Texts{"step2"}), Names(At("run.1.pplog")));
}

// The function alone is something to do.
TEST_F(StartWithTest, NothingNeedBeWritten) {
  const char *file = File("log: false\n");
  ASSERT_EQ(PPROF_STATUS_OK, StartWith({sizeof(pprof_start_options), file,
                                        &cycles_, Tell, &told_, nullptr}))
      << error_.text;
  Steps(4);
  ASSERT_EQ(PPROF_STATUS_OK, pprof_stop(nullptr));
  EXPECT_EQ((Texts{"(none)", "(none)"}), told_.logs);
}

TEST_F(StartWithTest, WhatIsRefused) {
  EXPECT_EQ(PPROF_STATUS_INVALID, pprof_start_with(nullptr, &error_));
  EXPECT_EQ(PPROF_STATUS_INVALID, StartWith({}));
  EXPECT_STRNE("", error_.text);
  pprof_schedule bad = cycles_;
  bad.active = 0;
  EXPECT_EQ(PPROF_STATUS_INVALID,
            StartWith({sizeof(pprof_start_options), nullptr, &bad, nullptr,
                       nullptr, nullptr}));
  EXPECT_NE(nullptr, strstr(error_.text, "'active' is 0"));
  bad.size = 0;
  EXPECT_EQ(PPROF_STATUS_INVALID,
            StartWith({sizeof(pprof_start_options), nullptr, &bad, nullptr,
                       nullptr, nullptr}));
  for (const char *path : {"", "no number.pplog", "%x%w.pplog"})
    EXPECT_EQ(PPROF_STATUS_CONFIG,
              StartWith({sizeof(pprof_start_options), nullptr, nullptr, nullptr,
                         nullptr, path}))
        << path;
  EXPECT_EQ(
      PPROF_STATUS_CONFIG,
      pprof_start(File("exports: [{format: log, path: a.pplog}]\n"), &error_));
  EXPECT_NE(nullptr, strstr(error_.text, "per: window")) << error_.text;
  EXPECT_EQ(nullptr, pprof_session_current());
}

// A child goes on by the same schedule, with logs of its own, and calls nothing
// of its parent's.
TEST_F(StartWithTest, AForkedChildCallsNothing) {
  const std::string logs = At("w.%w.pplog");
  ASSERT_EQ(PPROF_STATUS_OK, StartWith({sizeof(pprof_start_options), nullptr,
                                        &cycles_, Tell, &told_, logs.c_str()}));
  const pid_t pid = fork();
  if (pid == 0) {
    Steps(4);
    _exit(pprof_stop(nullptr) == PPROF_STATUS_OK && told_.windows.empty() ? 0
                                                                          : 1);
  }
  int status = -1;
  ASSERT_EQ(pid, waitpid(pid, &status, 0));
  EXPECT_EQ(0, status);
  const std::string own = "w.0." + std::to_string(pid) + ".pplog";
  EXPECT_EQ((Texts{"step1"}), Names(At(own)));
}

}  // namespace
}  // namespace pprof_test
