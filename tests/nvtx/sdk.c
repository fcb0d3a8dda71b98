// SPDX-License-Identifier: Apache-2.0
//
// A program that uses the SDK itself and is injected too: sdk SCENARIO. However
// the two begin, there is one session, and it has the markers of both.
#include <pprof/pprof.h>
#include <pthread.h>

#include "program.h"

enum { NUM = 100 };

static void sdk_markers(void) {
  for (int i = 0; i < NUM; i++) {
    PPROF_SCOPE("sdk");
  }
}

static void nvtx_markers(void) {
  for (int i = 0; i < NUM; i++) {
    nvtxRangePushA("nvtx");
    nvtxRangePop();
  }
}

static void start(void) {
  pprof_error error = {""};
  say("start", pprof_start(NULL, &error));
  if (error.text[0]) printf("%s\n", error.text);
}

static void stop(void) {
  say("stop", pprof_stop(NULL));
}

// Nested alternately: one stack for both.
static void mixed(void) {
  PPROF_SCOPE("sdk outer");
  say("push", nvtxRangePushA("nvtx middle"));
  {
    PPROF_SCOPE("sdk inner");
    say("push", nvtxRangePushA("nvtx inner"));
    say("pop", nvtxRangePop());
  }
  say("pop", nvtxRangePop());
}

static void sdk_first(void) {
  start();
  sdk_markers();
  nvtx_markers();
  mixed();
  stop();
  nvtx_markers();
  sdk_markers();
}

static void injection_first(void) {
  nvtx_markers();
  sdk_markers();
  start();
  sdk_markers();
  nvtx_markers();
  mixed();
  stop();
}

// The program never starts a session: the injection's has its markers too.
static void never_started(void) {
  sdk_markers();
  nvtx_markers();
  sdk_markers();
  mixed();
}

// Stops what it did not start.
static void only_stop(void) {
  nvtx_markers();
  sdk_markers();
  stop();
}

// All of the program's session lies before the first call of NVTX.
static void sdk_before(void) {
  start();
  sdk_markers();
  stop();
  nvtx_markers();
}

static void restart(void) {
  start();
  nvtx_markers();
  stop();
  start();
  nvtx_markers();
  nvtx_markers();
  stop();
}

// Steps are what windows of the configuration go by.
static void steps(void) {
  nvtxRangePushA("before");
  nvtxRangePop();
  for (int i = 0; i < 6; i++) {
    char name[32];
    snprintf(name, sizeof name, "step %d", i);
    nvtxRangePushA(name);
    nvtxRangePop();
    pprof_step(1);
  }
}

static void *loop(void *argument) {
  for (int i = 0; i < NUM; i++) nvtx_markers();
  return argument;
}

// pprof_start while other threads make the first calls.
static void race(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&threads[i], NULL, loop, NULL)) return;
  start();
  sdk_markers();
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  stop();
}

static const struct scenario {
  const char *name;
  void (*run)(void);
} scenarios[] = {
    {"sdk_first", sdk_first},
    {"injection_first", injection_first},
    {"never_started", never_started},
    {"only_stop", only_stop},
    {"sdk_before", sdk_before},
    {"restart", restart},
    {"steps", steps},
    {"race", race},
};

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof *scenarios; i++)
    if (strcmp(argv[1], scenarios[i].name) == 0) {
      scenarios[i].run();
      return 0;
    }
  return 2;
}
