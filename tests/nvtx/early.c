// SPDX-License-Identifier: Apache-2.0
//
// The injection's entry points called by clients that no header would make:
// early SCENARIO. They call handlers while Init still runs, nest it, offer
// short tables, odd versions and unknown extensions.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "client.h"

enum { MARK_A = 2, PUSH_A = 9, POP = 11, NUM_THREADS = 8, NUM_MARKS = 1000 };

// The tables of one client. Those of the program itself are client.h's.
typedef struct tables {
  client_function slots[CLIENT_NUM_MODULES][CLIENT_MAX_SLOTS];
  client_function *pointers[CLIENT_NUM_MODULES][CLIENT_MAX_SLOTS + 1];
  unsigned sizes[CLIENT_NUM_MODULES];
} tables;

static const unsigned full_sizes[CLIENT_NUM_MODULES] = {0, 16, 9, 15, 7, 16, 7};
static client_initialize initialize;
static client_initialize_extension initialize_extension;
// An export table is asked for without saying by whom.
static __thread tables *asked;
static __thread void (*at_each_module)(unsigned module);
static client_version_info version_info = {sizeof version_info, NVTX_VERSION, 0,
                                           client_set_injection_version};
static bool no_version_info;

static int get_table(uint32_t module, client_function ***out,
                     unsigned *out_size) {
  tables *self = asked;
  if (at_each_module) at_each_module(module);
  asked = self;
  if (module >= CLIENT_NUM_MODULES || self->sizes[module] == 0) return 0;
  if (out) *out = self->pointers[module];
  if (out_size) *out_size = self->sizes[module];
  return 1;
}

static const void *get_export_table(uint32_t id) {
  static const client_callbacks callbacks = {sizeof callbacks, get_table};
  if (id == 1) return &callbacks;
  return id == 3 && !no_version_info ? &version_info : NULL;
}

static void make_tables(tables *self) {
  memset(self, 0, sizeof *self);
  memcpy(self->sizes, full_sizes, sizeof full_sizes);
  for (int m = 1; m < CLIENT_NUM_MODULES; m++)
    for (unsigned i = 1; i < full_sizes[m]; i++)
      self->pointers[m][i] = &self->slots[m][i];
}

static int attach(tables *self) {
  asked = self;
  return initialize(get_export_table);
}

static client_function live(tables *self, unsigned module, unsigned index) {
  return __atomic_load_n(&self->slots[module][index], __ATOMIC_ACQUIRE);
}

// Whether there was a handler to call.
static bool mark(tables *self, const char *text) {
  client_function function = live(self, CLIENT_CORE, MARK_A);
  if (function) ((void (*)(const char *))function)(text);
  return function != NULL;
}

static int push(tables *self, const char *text) {
  client_function function = live(self, CLIENT_CORE, PUSH_A);
  return function ? ((int (*)(const char *))function)(text) : -2;
}

static int pop(tables *self) {
  client_function function = live(self, CLIENT_CORE, POP);
  return function ? ((int (*)(void))function)() : -2;
}

static tables first, second;
static long num_made;

static void *watch(void *argument) {
  for (int made = 0; made < NUM_MARKS;)
    if (mark(&first, "of the watcher"))
      made++;
    else
      sched_yield();
  return argument;
}

static void call_what_is_live(unsigned module) {
  (void)module;
  num_made += mark(&first, "while Init runs");
}

// A slot works from the moment it is filled, for every thread.
static void live_slots(void) {
  pthread_t thread;
  make_tables(&first);
  if (pthread_create(&thread, NULL, watch, NULL)) exit(3);
  at_each_module = call_what_is_live;
  printf("init %d\n", attach(&first));
  at_each_module = NULL;
  pthread_join(thread, NULL);
  printf("made while Init ran %ld\n", num_made);
  printf("push %d\n", push(&first, "after"));
  printf("pop %d\n", pop(&first));
}

static void attach_second(unsigned module) {
  if (module != CLIENT_CORE) return;
  at_each_module = NULL;
  make_tables(&second);
  printf("inner init %d\n", attach(&second));
  printf("inner push %d\n", push(&second, "inner unit"));
  // This program is a unit too, and this its first call.
  nvtxMarkA("program's own unit");
}

// Init of one unit while that of another runs.
static void nested(void) {
  make_tables(&first);
  at_each_module = attach_second;
  printf("outer init %d\n", attach(&first));
  printf("outer push %d\n", push(&first, "outer unit"));
  printf("outer pop %d\n", pop(&first));
  printf("inner pop %d\n", pop(&second));
}

static void *attach_and_mark(void *argument) {
  tables own;
  make_tables(&own);
  pthread_barrier_wait(argument);
  if (!attach(&own)) exit(3);
  for (int i = 0; i < NUM_MARKS; i++) mark(&own, "of a thread's unit");
  return NULL;
}

// One unit for each thread, all attached at once.
static void concurrent(void) {
  pthread_t threads[NUM_THREADS];
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, NULL, NUM_THREADS);
  for (int i = 0; i < NUM_THREADS; i++)
    if (pthread_create(&threads[i], NULL, attach_and_mark, &barrier)) exit(3);
  for (int i = 0; i < NUM_THREADS; i++) pthread_join(threads[i], NULL);
}

// What lies behind a table's stated size is not the tool's.
static void short_tables(void) {
  make_tables(&first);
  first.sizes[CLIENT_CORE] = 10;
  first.sizes[CLIENT_CORE2] = 0;
  first.sizes[CLIENT_SYNC] = 1;
  first.pointers[CLIENT_CORE][3] = NULL;
  printf("init %d\n", attach(&first));
  int filled = 0;
  for (unsigned i = 0; i < CLIENT_MAX_SLOTS; i++)
    filled += (i >= 10 || i == 0 || i == 3) && first.slots[CLIENT_CORE][i];
  for (unsigned i = 0; i < CLIENT_MAX_SLOTS; i++)
    filled += first.slots[CLIENT_CORE2][i] || first.slots[CLIENT_SYNC][i];
  printf("filled beyond %d\n", filled);
  printf("push %d\n", push(&first, "short tables"));
  printf("pop %d\n", pop(&first));
}

// The version that came before, a later one, and a client without.
static void versions(void) {
  static tables own[3];
  for (int i = 0; i < 3; i++) {
    version_info.version = i == 0 ? 2 : 4;
    no_version_info = i == 2;
    make_tables(&own[i]);
    printf("init %d\n", attach(&own[i]));
    printf("mark %d\n", mark(&own[i], "version"));
  }
}

static const void *no_tables(uint32_t id) {
  (void)id;
  return NULL;
}

static const void *too_small(uint32_t id) {
  static const client_callbacks callbacks = {8, NULL};
  return id == 1 ? &callbacks : NULL;
}

// Nothing to fill: what Init answers is its own affair, but it answers.
static void no_callbacks(void) {
  initialize(no_tables);
  initialize(too_small);
  initialize(NULL);
  nvtxMarkA("after clients without tables");
}

static int attach_extension(uint16_t module, uint16_t compat, size_t num_slots,
                            intptr_t *slots) {
  client_segment segment = {module == 1, num_slots, slots};
  client_module_info info = {NVTX_VERSION, sizeof info, module, compat, 1,
                             &segment,     NULL,        NULL};
  return initialize_extension(&info);
}

static int num_filled(const intptr_t *slots) {
  int num = 0;
  for (int i = 0; i < CLIENT_EXTENSION_SLOTS; i++) num += slots[i] > 1;
  return num;
}

// Always yes: a no would switch a program's other calls off.
static void extensions(void) {
  static const struct {
    uint16_t module, compat;
  } offered[] = {{2, 0x0104}, {2, 0x0103}, {2, 0x01ff}, {4, 0x0102},
                 {4, 0x0101}, {1, 0x0102}, {77, 0x0100}};
  intptr_t slots[CLIENT_EXTENSION_SLOTS];
  nvtxMarkA("before extensions");
  for (size_t i = 0; i < sizeof offered / sizeof *offered; i++) {
    memset(slots, 0, sizeof slots);
    const int answer = attach_extension(offered[i].module, offered[i].compat,
                                        CLIENT_EXTENSION_SLOTS, slots);
    printf("extension %u %#x answers %d fills %d\n", offered[i].module,
           offered[i].compat, answer, num_filled(slots) > 0);
  }
  // Another generation of a known one has other slots: none may be filled.
  memset(slots, 0, sizeof slots);
  printf("another generation answers %d",
         attach_extension(2, 0x0204, CLIENT_EXTENSION_SLOTS, slots));
  printf(" fills %d\n", num_filled(slots));
  memset(slots, 0, sizeof slots);
  printf("short answers %d", attach_extension(2, 0x0104, 3, slots));
  int beyond = 0;
  for (int i = 3; i < CLIENT_EXTENSION_SLOTS; i++) beyond += slots[i] != 0;
  printf(" fills beyond %d\n", beyond);
  client_module_info empty = {NVTX_VERSION, sizeof empty, 2,   0x0104, 0,
                              NULL,         NULL,         NULL};
  printf("without segments %d\n", initialize_extension(&empty));
  printf("none %d\n", initialize_extension(NULL));
}

static const struct scenario {
  const char *name;
  void (*run)(void);
} scenarios[] = {
    {"live_slots", live_slots}, {"nested", nested},
    {"concurrent", concurrent}, {"short_tables", short_tables},
    {"versions", versions},     {"no_callbacks", no_callbacks},
    {"extensions", extensions},
};

int main(int argc, char **argv) {
  void *library;
  initialize =
      (client_initialize)client_find("InitializeInjectionNvtx2", &library);
  initialize_extension = (client_initialize_extension)client_find(
      "InitializeInjectionNvtxExtension", &library);
  if (!initialize || !initialize_extension) return 3;
  for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof *scenarios; i++)
    if (strcmp(argv[1], scenarios[i].name) == 0) {
      scenarios[i].run();
      return 0;
    }
  return 2;
}
