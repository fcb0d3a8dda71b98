// SPDX-License-Identifier: Apache-2.0
//
// Folders of logs, as `run` leaves them. What was found is known until the
// process ends.
#include "input/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

static struct {
  const char **paths;
  size_t num, capacity;
} inputs;

static bool add(const char *path) {
  const char **paths =
      ppi_grow(inputs.paths, &inputs.capacity, inputs.num + 1, sizeof(*paths));
  if (!paths || !path) return false;
  inputs.paths = paths;
  paths[inputs.num++] = path;
  return true;
}

static int no_memory(void) {
  ppi_tool_say("out of memory");
  return PPI_EXIT_INPUT;
}

static bool ends_in(const char *name, const char *ending) {
  size_t len = strlen(name), ending_len = strlen(ending);
  return len > ending_len && strcmp(name + len - ending_len, ending) == 0;
}

static int is_log(const struct dirent *entry) {
  return entry->d_name[0] != '.' && (ends_in(entry->d_name, ".pplog") ||
                                     ends_in(entry->d_name, ".pplog.gz"));
}

static bool add_in(const char *folder, const char *name) {
  char *path;
  size_t len = strlen(folder);
  const char *slash = len > 0 && folder[len - 1] == '/' ? "" : "/";
  return asprintf(&path, "%s%s%s", folder, slash, name) >= 0 && add(path);
}

static int is_part(const struct dirent *entry) {
  return entry->d_name[0] != '.' && ends_in(entry->d_name, ".pplog.part");
}

// What to do where everything was killed, or goes on.
static int say_none(const char *folder) {
  struct dirent **entries;
  int num = scandir(folder, &entries, is_part, NULL);
  if (num > 0)
    ppi_tool_say(
        "%s: no log (*.pplog) is in it, but %d unfinished; "
        "`pprof-report recover %s/*.pplog.part` makes logs of what was killed",
        folder, num, folder);
  else
    ppi_tool_say("%s: no log (*.pplog) is in it", folder);
  for (int i = 0; i < num; i++) free(entries[i]);
  if (num >= 0) free(entries);
  return PPI_EXIT_INPUT;
}

static int add_all(const char *folder) {
  struct dirent **entries;
  int num = scandir(folder, &entries, is_log, alphasort);
  if (num == 0) {
    free(entries);
    return say_none(folder);
  }
  if (num < 0) {
    ppi_tool_say("%s: %s", folder, strerror(errno));
    return PPI_EXIT_INPUT;
  }
  bool room = true;
  for (int i = 0; i < num; i++) {
    room = room && add_in(folder, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return room ? PPI_EXIT_DONE : no_memory();
}

int ppi_tool_folders_open(struct ppi_tool_options *options) {
  for (int i = 0; i < options->num_inputs; i++) {
    const char *path = options->inputs[i];
    struct stat found;
    bool is_folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    options->of_folder |= is_folder;
    int code = is_folder   ? add_all(path)
               : add(path) ? PPI_EXIT_DONE
                           : no_memory();
    if (code != PPI_EXIT_DONE) return code;
  }
  const char **all = calloc(inputs.num + 1, sizeof(*all));
  if (!all) return no_memory();
  if (inputs.num > 0) memcpy(all, inputs.paths, inputs.num * sizeof(*all));
  free(options->inputs);
  options->inputs = all;
  options->num_inputs = (int)inputs.num;
  return PPI_EXIT_DONE;
}
