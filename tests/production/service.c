// SPDX-License-Identifier: Apache-2.0
//
// A service that marks, says that it is ready, and then ends in the way that it
// was told. `service STOP FILE`: how many ranges it has begun and ended is in
// FILE, which outlives it; ranges that are open it has none.
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pprof/pprof.h"

PPROF_SITE(work_site, "work", PPROF_CATEGORY_USER_DEFINED);

static uint64_t *made;

static void work(int num) {
  for (int i = 0; i < num; i++) {
    pprof_push(&work_site);
    pprof_pop();
    ++*made;
  }
}

static volatile sig_atomic_t is_asked;

static void on_term_exit(int number) {
  (void)number;
  exit(0);
}
static void on_term_flag(int number) {
  is_asked = number;
}

static void *wait_for_term(void *set) {
  int number;
  sigwait(set, &number);
  exit(0);
}

static void handle(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGTERM, &action, NULL);
}

static bool is(const char *stop, const char *name) {
  return strcmp(stop, name) == 0;
}

static void prepare(const char *stop) {
  static sigset_t term;
  pthread_t waiter;
  if (is(stop, "sigterm-exit")) handle(on_term_exit);
  if (is(stop, "sigterm-flag") || is(stop, "container-handled") ||
      is(stop, "eviction"))
    handle(on_term_flag);
  if (is(stop, "sigterm-ignored")) handle(SIG_IGN);
  if (!is(stop, "sigterm-wait")) return;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, NULL);
  pthread_create(&waiter, NULL, wait_for_term, &term);
}

// As daemon(3) does it.
static void become_daemon(void) {
  if (fork() != 0) _exit(0);
  setsid();
  work(100);
}

// All that the machine, or our group of it, gives.
static void take_memory(void) {
  for (;;) {
    char *memory = malloc(1 << 20);
    if (memory) memset(memory, 1, 1 << 20);
  }
}

static int end(const char *stop) {
  static char *const nothing[] = {"true", NULL};
  if (is(stop, "exit")) exit(0);
  if (is(stop, "return")) return 0;
  if (is(stop, "_exit")) _exit(0);
  if (is(stop, "crash")) abort();
  if (is(stop, "exec")) execvp(nothing[0], nothing);
  if (is(stop, "oom")) take_memory();
  if (is(stop, "daemon")) {
    become_daemon();
    return 0;
  }
  // SIGTERM comes in sigsuspend alone, so none is missed.
  sigset_t term, before;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  sigprocmask(SIG_BLOCK, &term, &before);
  while (!is_asked) sigsuspend(&before);
  return 0;
}

int main(int argc, char **argv) {
  pprof_error error = {""};
  int file = argc == 3 ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;
  if (file < 0 || ftruncate(file, sizeof *made) != 0) return 2;
  made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (made == MAP_FAILED) return 2;
  *made = 0;
  prepare(argv[1]);
  if (pprof_start(NULL, &error) != PPROF_STATUS_OK) {
    fprintf(stderr, "%s\n", error.text);
    return 3;
  }
  work(1000);
  puts("ready");
  fflush(stdout);
  return end(argv[1]);
}
