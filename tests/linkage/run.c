// SPDX-License-Identifier: Apache-2.0
//
// Runs two sessions over all parts of a program and expects each to count the
// markers of all of them. run_all(PLUGIN) is called by a program, or found in a
// library by one that is not linked with pprof at all. Valid C and C++.
#include <dlfcn.h>
#include <pprof/event.h>
#include <pprof/session.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

PPROF_API int run_all(const char *plugin_path);
int part_here(void);
uint32_t part_here_epoch(void);
#ifdef LINKED
int part_linked(void);
uint32_t part_linked_epoch(void);
#else
#define part_linked part_here
#define part_linked_epoch part_here_epoch
#endif

typedef int (*part_function)(void);
typedef uint32_t (*epoch_function)(void);

static int num_failures;

static void expect(int condition, const char *what) {
  if (condition) return;
  fprintf(stderr, "not so: %s\n", what);
  num_failures++;
}

// Counts events by the name of their site's part.
typedef struct counting {
  pprof_sink base;
  unsigned char part_of[256];  // by site: 1 here, 2 linked, 3 plugin
  int counts[4];
} counting;

static pprof_status define(pprof_sink *sink, const pprof_definition *what) {
  counting *self = (counting *)(void *)sink;
  const char *name = pprof_definition_name(what);
  uint32_t id = pprof_definition_id(what);
  if (pprof_definition_get_kind(what) != PPROF_DEFINITION_SITE || id >= 256)
    return PPROF_STATUS_OK;
  if (strncmp(name, "part_here ", 10) == 0) self->part_of[id] = 1;
  if (strncmp(name, "part_linked ", 12) == 0) self->part_of[id] = 2;
  if (strncmp(name, "part_plugin ", 12) == 0) self->part_of[id] = 3;
  return PPROF_STATUS_OK;
}

static pprof_status events(pprof_sink *sink, const pprof_batch *batch) {
  counting *self = (counting *)(void *)sink;
  size_t i;
  for (i = 0; i < batch->num_events; i++)
    self->counts[self->part_of[pprof_batch_at(batch, i)->site % 256]]++;
  return PPROF_STATUS_OK;
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) fprintf(stderr, "%s\n", dlerror());
  return found;
}

static void *on_thread(void *argument) {
  part_function part;
  memcpy(&part, argument, sizeof part);
  expect(part() == 5, "a plugin's markers record on a new thread");
  return NULL;
}

// With DEEPBIND the plugin looks into its own dependencies first.
static void run_plugin(const char *path) {
  int mode = getenv("DEEPBIND") ? RTLD_DEEPBIND : 0;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | mode);
  void *found;
  part_function part;
  epoch_function epoch;
  pthread_t thread;
  if (!library) fprintf(stderr, "%s\n", dlerror());
  expect(library != NULL, "the plugin loads");
  if (!library) return;
  found = symbol(library, "part_plugin");
  memcpy(&part, &found, sizeof part);
  found = symbol(library, "part_plugin_epoch");
  memcpy(&epoch, &found, sizeof epoch);
  expect(epoch() == part_here_epoch(), "plugin and program see one epoch");
  expect(part() == 5, "a plugin's markers record");
  pthread_create(&thread, NULL, on_thread, &part);
  pthread_join(thread, NULL);
  expect(dlclose(library) == 0, "the plugin unloads");
}

static void run_session(const char *plugin_path) {
  counting sink;
  pprof_session *session = NULL;
  pprof_stats stats;
  memset(&sink, 0, sizeof sink);
  memset(&stats, 0, sizeof stats);
  sink.base.size = sizeof sink.base;
  sink.base.define = define;
  sink.base.events = events;
  stats.size = sizeof stats;
  expect(part_here_epoch() == 0 && part_linked_epoch() == 0, "off before");
  expect(part_here() == 0, "no marker records before the start");
  expect(pprof_session_create(NULL, &session, NULL) == PPROF_STATUS_OK &&
             pprof_session_add_sink(session, &sink.base) == PPROF_STATUS_OK &&
             pprof_session_start(session) == PPROF_STATUS_OK,
         "a session starts");
  expect(part_here_epoch() != 0, "the program sees the epoch");
  expect(part_linked_epoch() == part_here_epoch(),
         "library and program see one epoch");
  expect(part_here() == 5, "the program's markers record");
  expect(part_linked() == 5, "a library's markers record");
  run_plugin(plugin_path);
  expect(part_here() == 5, "markers record after the plugin is gone");
  expect(pprof_session_flush(session) == PPROF_STATUS_OK, "a flush");
  expect(pprof_session_stop(session, NULL) == PPROF_STATUS_OK, "a stop");
  expect(part_here_epoch() == 0 && part_linked_epoch() == 0, "off afterwards");
  pprof_session_stats(session, &stats);
  pprof_session_destroy(session);
#ifdef LINKED
  expect(sink.counts[1] == 10 && sink.counts[2] == 5, "counts by part");
#else
  expect(sink.counts[1] == 15, "counts by part");
#endif
  expect(sink.counts[3] == 10, "counts of the plugin, names though it is gone");
  expect(stats.recorded == 25 && stats.lost == 0, "exactly 25 recorded");
}

int run_all(const char *plugin_path) {
  run_session(plugin_path);
  run_session(plugin_path);
  return num_failures;
}

#ifdef __cplusplus
}
#endif
