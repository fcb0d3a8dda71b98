// SPDX-License-Identifier: Apache-2.0
//
// Counts the instructions of each marker: instructions. A child runs each
// marker NUM times, and its parent steps it one instruction at a time. It
// prints `NAME INSTRUCTIONS` for one marker or pair, its call and its loop
// included. The clock is the processor's own counter, as in use. Instrumenting
// tools take another path, without membarrier and with a clock of their own.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pprof/mark.h"
#include "pprof/session.h"

enum { NUM = 200 };

// Sites of their own, also where two functions are alike.
#define COUNTED static __attribute__((noinline))

PPROF_SITE(site, "counted", PPROF_CATEGORY_USER_DEFINED);
PPROF_SITE(outer, "outer", PPROF_CATEGORY_USER_DEFINED);

COUNTED void run_scope(void) {
  for (int i = 0; i < NUM; i++) {
    PPROF_SCOPE("scope");
  }
}

COUNTED void run_scope_off(void) {
  for (int i = 0; i < NUM; i++) {
    PPROF_SCOPE("scope");
  }
}

COUNTED void run_push_off(void) {
  for (int i = 0; i < NUM; i++) {
    pprof_push(&site);
    pprof_pop();
  }
}

COUNTED void run_push(void) {
  for (int i = 0; i < NUM; i++) {
    pprof_push(&site);
    pprof_pop();
  }
}

COUNTED void run_push_inner(void) {
  pprof_push(&outer);
  for (int i = 0; i < NUM; i++) {
    pprof_push(&site);
    pprof_pop();
  }
  pprof_pop();
}

COUNTED void run_push_name(void) {
  for (int i = 0; i < NUM; i++) {
    pprof_push_name("a name of 21 letters.", PPROF_CATEGORY_USER_DEFINED);
    pprof_pop();
  }
}

COUNTED void run_range(void) {
  for (int i = 0; i < NUM; i++) pprof_range_end(pprof_range_begin(&site));
}

COUNTED void run_mark(void) {
  for (int i = 0; i < NUM; i++) pprof_mark(&site);
}

// A request need not be open for it to get tokens.
COUNTED void run_token(void) {
  const pprof_request request = {4711, {0}};
  for (int i = 0; i < NUM; i++) pprof_token(request, 1);
}

COUNTED void run_count(void) {
  for (int i = 0; i < NUM; i++) pprof_count(&site, i);
}

typedef struct kind {
  const char *name;
  void (*run)(void);
  bool in_session;
} kind;
static const kind kinds[] = {
    {"scope_off", run_scope_off, false},
    {"push_pop_off", run_push_off, false},
    {"scope", run_scope, true},
    {"push_pop", run_push, true},
    {"push_pop_inner", run_push_inner, true},
    {"push_name_pop", run_push_name, true},
    {"range_begin_end", run_range, true},
    {"mark", run_mark, true},
    {"count", run_count, true},
    {"token", run_token, true},
};
enum { NUM_KINDS = sizeof kinds / sizeof *kinds };

// The index + 1 of the kind that the child runs; 0: nothing that counts.
static volatile unsigned *running;

// Warm, and with an empty buffer.
static void run_counted(pprof_session *session, unsigned k) {
  kinds[k].run();
  if (session) pprof_session_flush(session);
  raise(SIGSTOP);
  *running = k + 1;
  kinds[k].run();
  *running = 0;
}

static void discard(pprof_sink *sink) {
  (void)sink;
}

static pprof_session *start_session(void) {
  static pprof_sink sink = {.size = sizeof sink, .destroy = discard};
  pprof_session *session = NULL;
  if (pprof_session_create(NULL, &session, NULL) != PPROF_STATUS_OK ||
      pprof_session_add_sink(session, &sink) != PPROF_STATUS_OK ||
      pprof_session_start(session) != PPROF_STATUS_OK)
    _exit(1);
  return session;
}

static void run_child(void) {
  ptrace(PTRACE_TRACEME, 0, NULL, NULL);
  for (unsigned k = 0; k < NUM_KINDS; k++)
    if (!kinds[k].in_session) run_counted(NULL, k);
  pprof_session *session = start_session();
  for (unsigned k = 0; k < NUM_KINDS; k++)
    if (kinds[k].in_session) run_counted(session, k);
  pprof_stats stats = {.size = sizeof stats};
  pprof_status status = pprof_session_stop(session, NULL);
  pprof_session_stats(session, &stats);
  _exit(status != PPROF_STATUS_OK || stats.lost != 0);
}

// The child stops itself before each kind, so that the parent steps only
// through counted code.
static bool count_steps(pid_t child, unsigned long counts[NUM_KINDS]) {
  int status;
  bool steps = false;
  unsigned before = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    unsigned now = *running;
    if (now) counts[now - 1]++;
    if (WSTOPSIG(status) == SIGSTOP) steps = true;
    if (before && !now) steps = false;
    before = now;
    if (ptrace(steps ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL, NULL))
      return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void) {
  unsigned long counts[NUM_KINDS] = {0};
  void *memory = mmap(NULL, sizeof *running, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  running = memory;
  pid_t child = fork();
  if (child == 0) run_child();
  if (child < 0 || !count_steps(child, counts)) {
    fprintf(stderr, "instructions: the markers were not run to their end\n");
    return 1;
  }
  for (unsigned k = 0; k < NUM_KINDS; k++)
    printf("%s %.1f\n", kinds[k].name, (double)counts[k] / NUM);
  return 0;
}
