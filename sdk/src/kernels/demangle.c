// SPDX-License-Identifier: Apache-2.0
//
// By the C++ library that programs with kernels have.
#include "kernels/demangle.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// As __cxa_demangle is in every C++ ABI of Itanium's kind: `out` is of malloc,
// and grows.
typedef char *demangle_function(const char *name, char *out, size_t *size,
                                int *status);

static demangle_function *find(void) {
  static const char symbol[] = "__cxa_demangle";
  void *found = dlsym(RTLD_DEFAULT, symbol);
  // One that only a library of the program's needs is not among the globals.
  void *library = found ? NULL : dlopen("libstdc++.so.6", RTLD_LAZY);
  if (library) found = dlsym(library, symbol);
  demangle_function *function;
  memcpy(&function, &found, sizeof function);
  return function;
}

const char *ppi_demangle(const char *name) {
  static demangle_function *function;
  static bool has_looked;
  static char *text;
  static size_t size;
  if (strncmp(name, "_Z", 2) != 0) return name;
  if (!has_looked) function = find();
  has_looked = true;
  int status = -1;
  char *result = function ? function(name, text, &size, &status) : NULL;
  if (!result || status != 0) return name;
  text = result;
  return text;
}
