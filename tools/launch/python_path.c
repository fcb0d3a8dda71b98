// SPDX-License-Identifier: Apache-2.0
#include "launch/python_path.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/say.h"
#include "cli/suggest.h"

#define PATH_NAME "PYTHONPATH"

const ppi_carried *ppi_tool_carried_find(const ppi_carried *files,
                                         const char *what, const char *name) {
  struct ppi_tool_guess guess = {.wrong = name, .wrong_len = strlen(name)};
  char list[256];
  size_t len = 0;
  for (const ppi_carried *at = files; at->name; at++) {
    if (strcmp(at->name, name) == 0) return at;
    ppi_tool_guess_offer(&guess, at->name, strlen(at->name));
    int added = snprintf(list + len, sizeof list - len, "%s%s", len ? ", " : "",
                         at->name);
    if (added > 0 && (size_t)added < sizeof list - len) len += (size_t)added;
  }
  list[len] = 0;
  if (guess.best)
    ppi_tool_say("there is no %s '%s' (did you mean '%s'?)", what, name,
                 guess.best);
  else
    ppi_tool_say("there is no %s '%s'; there are %s", what, name, list);
  return NULL;
}

bool ppi_tool_python_join(char out[PATH_MAX], const char *folder,
                          const char *name) {
  int len =
      snprintf(out, PATH_MAX, "%s/.python%s%s", folder, *name ? "/" : "", name);
  if (len > 0 && len < PATH_MAX) return true;
  errno = ENAMETOOLONG;
  return false;
}

static bool make_folders(char *path, size_t from) {
  for (char *at = strchr(path + from + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = 0;
    bool done = mkdir(path, 0700) == 0 || errno == EEXIST;
    *at = '/';
    if (!done) return false;
  }
  return true;
}

bool ppi_tool_python_write(const char *folder, const char *name,
                           const char *text) {
  char path[PATH_MAX];
  if (!ppi_tool_python_join(path, folder, name) ||
      !make_folders(path, strlen(folder)))
    return false;
  FILE *file = fopen(path, "wxe");
  bool done = file && fputs(text, file) >= 0;
  if (file && fclose(file) != 0) done = false;
  return done || errno == EEXIST;
}

bool ppi_tool_python_add(const char *path, bool is_first) {
  const char *before = secure_getenv(PATH_NAME);
  char *both = NULL;
  if (before && strstr(before, path)) return true;
  if (!before || !before[0]) return setenv(PATH_NAME, path, 1) == 0;
  if (asprintf(&both, "%s:%s", is_first ? path : before,
               is_first ? before : path) < 0)
    return false;
  bool done = setenv(PATH_NAME, both, 1) == 0;
  free(both);
  return done;
}

static int remove_one(const char *path, const struct stat *stat_, int type,
                      struct FTW *ftw) {
  (void)stat_;
  (void)type;
  (void)ftw;
  return remove(path);
}

void ppi_tool_python_drop(const char *folder) {
  char python[PATH_MAX];
  if (ppi_tool_python_join(python, folder, ""))
    nftw(python, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
