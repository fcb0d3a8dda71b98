// SPDX-License-Identifier: Apache-2.0
//
// The control thread by itself: its socket and who may use it, touched and
// changed files, the signal, forks.
#include "control/control.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "control/control_socket.h"

namespace {

// ---- the thread ----

// What was asked of it; `next` waits for a call.
class Asked {
 public:
  ppi_control_actions Actions() {
    ppi_control_actions actions = {};
    actions.user = this;
    actions.trigger = [](void *user, const ppi_trigger *trigger,
                         ppi_control_reply *reply) {
      auto *self = static_cast<Asked *>(user);
      if (trigger->output[0]) reply->ticket = self->ticket;
      strcpy(reply->text, reply->ticket ? "begun" : "done");
      self->Say("trigger " + std::to_string(trigger->steps) + " " +
                trigger->output);
    };
    actions.settled = [](void *user, uint64_t over, ppi_control_reply *reply) {
      auto *self = static_cast<Asked *>(user);
      if (self->settled != over) return false;
      strcpy(reply->text, "done window=1");
      return true;
    };
    actions.gone = [](void *user, uint64_t which) {
      static_cast<Asked *>(user)->Say("gone " + std::to_string(which));
    };
    actions.reload = [](void *user) {
      static_cast<Asked *>(user)->Say("reload");
    };
    actions.warn = actions.moved = [](void *user, const char *text) {
      static_cast<Asked *>(user)->Say(text);
    };
    return actions;
  }

  std::string Next() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [&] { return next_ < said_.size(); });
    return said_[next_++];
  }
  size_t NumSaid() {
    std::lock_guard<std::mutex> lock(mutex_);
    return said_.size();
  }

  uint64_t ticket = 7;
  std::atomic<uint64_t> settled{0};

 private:
  void Say(const std::string &text) {
    std::lock_guard<std::mutex> lock(mutex_);
    said_.push_back(text);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> said_;
  size_t next_ = 0;
};

class ControlTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = "/tmp/control.XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(folder_.data()));
    setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
    sockets_ = folder_ + "/pprof";
    options_.look_ms = 1;
  }
  void TearDown() override {
    ppi_control_stop(control_);
    std::string command = "rm -r '" + folder_ + "'";
    EXPECT_EQ(0, system(command.c_str()));
    unsetenv("XDG_RUNTIME_DIR");
  }

  pprof_status Start() {
    ppi_control_actions actions = asked_.Actions();
    return ppi_control_start(&options_, &actions, &control_, &error_);
  }
  int Connect() {
    int fd = ppi_control_connect(getpid(), &error_);
    EXPECT_LE(0, fd) << error_.text;
    return fd;
  }
  void Send(int fd, const std::string &text) {
    ASSERT_EQ(static_cast<ssize_t>(text.size()),
              send(fd, text.data(), text.size(), MSG_NOSIGNAL));
  }
  // A line, or all until the end.
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
  std::string AskFor(const std::string &line) {
    int fd = Connect();
    Send(fd, line);
    std::string answer = Receive(fd);
    close(fd);
    return answer;
  }
  std::string SocketPath(long pid) {
    return sockets_ + "/" + std::to_string(pid) + ".sock";
  }
  void Write(const std::string &path, const std::string &text) {
    std::ofstream(path) << text;
  }

  std::string folder_, sockets_;
  Asked asked_;
  ppi_control_options options_ = {};
  ppi_control *control_ = nullptr;
  pprof_error error_ = {""};
};

bool Exists(const std::string &path) {
  struct stat found;
  return lstat(path.c_str(), &found) == 0;
}

// A socket at `path` that nobody listens to any more.
void LeaveSocket(const std::string &path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path, path.c_str());
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(0, bind(fd, reinterpret_cast<sockaddr *>(&address), sizeof address))
      << path;
  close(fd);
}

TEST_F(ControlTest, NothingToWaitForNeedsNoThread) {
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  EXPECT_EQ(nullptr, control_);
  ppi_control_hush(nullptr);
  ppi_control_in_forked_child(nullptr);
  EXPECT_FALSE(Exists(sockets_));
}

TEST_F(ControlTest, SocketIsForThisUserOnly) {
  options_.socket = true;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  struct stat found;
  ASSERT_EQ(0, stat(sockets_.c_str(), &found));
  EXPECT_EQ(0700u, found.st_mode & 0777);
  ASSERT_EQ(0, stat(SocketPath(getpid()).c_str(), &found));
  EXPECT_EQ(0600u, found.st_mode & 0777);
  ppi_control_stop(control_);
  control_ = nullptr;
  EXPECT_FALSE(Exists(SocketPath(getpid())));
}

TEST_F(ControlTest, AnswersEachLineAndEnds) {
  options_.socket = true;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  int fd = Connect();
  Send(fd, "trigger st");
  Send(fd, "eps=4\n");
  EXPECT_EQ("done", Receive(fd));
  EXPECT_EQ("(end)", Receive(fd));
  close(fd);
  EXPECT_EQ("trigger 4 ", asked_.Next());
  EXPECT_EQ("failed invalid 'hello' is no request", AskFor("hello\n"));
  EXPECT_EQ("failed invalid the request is too long",
            AskFor(std::string(PPI_CONTROL_LINE_MAX, 'x')));
  EXPECT_EQ(1u, asked_.NumSaid());
}

TEST_F(ControlTest, SecondLineComesWhenItIsOver) {
  options_.socket = true;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  int fd = Connect();
  Send(fd, "trigger output=/a\n");
  EXPECT_EQ("begun", Receive(fd));
  EXPECT_EQ(0, shutdown(fd, SHUT_WR)) << "as `echo | nc -N` does";
  asked_.settled = 7;
  EXPECT_EQ("done window=1", Receive(fd));
  EXPECT_EQ("(end)", Receive(fd));
  close(fd);
}

TEST_F(ControlTest, WhoDoesNotWaitIsSeenToGo) {
  options_.socket = true;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  int fd = Connect();
  Send(fd, "trigger output=/a\n");
  EXPECT_EQ("begun", Receive(fd));
  Send(fd, "more\n");
  close(fd);
  EXPECT_EQ("trigger 0 /a", asked_.Next());
  EXPECT_EQ("gone 7", asked_.Next());
}

TEST_F(ControlTest, WhoWaitsIsToldOfTheEnd) {
  options_.socket = true;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  int waits = Connect();
  Send(waits, "trigger output=/a\n");
  EXPECT_EQ("begun", Receive(waits));
  ppi_control_hush(control_);
  EXPECT_EQ("failed busy recording is being stopped", AskFor("trigger\n"));
  ppi_control_stop(control_);
  control_ = nullptr;
  EXPECT_EQ("failed busy recording ended before it was done", Receive(waits));
  EXPECT_EQ("(end)", Receive(waits));
  close(waits);
  EXPECT_EQ(1u, asked_.NumSaid());
}

// Nine connections that say nothing, or go away: the rest is served.
TEST_F(ControlTest, ManyAndGoneClientsDoNoHarm) {
  options_.socket = true;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  std::vector<int> idle;
  for (int i = 0; i < 8; i++) idle.push_back(Connect());
  int ninth = Connect();
  EXPECT_EQ("(end)", Receive(ninth)) << "eight at a time";
  close(ninth);
  Send(idle[3], "trigger\n");
  EXPECT_EQ("done", Receive(idle[3]));
  for (int fd : idle) close(fd);
  for (int i = 0; i < 20; i++) {
    int fd = Connect();
    Send(fd, "trigger output=/a\n");
    close(fd);
  }
  std::string answer;
  while (answer != "done") {
    int fd = ppi_control_connect(getpid(), &error_);
    if (fd < 0) continue;
    Send(fd, "trigger\n");
    answer = Receive(fd);
    close(fd);
  }
}

TEST_F(ControlTest, StaleSocketsGoLivingOnesStay) {
  ASSERT_EQ(0, mkdir(sockets_.c_str(), 0700));
  LeaveSocket(SocketPath(1));
  LeaveSocket(SocketPath(getpid()));
  LeaveSocket(sockets_ + "/other");
  Write(SocketPath(2), "a file");
  int fds[2];
  ASSERT_EQ(0, pipe(fds));
  pid_t child = fork();
  if (child == 0) {
    options_.socket = true;
    bool good = Start() == PPROF_STATUS_OK && control_;
    char c = good ? 'y' : 'n';
    if (write(fds[1], &c, 1) != 1) _exit(1);
    pause();
  }
  char c = 0;
  ASSERT_EQ(1, read(fds[0], &c, 1));
  ASSERT_EQ('y', c);
  options_.socket = true;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  EXPECT_NE(nullptr, control_);
  EXPECT_FALSE(Exists(SocketPath(1)));
  EXPECT_TRUE(Exists(SocketPath(2)));
  EXPECT_TRUE(Exists(sockets_ + "/other"));
  int fd = ppi_control_connect(child, &error_);
  EXPECT_LE(0, fd) << error_.text;
  close(fd);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(-1, ppi_control_connect(child, &error_));
  EXPECT_EQ("there is no process " + std::to_string(child), error_.text);
  close(fds[0]);
  close(fds[1]);
}

// A second copy of the library in one process leaves the first its socket.
TEST_F(ControlTest, OneSocketForAProcess) {
  options_.socket = true;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  Asked second;
  ppi_control_actions actions = second.Actions();
  ppi_control *other = nullptr;
  ppi_control_options options = options_;
  options.touch_path = "/nowhere/x";
  ASSERT_EQ(PPROF_STATUS_OK,
            ppi_control_start(&options, &actions, &other, &error_));
  EXPECT_EQ("no control socket: " + SocketPath(getpid()) + " is in use",
            second.Next());
  ppi_control_stop(other);
  EXPECT_TRUE(Exists(SocketPath(getpid())));
  EXPECT_EQ("done", AskFor("trigger\n"));
}

TEST_F(ControlTest, FoldersOfOthersAreRefused) {
  options_.socket = true;
  options_.touch_path = "/nowhere/x";
  std::string elsewhere = folder_ + "/elsewhere";
  ASSERT_EQ(0, mkdir(elsewhere.c_str(), 0700));
  ASSERT_EQ(0, symlink(elsewhere.c_str(), sockets_.c_str()));
  pprof_error error = {""};
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  // Perhaps the other place took it; this one did not.
  EXPECT_FALSE(Exists(elsewhere + "/" + std::to_string(getpid()) + ".sock"));
  ppi_control_stop(control_);
  control_ = nullptr;
  // Nor is a socket asked that lies behind it.
  LeaveSocket(elsewhere + "/" + std::to_string(getpid()) + ".sock");
  EXPECT_EQ(-1, ppi_control_connect(getpid(), &error));
  EXPECT_EQ(sockets_ + " is a symbolic link", error.text);
  unlink(sockets_.c_str());
  ASSERT_EQ(0, mkdir(sockets_.c_str(), 0755));
  EXPECT_EQ(-1, ppi_control_connect(getpid(), &error));
  EXPECT_EQ(sockets_ + " is open to other users", error.text);
}

// In a /tmp of its own: whatever has the folder's name there.
TEST_F(ControlTest, FolderInTmpHasANumberWhereItsNameIsTaken) {
  const pid_t child = fork();
  if (child == 0) {
    const std::string tmp = "/tmp/pprof-" + std::to_string(geteuid());
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
      _exit(77);
    mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (mount("tmp", "/tmp", "tmpfs", 0, "size=512k") != 0) _exit(78);
    unsetenv("XDG_RUNTIME_DIR");
    std::ofstream(tmp) << "a file";
    mkdir((tmp + ".1").c_str(), 0700);
    chmod((tmp + ".1").c_str(), 0777);
    options_.socket = true;
    EXPECT_EQ(PPROF_STATUS_OK, Start());
    const std::string path = tmp + ".2/" + std::to_string(getpid()) + ".sock";
    EXPECT_TRUE(Exists(path));
    EXPECT_EQ("the control socket is " + path + ": " + tmp +
                  ".1 is open to other users",
              asked_.Next());
    close(Connect());
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status) << "77, 78 in the high byte: no tmpfs can be mounted";
}

// What lies under its number is another's: nothing is asked of it.
TEST_F(ControlTest, ForeignSocketIsNotAsked) {
  options_.socket = true;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  ASSERT_EQ(
      0, rename(SocketPath(getpid()).c_str(), SocketPath(getppid()).c_str()));
  EXPECT_EQ(-1, ppi_control_connect(getppid(), &error_));
  EXPECT_EQ(SocketPath(getppid()) + " belongs to another process", error_.text);
}

TEST_F(ControlTest, ProcessWithoutASocketIsSaidToBeOne) {
  EXPECT_EQ(-1, ppi_control_connect(getpid(), &error_));
  EXPECT_EQ("process " + std::to_string(getpid()) +
                " cannot be asked: it does not record with pprof, or"
                " 'control.socket' is false there",
            error_.text);
  EXPECT_EQ(-1, ppi_control_connect(0, &error_));
  EXPECT_STREQ("there is no process 0", error_.text);
}

TEST_F(ControlTest, TouchIsATrigger) {
  std::string path = folder_ + "/touched";
  Write(path, "");
  options_.touch_path = path.c_str();
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  timespec times[2] = {{0, UTIME_OMIT}, {1000000000, 0}};
  ASSERT_EQ(0, utimensat(AT_FDCWD, path.c_str(), times, 0));
  EXPECT_EQ("trigger 0 ", asked_.Next());
  unlink(path.c_str());
  EXPECT_EQ(1u, asked_.NumSaid());
  Write(path, "");
  EXPECT_EQ("trigger 0 ", asked_.Next());
}

TEST_F(ControlTest, AChangedFileIsReadAgainOnce) {
  std::string path = folder_ + "/p.yaml";
  Write(path, "a: 1\n");
  options_.reload_path = path.c_str();
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  // As editors do: another file in its place, after a moment without any.
  Write(path + "~", "a: 2\n");
  unlink(path.c_str());
  ASSERT_EQ(0, rename((path + "~").c_str(), path.c_str()));
  EXPECT_EQ("reload", asked_.Next());
  Write(path, "a: 345\n");
  EXPECT_EQ("reload", asked_.Next());
}

// In a forked child: the parent has not come to read what it was changed to.
TEST_F(ControlTest, WhatAFormerOneHasNotReadIsRead) {
  std::string path = folder_ + "/p.yaml";
  Write(path, "a: 1\n");
  options_.reload_path = path.c_str();
  options_.look_ms = 1000000;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  ppi_control *former = control_;
  Write(path, "a: 2345\n");
  options_.look_ms = 1;
  options_.former = former;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  EXPECT_EQ("reload", asked_.Next());
  ppi_control_stop(former);
}

std::atomic<int> former_calls{0};

TEST_F(ControlTest, SignalIsATriggerAndPassedOn) {
  struct sigaction former = {}, now = {};
  former.sa_handler = [](int) { former_calls++; };
  sigaction(SIGUSR2, &former, nullptr);
  options_.signal = SIGUSR2;
  for (int i = 0; i < 2; i++) {
    former_calls = 0;
    ASSERT_EQ(PPROF_STATUS_OK, Start());
    kill(getpid(), SIGUSR2);
    EXPECT_EQ("trigger 0 ", asked_.Next());
    EXPECT_EQ(1, former_calls);
    ppi_control_stop(control_);
    control_ = nullptr;
    sigaction(SIGUSR2, nullptr, &now);
    EXPECT_EQ(former.sa_handler, now.sa_handler) << "given back";
  }
  signal(SIGUSR2, SIG_DFL);
}

std::set<int> PipeDescriptors() {
  std::set<int> found;
  char target[64] = "";
  for (int fd = 0; fd < 256; fd++) {
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t len = readlink(link.c_str(), target, sizeof target - 1);
    if (len > 0 && std::string(target, len).rfind("pipe:", 0) == 0)
      found.insert(fd);
  }
  return found;
}

// Under the number of its descriptor the program may have a file after the
// stop: what comes later must not touch that.
TEST_F(ControlTest, TheDescriptorOfASignalIsNeverAnotherFiles) {
  options_.signal = SIGUSR2;
  const std::set<int> before = PipeDescriptors();
  for (int i = 0; i < 3; i++) {
    ASSERT_EQ(PPROF_STATUS_OK, Start());
    EXPECT_EQ(before.size() + 4, PipeDescriptors().size());
    ppi_control_stop(control_);
    control_ = nullptr;
    EXPECT_EQ(before, PipeDescriptors());
  }
}

struct sigaction chained;

// A handler that came after ours has ours as its former one, for ever.
TEST_F(ControlTest, LaterHandlerMayGoOnCallingOurs) {
  options_.signal = SIGUSR1;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  struct sigaction later = {};
  later.sa_flags = SA_SIGINFO;
  later.sa_sigaction = [](int number, siginfo_t *info, void *context) {
    chained.sa_sigaction(number, info, context);
  };
  sigaction(SIGUSR1, &later, &chained);
  kill(getpid(), SIGUSR1);
  EXPECT_EQ("trigger 0 ", asked_.Next());
  ppi_control_stop(control_);
  control_ = nullptr;
  kill(getpid(), SIGUSR1);
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  kill(getpid(), SIGUSR1);
  EXPECT_EQ("trigger 0 ", asked_.Next());
  EXPECT_EQ(2u, asked_.NumSaid()) << "none while nothing ran";
  ppi_control_stop(control_);
  control_ = nullptr;
  signal(SIGUSR1, SIG_DFL);
}

// Without a descriptor for it a client waits; it is served once there is one.
TEST_F(ControlTest, ServesOnceThereAreDescriptors) {
  options_.socket = true;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path, SocketPath(getpid()).c_str());
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  rlimit before;
  ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
  rlimit none = {0, before.rlim_max};
  ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
  EXPECT_EQ(
      0, connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address));
  Send(fd, "trigger\n");
  ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
  EXPECT_EQ("done", Receive(fd));
  close(fd);
}

// A child has no control thread, and its descriptors are not the parent's.
TEST_F(ControlTest, ForkedChildHasNone) {
  options_.socket = true;
  options_.signal = SIGUSR2;
  ASSERT_EQ(PPROF_STATUS_OK, Start());
  pid_t child = fork();
  if (child == 0) {
    ppi_control_in_forked_child(control_);
    struct sigaction now;
    sigaction(SIGUSR2, nullptr, &now);
    _exit(now.sa_handler == SIG_DFL ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_EQ(0, status);
  EXPECT_EQ("done", AskFor("trigger\n"));
  EXPECT_TRUE(Exists(SocketPath(getpid())));
}

}  // namespace
