// SPDX-License-Identifier: Apache-2.0
//
// Lists the spools in the default folders of ppi_spool_create.
#include "spool/spool_folders.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/descriptor.h"

bool ppi_spool_is_name(const char *name) {
  static const char start[] = "pprof-", end[] = ".spool";
  size_t len = strlen(name);
  return len > sizeof(start) + sizeof(end) &&
         memcmp(name, start, sizeof(start) - 1) == 0 &&
         strcmp(name + len - (sizeof(end) - 1), end) == 0;
}

static int by_name(const struct dirent **left, const struct dirent **right) {
  return strcmp((*left)->d_name, (*right)->d_name);
}

static int wanted(const struct dirent *entry) {
  return ppi_spool_is_name(entry->d_name);
}

static unsigned visit_folder(const char *folder, uid_t owner,
                             void (*visit)(const char *path, void *user),
                             void *user) {
  struct dirent **entries;
  unsigned num_others = 0;
  unsigned standing = ppi_fd_stand_in();
  int num = scandir(folder, &entries, wanted, by_name);
  ppi_fd_stand_down(standing);
  if (num < 0) return 0;
  for (int i = 0; i < num; i++) {
    char path[4096];
    struct stat stat;
    int len = snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
    free(entries[i]);
    if (len < 0 || (size_t)len >= sizeof(path) || lstat(path, &stat) != 0)
      continue;
    if (stat.st_uid == owner)
      visit(path, user);
    else
      num_others++;
  }
  free(entries);
  return num_others;
}

size_t ppi_spool_folders(const char *out[2]) {
  out[0] = "/dev/shm";
  out[1] = secure_getenv("XDG_RUNTIME_DIR");
  return out[1] && out[1][0] ? 2 : 1;
}

unsigned ppi_spool_visit(uid_t owner,
                         void (*visit)(const char *path, void *user),
                         void *user) {
  const char *folders[2];
  unsigned num_others = 0;
  size_t num = ppi_spool_folders(folders);
  for (size_t i = 0; i < num; i++)
    num_others += visit_folder(folders[i], owner, visit, user);
  return num_others;
}
