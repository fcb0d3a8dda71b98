// SPDX-License-Identifier: Apache-2.0
//
// Runs a function in a forked child and ends it by SIGKILL when it enters its
// n-th system call, counting only those of chosen threads. One at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>

namespace kill_test {

class TracedChild {
 public:
  // `body` runs in the child. The parent asks `counts` when a thread first
  // stops, and at each signal of a thread. True: the thread's system calls
  // count from here on.
  using Counts = std::function<bool(bool is_main)>;
  TracedChild(std::function<void()> body, Counts counts);

  // Kills at the entry of system call `kill_at`, from 1; 0: never. False when
  // the child ended in any way but by us or by exit status 0.
  bool Run(uint64_t kill_at);

  uint64_t num_calls() const {
    return num_calls_;
  }
  bool killed() const {
    return killed_;
  }
  // Number of the system call it was killed at, -1.
  long killed_at() const {
    return killed_at_;
  }

 private:
  pid_t Start();
  void Stopped(pid_t thread, int status);
  void CountCall(pid_t thread);

  std::function<void()> body_;
  Counts counts_;
  pid_t child_ = 0;
  uint64_t kill_at_ = 0, num_calls_ = 0;
  bool killed_ = false;
  long killed_at_ = -1;
  std::set<pid_t> seen_, counted_;
};

}  // namespace kill_test
