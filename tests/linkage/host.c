// SPDX-License-Identifier: Apache-2.0
//
// A program that knows nothing of pprof and loads, privately, a library that
// runs sessions, as an interpreter does: RUNNER PLUGIN. It unloads it while a
// thread that has marked is still there.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_barrier_t named, unloaded;

static void *outlive(void *argument) {
  void (*name_thread)(const char *name);
  memcpy(&name_thread, argument, sizeof name_thread);
  name_thread("outlives the library");
  pthread_barrier_wait(&named);
  pthread_barrier_wait(&unloaded);
  return NULL;
}

int main(int argc, char **argv) {
  void *library, *found, *name_thread;
  int (*run_all)(const char *plugin_path);
  int num_failures;
  pthread_t thread;
  if (argc != 3) return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  found = library ? dlsym(library, "run_all") : NULL;
  name_thread = found ? dlsym(library, "pprof_thread_name") : NULL;
  if (!name_thread) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  memcpy(&run_all, &found, sizeof run_all);
  num_failures = run_all(argv[2]);
  pthread_barrier_init(&named, NULL, 2);
  pthread_barrier_init(&unloaded, NULL, 2);
  pthread_create(&thread, NULL, outlive, &name_thread);
  pthread_barrier_wait(&named);
  dlclose(library);
  pthread_barrier_wait(&unloaded);
  pthread_join(thread, NULL);
  return num_failures;
}
