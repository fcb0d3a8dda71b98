// SPDX-License-Identifier: Apache-2.0
//
// Reads limits of cgroups: /proc/self/cgroup names the cgroup,
// /proc/self/mountinfo its mount.
#include "base/memory_limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptor.h"

#define PATH_ROOM 2048
// A line of mountinfo has two paths, and options that may be as long.
#define LINE_ROOM 8192
// v1 says 2^63 less a page for no limit.
#define HUGE_LIMIT (1ull << 60)

typedef struct hierarchy {
  const char *type, *controller;  // of the mount; NULL: v2
  const char *limit;              // the file's name
} hierarchy;

static const hierarchy hierarchies[] = {
    {"cgroup2", NULL, "memory.max"},
    {"cgroup", "memory", "memory.limit_in_bytes"},
};

static uint64_t less(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

static FILE *open_file(const char *root, const char *path) {
  char full[2 * PATH_ROOM];
  int len = snprintf(full, sizeof full, "%s%s", root, path);
  return len > 0 && (size_t)len < sizeof full ? ppi_fd_fopen(full) : NULL;
}

// One line without its end; what is longer than `line` is dropped with it.
static bool next_line(FILE *file, char *line, size_t size) {
  while (fgets(line, (int)size, file)) {
    size_t len = strcspn(line, "\n");
    bool whole = line[len] == '\n' || feof(file);
    line[len] = 0;
    if (whole) return true;
    for (int c = 0; c != '\n' && c != EOF;) c = getc(file);
  }
  return false;
}

// "max", like any other text without a number, is no limit.
static uint64_t limit_of(const char *text) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (end == text || *end || errno || text[0] == '-' || value == 0 ||
      value >= HUGE_LIMIT)
    return PPI_NO_LIMIT;
  return value;
}

static uint64_t read_limit(const char *root, const char *folder,
                           const char *name) {
  char path[2 * PATH_ROOM], line[64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = open_file(root, path);
  if (!file) return PPI_NO_LIMIT;
  bool found = next_line(file, line, sizeof line);
  fclose(file);
  return found ? limit_of(line) : PPI_NO_LIMIT;
}

// v1 reports the least limit above, also of invisible cgroups.
static uint64_t read_above(const char *root, const char *folder) {
  static const char key[] = "hierarchical_memory_limit ";
  char path[2 * PATH_ROOM], line[256];
  snprintf(path, sizeof path, "%s/memory.stat", folder);
  FILE *file = open_file(root, path);
  uint64_t limit = PPI_NO_LIMIT;
  while (file && next_line(file, line, sizeof line))
    if (strncmp(line, key, sizeof key - 1) == 0)
      limit = limit_of(line + sizeof key - 1);
  if (file) fclose(file);
  return limit;
}

// From the cgroup's folder up to where the hierarchy is mounted.
static uint64_t least_from(const char *root, const hierarchy *kind,
                           const char *mount, const char *below) {
  char folder[PATH_ROOM];
  size_t top = strlen(mount);
  int len = snprintf(folder, sizeof folder, "%s%s", mount, below);
  if (len < 0 || (size_t)len >= sizeof folder) return PPI_NO_LIMIT;
  uint64_t least = PPI_NO_LIMIT;
  for (;;) {
    least = less(least, read_limit(root, folder, kind->limit));
    if (kind->controller) least = less(least, read_above(root, folder));
    char *slash = strrchr(folder, '/');
    if (!slash || (size_t)(slash - folder) < top) return least;
    *slash = 0;
  }
}

static bool has_word(const char *list, const char *word) {
  size_t len = strlen(word);
  for (const char *at = list; (at = strstr(at, word)); at += len)
    if ((at == list || at[-1] == ',') && (at[len] == ',' || at[len] == 0))
      return true;
  return false;
}

// Lines "id:controllers:path"; v2's has no controllers.
static bool find_own(const char *root, const hierarchy *kind, char *out) {
  char line[LINE_ROOM];
  bool found = false;
  FILE *file = open_file(root, "/proc/self/cgroup");
  while (file && !found && next_line(file, line, sizeof line)) {
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || strlen(path + 1) >= PATH_ROOM) continue;
    *controllers++ = 0;
    *path++ = 0;
    found = kind->controller ? has_word(controllers, kind->controller)
                             : controllers[0] == 0 && strcmp(line, "0") == 0;
    if (found) snprintf(out, PATH_ROOM, "%s", path);
  }
  if (file) fclose(file);
  return found;
}

// The part of the cgroup's path below the mount. A cgroup outside this mount
// has none: the visible limit is then the mount's own.
static const char *part_below(const char *own, const char *mount_root) {
  size_t len = strlen(mount_root);
  if (strstr(own, "/..")) return "";
  if (strcmp(mount_root, "/") == 0) return strcmp(own, "/") == 0 ? "" : own;
  return strncmp(own, mount_root, len) == 0 && (own[len] == '/' || !own[len])
             ? own + len
             : "";
}

// "36 35 98:0 /root /mount options optional... - type source options" Answers
// the mount point, and the cgroup's path below it; NULL: the mount is
// another's.
static const char *mount_of_line(const hierarchy *kind, const char *own,
                                 char *line, const char **out_below) {
  char *words[5], *save = NULL;
  char *rest = strstr(line, " - ");
  if (!rest) return NULL;
  *rest = 0;
  words[0] = strtok_r(line, " ", &save);
  for (int i = 1; i < 5; i++)
    words[i] = words[i - 1] ? strtok_r(NULL, " ", &save) : NULL;
  char *type = strtok_r(rest + 3, " ", &save);
  char *source = type ? strtok_r(NULL, " ", &save) : NULL;
  char *options = source ? strtok_r(NULL, " ", &save) : NULL;
  if (!words[4] || !options || strcmp(type, kind->type) != 0 ||
      (kind->controller && !has_word(options, kind->controller)))
    return NULL;
  *out_below = part_below(own, words[3]);
  return words[4];
}

static uint64_t least_of(const char *root, const hierarchy *kind) {
  char own[PATH_ROOM], line[LINE_ROOM];
  uint64_t least = PPI_NO_LIMIT;
  if (!find_own(root, kind, own)) return least;
  FILE *file = open_file(root, "/proc/self/mountinfo");
  while (file && next_line(file, line, sizeof line)) {
    const char *below;
    const char *mount = mount_of_line(kind, own, line, &below);
    if (mount) least = less(least, least_from(root, kind, mount, below));
  }
  if (file) fclose(file);
  return least;
}

bool ppi_cgroup_folder(const char *root, const char *controller, char *out,
                       size_t size) {
  const hierarchy kind = {controller ? "cgroup" : "cgroup2", controller, NULL};
  char own[PATH_ROOM], line[LINE_ROOM];
  bool found = false;
  if (!find_own(root, &kind, own)) return false;
  FILE *file = open_file(root, "/proc/self/mountinfo");
  while (file && !found && next_line(file, line, sizeof line)) {
    const char *below;
    const char *mount = mount_of_line(&kind, own, line, &below);
    int len = mount ? snprintf(out, size, "%s%s", mount, below) : -1;
    found = len > 0 && (size_t)len < size;
  }
  if (file) fclose(file);
  return found;
}

uint64_t ppi_cgroup_limit(const char *root) {
  return less(least_of(root, &hierarchies[0]), least_of(root, &hierarchies[1]));
}

uint64_t ppi_memory_share(uint64_t most) {
  uint64_t limit = ppi_cgroup_limit("");
  return limit == PPI_NO_LIMIT ? most : less(most, limit / 16);
}
