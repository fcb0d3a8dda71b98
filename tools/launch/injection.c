// SPDX-License-Identifier: Apache-2.0
//
// Finds libpprof_nvtx.so and leads a command's loader to libpprof.so.
#include "launch/injection.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

bool ppi_tool_path_in(char out[PATH_MAX], const char *folder,
                      const char *name) {
  int len = snprintf(out, PATH_MAX, "%s/%s", folder, name);
  return len > 0 && len < PATH_MAX;
}

bool ppi_tool_variable_add(const char *name, const char *separator,
                           const char *text, bool is_first) {
  const char *before = secure_getenv(name);
  char *both = NULL;
  if (!before || !*before) return setenv(name, text, 1) == 0;
  if (asprintf(&both, "%s%s%s", is_first ? text : before, separator,
               is_first ? before : text) < 0)
    return false;
  bool done = setenv(name, both, 1) == 0;
  free(both);
  return done;
}

const char *ppi_tool_own_folder(char out[PATH_MAX]) {
  ssize_t len = readlink("/proc/self/exe", out, PATH_MAX - 1);
  out[len > 0 ? len : 0] = 0;
  return dirname(out);
}

// The folder of libraries, relative to the folder of programs.
#ifndef PPI_LIBRARY_FOLDER
#define PPI_LIBRARY_FOLDER "../lib"
#endif

// Looks beside the installed tool (bin and lib), and in the build tree.
bool ppi_tool_find_injection(const char *given, bool is_optional,
                             char out[PATH_MAX]) {
  static const char *const places[] = {
      PPI_LIBRARY_FOLDER "/libpprof_nvtx.so", "libpprof_nvtx.so",
      "../libpprof_nvtx.so", "../sdk/nvtx/libpprof_nvtx.so"};
  char own[PATH_MAX], path[PATH_MAX];
  if (given) {
    if (realpath(given, out)) return true;
    ppi_tool_say("%s: %s", given, strerror(errno));
    return false;
  }
  const char *folder = ppi_tool_own_folder(own);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (ppi_tool_path_in(path, folder, places[i]) && realpath(path, out))
      return true;
  if (!is_optional)
    ppi_tool_say(
        "libpprof_nvtx.so is not installed with this tool (looked around %s);"
        " name it with --library FILE",
        folder);
  return false;
}

// libpprof_nvtx.so finds libpprof.so beside itself. In other trees the loader
// gets its folder by LD_LIBRARY_PATH.
static bool lead_to_libpprof(const char *library) {
  static const char *const places[] = {"", "..", "../..", "../lib"};
  char folder[PATH_MAX], place[PATH_MAX], path[PATH_MAX];
  strcpy(folder, library);
  char *library_folder = dirname(folder);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (!ppi_tool_path_in(path, library_folder, places[i]) ||
        !realpath(path, place) ||
        !ppi_tool_path_in(path, place, "libpprof.so.0") ||
        access(path, R_OK) != 0)
      continue;
    if (i == 0) return true;
    return ppi_tool_variable_add("LD_LIBRARY_PATH", ":", place, true);
  }
  return true;  // the loader finds the library by itself
}

bool ppi_tool_find_waits(const char *injection, char out[PATH_MAX]) {
  static const char *const places[] = {"libpprof_waits.so",
                                       "../waits/libpprof_waits.so"};
  char folder[PATH_MAX], path[PATH_MAX];
  strcpy(folder, injection);
  const char *beside = dirname(folder);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (ppi_tool_path_in(path, beside, places[i]) && realpath(path, out))
      return true;
  ppi_tool_say("libpprof_waits.so is not in %s; install it there", beside);
  return false;
}

bool ppi_tool_set_injection(const char *library) {
  // The caller sets the place of the logs, and makes pprof's own markers
  // record.
  return setenv("PPROF_QUIET", "1", 0) == 0 &&
         setenv("PPROF_ENABLE", "1", 0) == 0 &&
         setenv(PPI_INJECTION, library, 1) == 0 && lead_to_libpprof(library);
}
