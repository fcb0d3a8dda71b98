// SPDX-License-Identifier: Apache-2.0
//
// A program that knows nothing of pprof and loads, privately, a library that
// runs sessions, as an interpreter does: RUNNER PLUGIN.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  void *library, *found;
  int (*run_all)(const char *plugin_path);
  if (argc != 3) return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  found = library ? dlsym(library, "run_all") : NULL;
  if (!found) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  memcpy(&run_all, &found, sizeof run_all);
  return run_all(argv[2]);
}
