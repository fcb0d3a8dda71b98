// SPDX-License-Identifier: Apache-2.0
//
// What the cases of `run` run: a program that records ten ranges named "stage"
// through the SDK, then does what its arguments say, one after the other.
#include <pprof/pprof.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/patience.h"

static const char *own_path;

static void record(const char *name) {
  PPROF_SITE(site, "stage", PPROF_CATEGORY_USER_DEFINED);
  for (int i = 0; i < 10; i++) {
    pprof_push(&site);
    pprof_pop();
  }
  pprof_push_name(name, PPROF_CATEGORY_USER_DEFINED);
  pprof_pop();
}

// What stays open: a range in a range, with a flow, and one that may end
// anywhere.
static void leave_open(void) {
  pprof_push_name("held", PPROF_CATEGORY_USER_DEFINED);
  pprof_push_name("inner\033[31m", PPROF_CATEGORY_USER_DEFINED);
  pprof_flow(7);
  PPROF_SITE(site, "across", PPROF_CATEGORY_USER_DEFINED);
  pprof_range_begin(&site);
}

// A child of its own, told to do `first`, then `what`.
static void run_child(const char *first, const char *what) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    execl(own_path, own_path, first, what, (char *)NULL);
    _exit(127);
  }
  waitpid(pid, NULL, 0);
}

static void ignored(int number) {
  (void)number;
}

static void say_dispositions(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGPIPE};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction is;
    sigaction(numbers[i], NULL, &is);
    printf("signal %d %s\n", numbers[i],
           is.sa_handler == SIG_DFL   ? "default"
           : is.sa_handler == SIG_IGN ? "ignored"
                                      : "handled");
  }
}

// A grandchild whose parent is gone ends. Whoever inherited it waits for it, or
// it stays there as a zombie and the alarm ends us.
static void leave_orphan(void) {
  int alive[2], number[2];
  pid_t orphan = -1;
  if (pipe(alive) != 0 || pipe(number) != 0) return;
  pid_t pid = fork();
  if (pid == 0) {
    char byte;
    pid_t own = fork();
    if (own != 0) _exit(0);
    own = getpid();
    close(alive[1]);
    if (write(number[1], &own, sizeof own) < 0) _exit(1);
    _exit(read(alive[0], &byte, 1) == 0 ? 0 : 1);
  }
  waitpid(pid, NULL, 0);
  if (read(number[0], &orphan, sizeof orphan) != sizeof orphan) return;
  close(alive[1]);
  alarm(PPROF_PATIENCE_SECONDS);
  while (kill(orphan, 0) == 0) sched_yield();
  alarm(0);
  puts("reaped");
  fflush(stdout);
}

// Its parent is to send the signal back, to us alone.
static void interrupt_parent(void) {
  struct sigaction how = {.sa_handler = ignored};
  sigset_t interrupts, before;
  sigaction(SIGTERM, &how, NULL);
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGTERM);
  sigprocmask(SIG_BLOCK, &interrupts, &before);
  alarm(PPROF_PATIENCE_SECONDS);  // instead of waiting for ever
  kill(getppid(), SIGTERM);
  sigsuspend(&before);
  puts("terminated");
}

// Ranges that one word opens and another ends.
static bool act_range(const char *what) {
  if (strncmp(what, "begin=", 6) == 0)
    pprof_push_name(what + 6, PPROF_CATEGORY_USER_DEFINED);
  else if (strcmp(what, "end") == 0)
    pprof_pop();
  else
    return false;
  return true;
}

static int act(const char *what) {
  pprof_error error = {""};
  if (strcmp(what, "start") == 0 || strcmp(what, "record") == 0) {
    if (pprof_start(NULL, &error) != PPROF_STATUS_OK) {
      fprintf(stderr, "%s\n", error.text);
      return 99;
    }
    if (strcmp(what, "record") == 0) record("first");
  } else if (strcmp(what, "mark") == 0) {
    record("again");
  } else if (strcmp(what, "exec") == 0) {
    execl(own_path, own_path, "record", "stop", (char *)NULL);
    return 98;
  } else if (strcmp(what, "daemon") == 0) {
    if (daemon(0, 0) != 0) return 97;
  } else if (strcmp(what, "open") == 0) {
    leave_open();
  } else if (strcmp(what, "stop") == 0) {
    pprof_stop(NULL);
  } else if (strcmp(what, "child") == 0) {
    run_child("record", "stop");
  } else if (strcmp(what, "killed-child") == 0) {
    run_child("record", "die");
  } else if (strcmp(what, "idle-child") == 0) {
    run_child("start", "stop");
  } else if (strcmp(what, "die") == 0) {
    kill(getpid(), SIGKILL);
  } else if (strcmp(what, "orphan") == 0) {
    leave_orphan();
  } else if (strcmp(what, "leave") == 0) {
    _exit(4);
  } else if (strcmp(what, "interrupt-group") == 0) {
    kill(0, SIGINT);  // as Ctrl-C does
  } else if (strcmp(what, "signals") == 0) {
    say_dispositions();
  } else if (strcmp(what, "interrupt-parent") == 0) {
    interrupt_parent();
  } else if (strncmp(what, "exit=", 5) == 0) {
    return atoi(what + 5);
  } else if (strcmp(what, "cat") == 0) {
    for (int c = getchar(); c != EOF; c = getchar()) putchar(c);
  } else if (strncmp(what, "touch=", 6) == 0) {
    FILE *file = fopen(what + 6, "w");
    if (file) fclose(file);
  } else if (strncmp(what, "steps-until=", 12) == 0) {
    while (access(what + 12, F_OK) != 0) {
      record("again");
      pprof_step(1);
    }
  } else if (strncmp(what, "env=", 4) == 0) {
    const char *value = getenv(what + 4);
    puts(value ? value : "not set");
  } else if (!act_range(what)) {
    puts(what);
  }
  return 0;
}

int main(int argc, char **argv) {
  own_path = argv[0];
  for (int i = 1; i < argc; i++) {
    int code = act(argv[i]);
    if (code) return code;
  }
  return 0;
}
