// SPDX-License-Identifier: Apache-2.0
//
// Finds Python packages that a preset needs.
#include "launch/needs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/say.h"
#include "launch/interpreter.h"
#include "launch/python.h"

static const ppi_carried *stand_in_of(const char *package) {
  const ppi_carried *file = ppi_stand_ins;
  while (file->name && strcmp(file->name, package) != 0) file++;
  return file->name ? file : NULL;
}

static bool bring(const ppi_carried *file, const char *folder) {
  char python[PATH_MAX], name[64];
  snprintf(name, sizeof name, "%s.py", file->name);
  bool done = ppi_tool_python_write(folder, name, file->text) &&
              ppi_tool_python_join(python, folder, "") &&
              ppi_tool_python_add(python, false);
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

// Brings a package. `*out_stands_in`: the command's Python lacks it and uses a
// stand-in.
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
  // Without switches, packages are the program's own concern.
  if (run->environment.num == 0) return true;
  for (uint64_t i = 0; i < run->packages.num; i += !stands_in) {
    if (!meet(run, is_known ? &python : NULL, run->packages.items[i], folder,
              &stands_in))
      return false;
    if (stands_in) remove_package(run, i);
  }
  return true;
}
