// SPDX-License-Identifier: Apache-2.0
//
// Prints a backtrace when a test dies and, where gdb is installed, the stacks
// of all threads. gdb also leaves a core among the test's outputs
// (bazel-testlogs/.../test.outputs). Every test links it. Sanitizers print
// their own messages, and look for leaks in the test's process alone.
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PPROF_SANITIZED

// Children of a test die as the test wants, and print nothing.
#define INHERITED "PPROF_TEST_LAST_WORDS"
#define GDB_SECONDS 60

static pid_t owner;
static char pid_text[24], keep_core[4200];

static void say(const char *text) {
  size_t len = strlen(text);
  if (write(2, text, len) < 0) return;
}

static void become_gdb(void) {
  static const char *const argv[] = {
      "gdb",         "-nx",     "-batch",
      "-p",          pid_text,  "-ex",
      "set width 0", "-ex",     "thread apply all backtrace",
      "-ex",         keep_core, NULL};
  dup2(2, 1);
  alarm(GDB_SECONDS);
  execv("/usr/bin/gdb", (char *const *)argv);
  _exit(127);
}

// A raw fork: handlers of fork take locks that the dead thread may hold.
static void ask_gdb(void) {
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) become_gdb();
  if (child > 0) waitpid((pid_t)child, NULL, 0);
}

static void die(int signal) {
  sigset_t only;
  struct sigaction usual = {.sa_handler = SIG_DFL};
  sigaction(signal, &usual, NULL);
  if (getpid() == owner) {
    void *frames[64];
    char text[64];
    snprintf(text, sizeof text, "\nlast words: signal %d, thread %d\n", signal,
             (int)gettid());
    say(text);
    backtrace_symbols_fd(frames, backtrace(frames, 64), 2);
    ask_gdb();
  }
  sigemptyset(&only);
  sigaddset(&only, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &only, NULL);
}

__attribute__((constructor)) static void listen_for_death(void) {
  static const int deadly[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  struct sigaction action = {.sa_handler = die};
  const char *outputs = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  if (getenv(INHERITED)) return;
  setenv(INHERITED, "1", 1);
  owner = getpid();
  snprintf(pid_text, sizeof pid_text, "%d", (int)owner);
  snprintf(keep_core, sizeof keep_core,
           outputs ? "generate-core-file %.4000s/core" : "echo", outputs);
  // The first call loads a library, which a handler must not.
  void *frame;
  backtrace(&frame, 1);
  for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
    sigaction(deadly[i], &action, NULL);
}

#else

static pid_t owner;

__attribute__((constructor)) static void note_owner(void) {
  owner = getpid();
}

// The leak checker asks before it takes the allocator's locks, which in a
// forked child a thread that is not there may hold for ever.
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) {
  return owner != 0 && owner != getpid();
}

// PoCL's compiler may be at work on its thread when a program ends: what it has
// then is PoCL's.
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(
    void);
const char *__lsan_default_suppressions(void) {
  return "leak:libpocl\nleak:libLLVM\n";
}
#endif
