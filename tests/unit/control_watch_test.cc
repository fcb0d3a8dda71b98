// SPDX-License-Identifier: Apache-2.0
//
// Those who look at a process over its control socket: each gets a descriptor,
// and is let go when it goes, or the process stops.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>

#include "control/control.h"
#include "control/control_socket.h"

namespace {

class ControlWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = "/tmp/control.XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(folder_.data()));
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    ppi_control_stop(control_);
    const std::string command = "rm -r '" + folder_ + "'";
    EXPECT_EQ(0, system(command.c_str()));
    unsetenv("XDG_RUNTIME_DIR");
  }
  void Start() {
    ppi_control_options options = {};
    ppi_control_actions actions = {};
    options.socket = true;
    actions.user = this;
    actions.watch = [](void *user) {
      auto *self = static_cast<ControlWatchTest *>(user);
      if (self->shown_.empty()) return -1;
      self->Count(1);
      return open(self->shown_.c_str(), O_RDONLY);
    };
    actions.unwatch = [](void *user) {
      static_cast<ControlWatchTest *>(user)->Count(-1);
    };
    ASSERT_EQ(PPROF_STATUS_OK,
              ppi_control_start(&options, &actions, &control_, &error_))
        << error_.text;
  }
  void Show(const std::string &text) {
    shown_ = folder_ + "/table";
    std::ofstream(shown_) << text;
  }
  void WaitForWatchers(int num) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return num_watchers_ == num; });
  }
  // The line of the answer, and what can be read beside it.
  std::string Watch(int *out_socket, std::string *out_text) {
    static const char request[] = "watch\n";
    char line[256] = "", beside[CMSG_SPACE(sizeof(int))], text[64] = "";
    iovec part = {line, sizeof line - 1};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = beside;
    message.msg_controllen = sizeof beside;
    *out_socket = ppi_control_connect(getpid(), &error_);
    EXPECT_LE(0, *out_socket) << error_.text;
    EXPECT_EQ(6, send(*out_socket, request, 6, MSG_NOSIGNAL));
    pollfd ready = {*out_socket, POLLIN, 0};
    poll(&ready, 1, -1);
    EXPECT_LT(0, recvmsg(*out_socket, &message, 0));
    int table = -1;
    if (cmsghdr *item = CMSG_FIRSTHDR(&message))
      memcpy(&table, CMSG_DATA(item), sizeof table);
    if (table >= 0 && read(table, text, sizeof text - 1) > 0) *out_text = text;
    if (table >= 0) close(table);
    return line;
  }

  ppi_control *control_ = nullptr;
  pprof_error error_ = {""};

 private:
  void Count(int by) {
    std::lock_guard<std::mutex> lock(mutex_);
    num_watchers_ += by;
    changed_.notify_all();
  }

  std::string folder_, shown_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int num_watchers_ = 0;
};

TEST_F(ControlWatchTest, EachHasADescriptorUntilItGoes) {
  Show("what there is to see");
  Start();
  int one, two;
  std::string text;
  EXPECT_EQ("begun watch\n", Watch(&one, &text));
  EXPECT_EQ("what there is to see", text);
  EXPECT_EQ("begun watch\n", Watch(&two, &text));
  WaitForWatchers(2);
  close(one);
  WaitForWatchers(1);
  // The other one stays until the stop, and sees its end then.
  ppi_control_stop(control_);
  control_ = nullptr;
  WaitForWatchers(0);
  char byte;
  pollfd ready = {two, POLLIN, 0};
  poll(&ready, 1, -1);
  EXPECT_EQ(0, recv(two, &byte, 1, 0));
  close(two);
}

TEST_F(ControlWatchTest, NobodyMayWhileItStops) {
  Show("something");
  Start();
  ppi_control_hush(control_);
  int socket;
  std::string text;
  EXPECT_EQ("failed unavailable there is nothing to be looked at\n",
            Watch(&socket, &text));
  EXPECT_EQ("", text);
  close(socket);
}

TEST_F(ControlWatchTest, ThereMayBeNothingToSee) {
  Start();
  int socket;
  std::string text;
  EXPECT_EQ("failed unavailable there is nothing to be looked at\n",
            Watch(&socket, &text));
  close(socket);
}

}  // namespace
