// SPDX-License-Identifier: Apache-2.0
//
// Replaces folders among the inputs by the logs in them. The list of logs lives
// until the process ends.
#include "input/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static ppi_tool_paths inputs;

static void add_path(ppi_tool_paths *paths, const char *path) {
  PPI_MUST_PUSH(paths->items, paths->num, paths->capacity, (char *)path);
}

void ppi_tool_paths_clear(ppi_tool_paths *paths) {
  for (size_t i = 0; i < paths->num; i++) free(paths->items[i]);
  ppi_free(paths->items);
  *paths = (ppi_tool_paths){0};
}

bool ppi_tool_is_folder(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

static int is_log(const struct dirent *entry) {
  return entry->d_name[0] != '.' && (ppi_ends_with(entry->d_name, ".pplog") ||
                                     ppi_ends_with(entry->d_name, ".pplog.gz"));
}

// The caller frees it.
static char *path_in(const char *folder, const char *name) {
  char *path;
  size_t len = strlen(folder);
  const char *slash = len > 0 && folder[len - 1] == '/' ? "" : "/";
  return ppi_tool_must(
      asprintf(&path, "%s%s%s", folder, slash, name) >= 0 ? path : NULL);
}

static int is_part(const struct dirent *entry) {
  return entry->d_name[0] != '.' && ppi_ends_with(entry->d_name, ".pplog.part");
}

// Prints what to do in a folder with unfinished logs only.
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

static int is_visible(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

int ppi_tool_folder_list(const char *folder, ppi_tool_paths *logs,
                         ppi_tool_paths *folders) {
  struct dirent **entries;
  int num = scandir(folder, &entries, is_visible, alphasort);
  if (num < 0)
    return ppi_tool_fail(PPI_EXIT_INPUT, "%s: %s", folder, strerror(errno));
  for (int i = 0; i < num; i++) {
    char *path = path_in(folder, entries[i]->d_name);
    ppi_tool_paths *to = ppi_tool_is_folder(path) ? folders
                         : is_log(entries[i])     ? logs
                                                  : NULL;
    if (to) add_path(to, path);
    if (!to) free(path);
    free(entries[i]);
  }
  free(entries);
  return PPI_EXIT_DONE;
}

static int add_all(const char *folder) {
  size_t before = inputs.num;
  int code = ppi_tool_folder_list(folder, &inputs, NULL);
  return code == PPI_EXIT_DONE && inputs.num == before ? say_none(folder)
                                                       : code;
}

int ppi_tool_folders_open(struct ppi_tool_options *options) {
  for (int i = 0; i < options->num_inputs; i++) {
    const char *path = options->inputs[i];
    bool is_folder = ppi_tool_is_folder(path);
    options->of_folder |= is_folder;
    if (!is_folder) add_path(&inputs, path);
    int code = is_folder ? add_all(path) : PPI_EXIT_DONE;
    if (code != PPI_EXIT_DONE) return code;
  }
  const char **all = ppi_tool_must(calloc(inputs.num + 1, sizeof(*all)));
  if (inputs.num > 0) memcpy(all, inputs.items, inputs.num * sizeof(*all));
  free(options->inputs);
  options->inputs = all;
  options->num_inputs = (int)inputs.num;
  return PPI_EXIT_DONE;
}
