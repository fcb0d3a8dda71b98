// SPDX-License-Identifier: Apache-2.0
//
// A session with a log in a folder of its own, and a heap that can be counted.
#pragma once

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <string>

#include "pprof/log.h"
#include "pprof/session.h"

namespace pprof_test {

class LongSessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // One place for all that is allocated, so that it can be counted.
    mallopt(M_ARENA_MAX, 1);
    folder_ = ::testing::TempDir() + "/monthsXXXXXX";
    ASSERT_NE(nullptr, mkdtemp(&folder_[0]));
    log_ = folder_ + "/run.pplog";
  }
  void TearDown() override {
    pprof_session_destroy(session_);
    unlink(log_.c_str());
    rmdir(folder_.c_str());
  }
  void Add(pprof_sink *sink) {
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_add_sink(session_, sink));
  }
  void AddLog() {
    pprof_sink *sink = nullptr;
    ASSERT_EQ(PPROF_STATUS_OK,
              pprof_log_writer_create(log_.c_str(), &sink, &error_))
        << error_.text;
    Add(sink);
  }
  void Start() {
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_start(session_));
  }
  // And destroys it, before a sink that lies on the test's stack goes.
  void Stop() {
    ASSERT_EQ(PPROF_STATUS_OK, pprof_session_stop(session_, &error_))
        << error_.text;
    pprof_session_destroy(session_);
    session_ = nullptr;
  }

  std::string folder_, log_;
  pprof_session *session_ = nullptr;
  pprof_error error_ = {};
};

}  // namespace pprof_test
