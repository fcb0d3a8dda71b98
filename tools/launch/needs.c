// SPDX-License-Identifier: Apache-2.0
//
// Finds Python packages that a preset needs.
#include "launch/needs.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/say.h"
#include "launch/interpreter.h"

#define PATH_NAME "PYTHONPATH"

static const ppi_carried *stand_in_of(const char *package) {
  const ppi_carried *file = ppi_stand_ins;
  while (file->name && strcmp(file->name, package) != 0) file++;
  return file->name ? file : NULL;
}

static bool join(char out[PATH_MAX], const char *folder, const char *name) {
  int len = snprintf(out, PATH_MAX, "%s/%s", folder, name);
  if (len > 0 && len < PATH_MAX) return true;
  errno = ENAMETOOLONG;
  return false;
}

static bool write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wxe");
  bool done = file && fputs(text, file) >= 0;
  if (file && fclose(file) != 0) done = false;
  return done || errno == EEXIST;
}

// Behind what is in it, once.
static bool add_to_path(const char *folder) {
  const char *before = secure_getenv(PATH_NAME);
  bool has_any = before && before[0];
  char *both = NULL;
  if (has_any && strstr(before, folder)) return true;
  if (asprintf(&both, "%s%s%s", has_any ? before : "", has_any ? ":" : "",
               folder) < 0)
    return false;
  bool done = setenv(PATH_NAME, both, 1) == 0;
  free(both);
  return done;
}

static bool bring(const ppi_carried *file, const char *folder) {
  char python[PATH_MAX], name[64], path[PATH_MAX];
  snprintf(name, sizeof name, "%s.py", file->name);
  bool done = join(python, folder, "python") && join(path, python, name) &&
              (mkdir(python, 0700) == 0 || errno == EEXIST) &&
              write_text(path, file->text) && add_to_path(python);
  if (!done)
    ppi_tool_say(
        "%s: a stand-in for the Python package %s cannot be put there:"
        " %s",
        folder, file->name, strerror(errno));
  return done;
}

static bool refuse(const ppi_config_run *run,
                   const ppi_tool_interpreter *python, const char *package) {
  ppi_tool_say(
      "%s makes the command need the Python package %s, which %s does not"
      " find; install it: `%s -m pip install %s`",
      run->environment.items[0], package, python->program, python->program,
      package);
  return false;
}

static void remove_package(ppi_config_run *run, uint64_t at) {
  ppi_config_globs *packages = &run->packages;
  packages->num--;
  memmove(packages->items[at], packages->items[at + 1],
          (packages->num - at) * sizeof packages->items[0]);
}

// `*out_stands_in`: the command's Python has no such package, but a stand-in.
static bool meet(const ppi_config_run *run, ppi_tool_interpreter *python,
                 const char *package, const char *folder, bool *out_stands_in) {
  const ppi_carried *file = stand_in_of(package);
  ppi_tool_import found = python ? ppi_tool_interpreter_import(python, package)
                                 : PPI_IMPORT_UNKNOWN;
  *out_stands_in = false;
  if (found == PPI_IMPORT_WORKS || (found == PPI_IMPORT_UNKNOWN && !file))
    return true;
  if (file && !bring(file, folder)) return false;
  if (found == PPI_IMPORT_UNKNOWN) return true;
  if (!file || ppi_tool_interpreter_import(python, package) != PPI_IMPORT_WORKS)
    return refuse(run, python, package);
  ppi_tool_say("%s has no Python package %s: a stand-in for it marks",
               python->program, package);
  *out_stands_in = true;
  return true;
}

bool ppi_tool_needs_meet(ppi_config_run *run, char *const *command,
                         const char *folder) {
  ppi_tool_interpreter python;
  bool is_known = ppi_tool_interpreter_find(command, &python);
  bool stands_in;
  // What no switch has asked for is the program's own matter.
  if (run->environment.num == 0) return true;
  for (uint64_t i = 0; i < run->packages.num; i += !stands_in) {
    if (!meet(run, is_known ? &python : NULL, run->packages.items[i], folder,
              &stands_in))
      return false;
    if (stands_in) remove_package(run, i);
  }
  return true;
}

static int remove_one(const char *path, const struct stat *stat_, int type,
                      struct FTW *ftw) {
  (void)stat_;
  (void)type;
  (void)ftw;
  return remove(path);
}

void ppi_tool_needs_drop(const char *folder) {
  char python[PATH_MAX];
  if (join(python, folder, "python") && access(python, F_OK) == 0)
    nftw(python, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
