// SPDX-License-Identifier: Apache-2.0
//
// All threads of the child are traced; the counted ones stop at each system
// call, the others run freely.
#include "traced_child.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace kill_test {

TracedChild::TracedChild(std::function<void()> body, Counts counts)
    : body_(std::move(body)), counts_(std::move(counts)) {}

pid_t TracedChild::Start() {
  int go[2];
  if (pipe(go) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    close(go[1]);
    if (read(go[0], &byte, 1) != 1) _exit(4);
    close(go[0]);
    body_();
    _exit(0);
  }
  close(go[0]);
  const long options =
      PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
  if (child > 0 && ptrace(PTRACE_SEIZE, child, nullptr, options) == 0) {
    ptrace(PTRACE_INTERRUPT, child, nullptr, nullptr);
    if (write(go[1], "", 1) != 1) kill(child, SIGKILL);
  }
  close(go[1]);
  return child;
}

void TracedChild::CountCall(pid_t thread) {
  __ptrace_syscall_info info = {};
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0 ||
      info.op != PTRACE_SYSCALL_INFO_ENTRY)
    return;
  if (++num_calls_ != kill_at_) return;
  kill(child_, SIGKILL);
  killed_ = true;
  killed_at_ = static_cast<long>(info.entry.nr);
}

void TracedChild::Stopped(pid_t thread, int status) {
  const int event = status >> 16;
  const bool is_call = WSTOPSIG(status) == (SIGTRAP | 0x80);
  const bool is_signal = !is_call && event == 0;
  if ((seen_.insert(thread).second || is_signal) && counts_(thread == child_))
    counted_.insert(thread);
  if (is_call && counted_.count(thread)) CountCall(thread);
  const bool count = counted_.count(thread) != 0;
  ptrace(count ? PTRACE_SYSCALL : PTRACE_CONT, thread, nullptr,
         is_signal ? WSTOPSIG(status) : 0);
}

bool TracedChild::Run(uint64_t kill_at) {
  kill_at_ = kill_at;
  num_calls_ = 0;
  killed_ = false;
  killed_at_ = -1;
  seen_.clear();
  counted_.clear();
  child_ = Start();
  if (child_ < 0) return false;
  for (;;) {
    int status = 0;
    const pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0) return false;
    if (WIFSTOPPED(status)) {
      Stopped(thread, status);
    } else if (thread == child_) {
      if (WIFEXITED(status)) return WEXITSTATUS(status) == 0;
      return killed_ && WTERMSIG(status) == SIGKILL;
    }
  }
}

}  // namespace kill_test
