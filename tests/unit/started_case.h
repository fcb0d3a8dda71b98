// SPDX-License-Identifier: Apache-2.0
//
// A session that pprof_start makes of a file, its log and what is recovered.
#pragma once

#include <gtest/gtest.h>
#include <pprof/pprof.h>

#include <cstdlib>
#include <string>

#include "log/recover/log_recover.h"
#include "log_fixture.h"
#include "tests/support/recording_sink.h"

namespace pprof_test {

class StartedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("PPROF_RECLAIM", "0", 1);
  }
  void TearDown() override {
    pprof_stop(nullptr);
  }
  std::string At(const std::string &name) const {
    return folder_ / name;
  }
  void Start(const std::string &more) {
    pplog::Spill(At("p.yaml"), "output: " + At("run.pplog") +
                                   "\ncontrol: {socket: false}\n" + more);
    pprof_error error = {""};
    ASSERT_EQ(PPROF_STATUS_OK, pprof_start(At("p.yaml").c_str(), &error))
        << error.text;
  }
  static void Stop() {
    pprof_error error = {""};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_stop(&error)) << error.text;
  }
  static Recording Events(const std::string &path) {
    Recording read;
    pprof_sink *sink = RecordingSink::Make(&read);
    pprof_error error = {};
    EXPECT_EQ(PPROF_STATUS_OK, pprof_log_read(path.c_str(), sink, &error))
        << error.text;
    RecordingSink::Destroy(sink);
    EXPECT_FALSE(read.undefined_site);
    return read;
  }
  static std::string Recover(const std::string &path) {
    ppi_recover_result result;
    pprof_error error = {""};
    EXPECT_EQ(PPROF_STATUS_OK,
              ppi_recover(path.c_str(), nullptr, &result, &error))
        << error.text;
    return result.path;
  }

  pplog::Folder folder_;
};

}  // namespace pprof_test
