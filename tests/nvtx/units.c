// SPDX-License-Identifier: Apache-2.0
//
// A program of several linkage units, each of which finds the tool for itself:
// units SCENARIO LIBRARY... What is recorded stands in units_test.py.
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "program.h"

enum { NUM_THREADS = 8, NUM_MARKS = 1000 };

typedef struct unit {
  void *library;
  int (*push)(void), (*pop)(void);
  void (*mark)(int num);
  const void *(*text)(void);
} unit;

static void find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  if (!found) exit(3);
  memcpy(function, &found, sizeof found);
}

static unit open_unit(const char *path) {
  unit opened = {.library = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
  if (!opened.library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(3);
  }
  find(opened.library, "unit_push", &opened.push);
  find(opened.library, "unit_pop", &opened.pop);
  find(opened.library, "unit_mark", &opened.mark);
  find(opened.library, "unit_text", &opened.text);
  return opened;
}

// Two libraries and the program share a domain and its stack.
static void shared_domain(char **paths) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("shared");
  say("program", push_in(domain, "program range"));
  unit one = open_unit(paths[0]), two = open_unit(paths[1]);
  say("one", one.push());
  say("two", two.push());
  say("one pops", one.pop());
  say("program pops", nvtxDomainRangePop(domain));
  // Destroyed here, still in use there.
  nvtxDomainDestroy(domain);
  say("two pops", two.pop());
}

typedef struct worker {
  pthread_t thread;
  pthread_barrier_t *barrier;
  const unit *units;
} worker;

static void *first_calls(void *argument) {
  const worker *self = argument;
  pthread_barrier_wait(self->barrier);
  self->units[0].mark(NUM_MARKS);
  pthread_barrier_wait(self->barrier);
  self->units[1].mark(NUM_MARKS);
  for (int i = 0; i < NUM_MARKS; i++) nvtxMarkA("program mark");
  return NULL;
}

// Every unit's first call, made by all threads at once.
static void concurrent(char **paths) {
  pthread_barrier_t barrier;
  worker workers[NUM_THREADS];
  const unit units[2] = {open_unit(paths[0]), open_unit(paths[1])};
  pthread_barrier_init(&barrier, NULL, NUM_THREADS);
  for (int i = 0; i < NUM_THREADS; i++) {
    workers[i] = (worker){.barrier = &barrier, .units = units};
    if (pthread_create(&workers[i].thread, NULL, first_calls, &workers[i]))
      exit(3);
  }
  for (int i = 0; i < NUM_THREADS; i++) pthread_join(workers[i].thread, NULL);
}

// A library goes, and another with other texts takes its place; false: somebody
// else's memory does.
static bool take_place(char **paths) {
  unit one = open_unit(paths[0]);
  const void *text = one.text();
  one.mark(5);
  one.push();
  one.pop();
  dlclose(one.library);
  unit two = open_unit(paths[1]);
  two.mark(7);
  bool is_same = two.text() == text;
  dlclose(two.library);
  return is_same;
}

// Until it was at one address: else this would prove less than it is for.
static void reopen(char **paths) {
  int tries = 1;
  while (!take_place(paths) && tries < 100) tries++;
  say("tries", tries);
  unit one = open_unit(paths[0]);
  one.mark(11);
  say("push", one.push());
  say("pop", one.pop());
}

// Names that come through one buffer.
static void buffer(char **paths) {
  char name[32];
  (void)paths;
  for (int i = 0; i < 200; i++) {
    snprintf(name, sizeof name, "name %d", i % 100);
    nvtxRangePushA(name);
    memset(name, 'x', sizeof name - 1);
    nvtxRangePop();
  }
}

// The program finds one copy of the tool, the library another.
static void copies(char **paths) {
  nvtxMarkA("program mark");
  setenv("NVTX_INJECTION64_PATH", paths[1], 1);
  unit one = open_unit(paths[0]);
  one.mark(10);
  say("push", one.push());
  say("pop", one.pop());
  nvtxMarkA("program mark");
}

// Takes all thread-local memory that late libraries may have, then calls.
static void no_tls(char **paths) {
  int num = 0;
  while (paths[num] && dlopen(paths[num], RTLD_NOW | RTLD_LOCAL)) num++;
  say("all is taken", paths[num] != NULL);
  say("push", nvtxRangePushA("without static TLS"));
  say("pop", nvtxRangePop());
}

// Libraries loaded before and after the tool, which call as they leave.
static void leave(char **paths) {
  open_unit(paths[0]).mark(0);
  nvtxMarkA("program mark");
  open_unit(paths[1]);
  open_unit(paths[2]).mark(1);
}

static void load(char **paths) {
  while (*paths) open_unit(*paths++);
}

static const struct scenario {
  const char *name;
  void (*run)(char **paths);
} scenarios[] = {
    {"shared_domain", shared_domain},
    {"concurrent", concurrent},
    {"reopen", reopen},
    {"buffer", buffer},
    {"copies", copies},
    {"no_tls", no_tls},
    {"leave", leave},
    {"load", load},
};

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof *scenarios; i++)
    if (strcmp(argv[1], scenarios[i].name) == 0) {
      scenarios[i].run(argv + 2);
      return 0;
    }
  return 2;
}
