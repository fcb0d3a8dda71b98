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

static bool join(char out[PATH_MAX], const char *folder, const char *name) {
  int len = snprintf(out, PATH_MAX, "%s/%s", folder, name);
  return len > 0 && len < PATH_MAX;
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
  ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
  own[len > 0 ? len : 0] = 0;
  const char *folder = dirname(own);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (join(path, folder, places[i]) && realpath(path, out)) return true;
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
  const char *before = secure_getenv("LD_LIBRARY_PATH");
  char folder[PATH_MAX], place[PATH_MAX], path[PATH_MAX];
  strcpy(folder, library);
  char *library_folder = dirname(folder);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (!join(path, library_folder, places[i]) || !realpath(path, place) ||
        !join(path, place, "libpprof.so.0") || access(path, R_OK) != 0)
      continue;
    if (i == 0) return true;
    char *both = NULL;
    bool more = before && before[0];
    if (asprintf(&both, "%s%s%s", place, more ? ":" : "", more ? before : "") <
        0)
      return false;
    bool done = setenv("LD_LIBRARY_PATH", both, 1) == 0;
    free(both);
    return done;
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
    if (join(path, beside, places[i]) && realpath(path, out)) return true;
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
