// SPDX-License-Identifier: Apache-2.0
//
// Runs the tests, or with --child NAME one of the registered programs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>

#include "child.h"

extern char **environ;

namespace pprof_gpu {
namespace {

constexpr unsigned kLongestChildSeconds = 60;

std::map<std::string, ChildMain> &Children() {
  static std::map<std::string, ChildMain> children;
  return children;
}

std::string OwnPath() {
  char path[4096];
  ssize_t len = readlink("/proc/self/exe", path, sizeof path);
  return len > 0 ? std::string(path, static_cast<size_t>(len)) : std::string();
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t len;
  while ((len = read(fd, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<size_t>(len));
  return text;
}

pid_t Spawn(const std::vector<std::string> &command, int output) {
  std::vector<char *> arguments;
  for (const std::string &part : command)
    arguments.push_back(const_cast<char *>(part.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t pid = -1;
  if (posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(),
                   environ) != 0)
    pid = -1;
  posix_spawn_file_actions_destroy(&actions);
  return pid;
}

}  // namespace

Child::Child(const char *name, ChildMain run) {
  Children()[name] = run;
}

std::string OwnFolder() {
  std::string path = OwnPath();
  return path.substr(0, path.rfind('/'));
}

ChildResult RunProgram(const std::vector<std::string> &command) {
  ChildResult result = {-1, ""};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return result;
  pid_t pid = Spawn(command, ends[1]);
  close(ends[1]);
  if (pid > 0) result.output = ReadAll(ends[0]);
  close(ends[0]);
  int status = 0;
  if (pid <= 0 || waitpid(pid, &status, 0) != pid) return result;
  result.exit_code =
      WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

ChildResult RunChild(const std::string &name,
                     const std::vector<std::string> &arguments) {
  std::vector<std::string> command = {OwnPath(), "--child", name};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return RunProgram(command);
}

static int ChildProgram(int argc, char **argv) {
  alarm(kLongestChildSeconds);
  auto found = Children().find(argv[2]);
  if (found == Children().end()) return 127;
  return found->second(std::vector<std::string>(argv + 3, argv + argc));
}

}  // namespace pprof_gpu

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "--child") == 0)
    return pprof_gpu::ChildProgram(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
