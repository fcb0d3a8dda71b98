// SPDX-License-Identifier: Apache-2.0
//
// Programs that begin and end in all the ways there are: life SCENARIO [PATH].
// What is recorded stands in life_test.py.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

enum { NUM_WORKERS = 4, NUM_RANGES = 1000 };

static void ranges(const char *name, int num) {
  for (int i = 0; i < num; i++) {
    nvtxRangePushA(name);
    nvtxMarkA("inside");
    nvtxRangePop();
  }
}

// The child's exit status; a program that ends by a signal answers 128 + it.
static int wait_for(pid_t child) {
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child) return 255;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Inside a range of the parent's, which is none of the child's.
static void fork_child(int by_exit) {
  ranges("parent", 10);
  say("push", nvtxRangePushA("over the fork"));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    say("child push", nvtxRangePushA("child outer"));
    ranges("child", 20);
    say("child pop", nvtxRangePop());
    if (!by_exit) _exit(7);
    exit(7);
  }
  say("status", wait_for(child));
  say("pop", nvtxRangePop());
  ranges("parent", 10);
}

static void fork_exit(const char *path) {
  (void)path;
  fork_child(1);
}

static void fork_underscore_exit(const char *path) {
  (void)path;
  fork_child(0);
}

// As data loaders do: no worker runs what is to be run at exit.
static void workers(const char *path) {
  pid_t children[NUM_WORKERS];
  (void)path;
  nvtxMarkA("parent");
  for (int i = 0; i < NUM_WORKERS; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      char name[32];
      snprintf(name, sizeof name, "worker %d", i);
      ranges(name, NUM_RANGES);
      nvtxRangePushA("open at the end");
      _exit(0);
    }
  }
  for (int i = 0; i < NUM_WORKERS; i++) say("status", wait_for(children[i]));
}

static void *thread_ranges(void *argument) {
  ranges("thread", 50);
  return argument;
}

// Forks while another thread is in the middle of a range.
static void fork_of_thread(const char *path) {
  pthread_t thread;
  (void)path;
  nvtxMarkA("parent");
  if (pthread_create(&thread, NULL, thread_ranges, NULL)) exit(3);
  pid_t child = fork();
  if (child == 0) {
    pthread_t own;
    ranges("child", 20);
    if (pthread_create(&own, NULL, thread_ranges, NULL)) _exit(3);
    pthread_join(own, NULL);
    pid_t grandchild = fork();
    if (grandchild == 0) {
      ranges("grandchild", 30);
      exit(0);
    }
    exit(wait_for(grandchild));
  }
  say("status", wait_for(child));
  pthread_join(thread, NULL);
}

static void silent_child(const char *path) {
  (void)path;
  nvtxMarkA("parent");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) exit(0);
  say("status", wait_for(child));
}

static void fork_exec(const char *path) {
  nvtxMarkA("parent");
  pid_t child = fork();
  if (child == 0) {
    execl(path, path, "some", (char *)NULL);
    _exit(127);
  }
  say("status", wait_for(child));
}

static void vfork_exec(const char *path) {
  nvtxMarkA("parent");
  pid_t child = vfork();
  if (child == 0) {
    execl(path, path, "some", (char *)NULL);
    _exit(127);
  }
  say("status", wait_for(child));
  nvtxMarkA("parent");
}

static void exec_after_marks(const char *path) {
  ranges("before exec", 100);
  execl(path, path, "some", (char *)NULL);
}

// The parent goes first; its child lives on for as long as standard input does.
static void daemon_like(const char *path) {
  char byte;
  (void)path;
  nvtxMarkA("parent");
  if (fork() == 0) {
    ranges("daemon", 20);
    while (read(0, &byte, 1) > 0)
      ;
    ranges("daemon", 20);
    exit(0);
  }
}

static void some(const char *path) {
  (void)path;
  ranges("some", 20);
}

static void killed(const char *path) {
  (void)path;
  ranges("before the end", NUM_RANGES);
  nvtxRangePushA("open at the end");
  raise(SIGKILL);
}

static void aborted(const char *path) {
  (void)path;
  ranges("before the end", NUM_RANGES);
  abort();
}

static void underscore_exited(const char *path) {
  (void)path;
  ranges("before the end", NUM_RANGES);
  _exit(0);
}

static void quick_exited(const char *path) {
  (void)path;
  ranges("before the end", NUM_RANGES);
  quick_exit(0);
}

static void at_exit_early(void) {
  nvtxMarkA("registered before the first call");
}

static void at_exit_late(void) {
  nvtxMarkA("registered after the first call");
}

static void exit_order(const char *path) {
  (void)path;
  atexit(at_exit_early);
  nvtxMarkA("first call");
  atexit(at_exit_late);
}

static int leaves;

__attribute__((destructor)) static void left(void) {
  if (leaves) nvtxMarkA("destructor of the program");
}

static void *late_thread(void *argument) {
  for (;;) nvtxMarkA("thread that never ends");
  return argument;
}

// Threads go on calling while the process leaves.
static void exit_under_load(const char *path) {
  pthread_t threads[4];
  (void)path;
  for (int i = 0; i < 4; i++)
    if (pthread_create(&threads[i], NULL, late_thread, NULL)) exit(3);
  ranges("main", NUM_RANGES);
}

static const struct scenario {
  const char *name;
  void (*run)(const char *path);
} scenarios[] = {
    {"fork_exit", fork_exit},
    {"fork_underscore_exit", fork_underscore_exit},
    {"workers", workers},
    {"fork_of_thread", fork_of_thread},
    {"silent_child", silent_child},
    {"fork_exec", fork_exec},
    {"vfork_exec", vfork_exec},
    {"exec_after_marks", exec_after_marks},
    {"daemon_like", daemon_like},
    {"some", some},
    {"killed", killed},
    {"aborted", aborted},
    {"underscore_exited", underscore_exited},
    {"quick_exited", quick_exited},
    {"exit_order", exit_order},
    {"exit_under_load", exit_under_load},
};

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof *scenarios; i++)
    if (strcmp(argv[1], scenarios[i].name) == 0) {
      leaves = strcmp(argv[1], "exit_order") == 0;
      scenarios[i].run(argc > 2 ? argv[2] : argv[0]);
      return 0;
    }
  return 2;
}
