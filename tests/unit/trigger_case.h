// SPDX-License-Identifier: Apache-2.0
//
// A program that records with pprof_start, in a folder of its own, and the
// conversation with it.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "control/control_socket.h"
#include "pprof/pprof.h"

class TriggerTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char *name : {"PPROF_CONFIG", "PPROF_OUTPUT", "PPROF_ENABLE",
                             "PPROF_SET", "PPROF_LOG_LEVEL"})
      unsetenv(name);
    folder_ = "/tmp/trigger.XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(folder_.data()));
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    pprof_stop(nullptr);
    unsetenv("XDG_RUNTIME_DIR");
    std::string command = "rm -r '" + folder_ + "'";
    EXPECT_EQ(0, system(command.c_str()));
  }

  void Configure(const std::string &text) {
    std::ofstream(folder_ + "/new") << text;
    ASSERT_EQ(0, rename((folder_ + "/new").c_str(), Config().c_str()));
  }
  std::string Config() {
    return folder_ + "/p.yaml";
  }
  void Start(const std::string &text) {
    Configure("output: " + folder_ + "/all.pplog\n" + text);
    ASSERT_EQ(PPROF_STATUS_OK, pprof_start(Config().c_str(), &error_))
        << error_.text;
  }
  int Connect(const std::string &line, pid_t pid = getpid()) {
    int fd = ppi_control_connect(pid, &error_);
    EXPECT_LE(0, fd) << error_.text;
    EXPECT_EQ(static_cast<ssize_t>(line.size()),
              send(fd, line.data(), line.size(), MSG_NOSIGNAL));
    return fd;
  }
  std::string Receive(int fd) {
    std::string line;
    for (char c;;) {
      pollfd ready = {fd, POLLIN, 0};
      poll(&ready, 1, -1);
      if (recv(fd, &c, 1, 0) != 1) return line + "(end)";
      if (c == '\n') return line;
      line += c;
    }
  }

  std::string folder_;
  pprof_error error_ = {""};
};
