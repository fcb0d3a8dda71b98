// SPDX-License-Identifier: Apache-2.0
//
// A program whose markers go to an NVTX tool, too: emit SCENARIO... Each makes
// a session of its own; what stands around it is not recorded.
#include <pprof/pprof.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

PPROF_SITE(outer, "outer", PPROF_CATEGORY_FORWARD);
PPROF_SITE(inner, "inner", PPROF_CATEGORY_PREPROCESS);
PPROF_SITE(wander, "wander", PPROF_CATEGORY_COMMUNICATION);
PPROF_SITE(point, "point", PPROF_CATEGORY_USER_DEFINED);

static void start(void) {
  pprof_error error = {""};
  if (pprof_start(NULL, &error) == PPROF_STATUS_OK) return;
  printf("%s\n", error.text);
  exit(1);
}

static void stop(void) {
  pprof_stop(NULL);
}

static void *in_thread(void *(*run)(void *), void *argument) {
  pthread_t thread;
  void *answer = NULL;
  if (pthread_create(&thread, NULL, run, argument)) abort();
  pthread_join(thread, &answer);
  return answer;
}

static void nested(void) {
  inner.color = 0x102030;
  pprof_push(&outer);
  start();
  pprof_pop();
  pprof_push(&outer);
  pprof_flow(7);
  pprof_push(&inner);
  pprof_push_name("named", pprof_category_register("my own"));
  pprof_push_name("named", pprof_category_register("my own"));
  pprof_pop();
  pprof_pop();
  pprof_pop();
  pprof_pop();
  pprof_pop();
  {
    PPROF_SCOPE("scope");
    pprof_push(&inner);
  }
  pprof_mark(&point);
  stop();
  pprof_push(&outer);
  pprof_pop();
}

static void *end_range(void *argument) {
  pprof_range range = {*(uint64_t *)argument};
  pprof_range_end(range);
  pprof_range_end(range);
  return NULL;
}

static void cross_thread(void) {
  start();
  pprof_range first = pprof_range_begin(&wander);
  pprof_range second = pprof_range_begin(&wander);
  pprof_push(&outer);
  pprof_flow(9);
  pprof_range third = pprof_range_begin(&inner);
  pprof_pop();
  pprof_range_flow(second, 4);
  pprof_range_end(second);
  in_thread(end_range, &first.id);
  pprof_push(&outer);
  pprof_flow(9);
  pprof_request_end(pprof_request_begin(5, &wander));
  pprof_pop();
  (void)third;
  stop();
  pprof_range_end(third);
}

static void points(void) {
  start();
  pprof_mark(&point);
  pprof_count(&point, 2.5);
  pprof_push(&outer);
  pprof_flow(3);
  pprof_mark(&inner);
  pprof_pop();
  stop();
}

static void devices(void) {
  int first = 0, second = 0;
  start();
  pprof_device_push(NULL, &first, &outer);
  pprof_device_push(NULL, &second, &inner);
  pprof_device_pop(NULL, &first);
  pprof_device_next(NULL, &second, &wander);
  pprof_device_pop(NULL, &second);
  { PPROF_DEVICE_SCOPE(NULL, &first, "device scope"); }
  stop();
}

static void steps(void) {
  start();
  for (int i = 0; i < 4; i++) {
    PPROF_SCOPE("work");
    pprof_step(1);
  }
  stop();
}

// The ends come while nothing records.
static void pushed_steps(void) {
  start();
  for (int i = 0; i < 4; i++) {
    pprof_push(&outer);
    pprof_step(1);
    pprof_pop();
  }
  stop();
}

static void *over_an_edge(void *argument) {
  pthread_barrier_t *barrier = argument;
  pprof_push(&outer);
  pprof_range_begin(&wander);
  {
    PPROF_SCOPE("scope");
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
  }
  pthread_barrier_wait(barrier);
  pthread_barrier_wait(barrier);
  pprof_pop();
  pprof_push(&inner);
  pprof_pop();
  return NULL;
}

static void flush(void) {
  pprof_status status;
  do status = pprof_session_flush(pprof_session_current());
  while (status == PPROF_STATUS_BUSY);
  if (status) abort();
}

// A thread has ranges open at an edge that another one makes.
static void edges(void) {
  pthread_t thread;
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 2);
  start();
  pprof_step(1);
  if (pthread_create(&thread, NULL, over_an_edge, &barrier)) abort();
  pthread_barrier_wait(&barrier);
  pprof_step(1);
  flush();  // the collector has seen the edge
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  pprof_step(1);
  pthread_barrier_wait(&barrier);
  pthread_join(thread, NULL);
  stop();
}

// Deeper than a stack holds, then as many pops; and one pop too many.
static void deep(void) {
  start();
  for (int i = 0; i < 600; i++) pprof_push(&outer);
  for (int i = 0; i < 601; i++) pprof_pop();
  stop();
}

// More ranges at once than there is room for, then a step.
static void crowded(void) {
  start();
  for (int i = 0; i < 20000; i++) pprof_range_begin(&wander);
  for (int i = 0; i < 20000; i++) pprof_device_range_begin(NULL, NULL, &inner);
  pprof_step(1);
  pprof_mark(&point);
  stop();
}

static void *leave_open(void *argument) {
  pprof_push(&outer);
  pprof_push(&inner);
  return argument;
}

static void abandoned(void) {
  start();
  in_thread(leave_open, NULL);
  pprof_push(&outer);
  stop();
}

// Started again: nothing of the first session is left open.
static void *hold(void *argument) {
  pthread_barrier_t *barrier = argument;
  pprof_push(&outer);
  pthread_barrier_wait(barrier);
  pthread_barrier_wait(barrier);
  pprof_pop();
  pprof_mark(&point);
  pprof_push(&inner);
  pprof_pop();
  return NULL;
}

static void restart(void) {
  pthread_t thread;
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, 2);
  start();
  if (pthread_create(&thread, NULL, hold, &barrier)) abort();
  pthread_barrier_wait(&barrier);
  stop();
  start();
  pthread_barrier_wait(&barrier);
  pthread_join(thread, NULL);
  stop();
}

static void forked(void) {
  start();
  pprof_push(&outer);
  pid_t child = fork();
  if (child == 0) {
    pprof_push(&point);
    pprof_pop();
    start();
    pprof_push(&inner);
    pprof_pop();
    stop();
    _exit(0);
  }
  waitpid(child, NULL, 0);
  pprof_pop();
  stop();
}

// A session that no configuration has asked to emit.
static void plain_session(void) {
  pprof_session *session;
  nested();
  if (pprof_session_create(NULL, &session, NULL) ||
      pprof_session_start(session))
    abort();
  pprof_push(&wander);
  pprof_pop();
  pprof_session_destroy(session);
}

static const struct scenario {
  const char *name;
  void (*run)(void);
} scenarios[] = {
    {"nested", nested},       {"cross_thread", cross_thread},
    {"points", points},       {"devices", devices},
    {"edges", edges},         {"pushed_steps", pushed_steps},
    {"steps", steps},         {"deep", deep},
    {"abandoned", abandoned}, {"restart", restart},
    {"forked", forked},       {"plain_session", plain_session},
    {"crowded", crowded},
};

int main(int argc, char **argv) {
  for (int at = 1; at < argc; at++)
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
      if (strcmp(argv[at], scenarios[i].name) == 0) scenarios[i].run();
  return argc > 1 ? 0 : 2;
}
