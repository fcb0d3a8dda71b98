// SPDX-License-Identifier: Apache-2.0
//
// Records the sources' values as counters, and reads small files for them.
#include "machine/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "base/descriptor.h"

// Static, like sites.
typedef struct level {
  pprof_site site;
  char name[40];
  double last;
  uint32_t round;
} level;

enum { MOST_LEVELS = 256 };

static struct {
  uint32_t category;
  uint32_t round;  // grows when all levels are to be recorded again
  const char *root, *nvml;
  level levels[MOST_LEVELS];
  size_t num, next;  // next: behind the one put last
} of_all = {.root = ""};

void ppi_machine_set_category(uint32_t category) {
  of_all.category = category;
}

void ppi_machine_repeat(void) {
  of_all.round++;
}

void ppi_machine_set_places(const char *root, const char *nvml) {
  of_all.root = root ? root : "";
  of_all.nvml = nvml;
}

uint64_t ppi_machine_now_ns(int clock) {
  struct timespec now;
  clock_gettime((clockid_t)clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Sources put their levels in the same order each time.
static level *level_of(const char *name) {
  for (size_t i = 0; i < of_all.num; i++) {
    size_t at = (of_all.next + i) % of_all.num;
    if (strcmp(of_all.levels[at].name, name) != 0) continue;
    of_all.next = at + 1;
    return &of_all.levels[at];
  }
  if (of_all.num == MOST_LEVELS) return NULL;
  level *added = &of_all.levels[of_all.num++];
  snprintf(added->name, sizeof added->name, "%s", name);
  added->site.name = added->name;
  return added;
}

void ppi_machine_put(const char *name, double value) {
  level *to = level_of(name);
  if (!to) return;
  to->site.category = of_all.category;
  if (to->round == of_all.round && to->last == value) return;
  to->round = of_all.round;
  to->last = value;
  pprof_count(&to->site, value);
}

const char *ppi_machine_root(void) {
  return of_all.root;
}

const char *ppi_machine_nvml(void) {
  return of_all.nvml ? of_all.nvml : "libnvidia-ml.so.1";
}

bool ppi_machine_read(const char *path, char *out, size_t size) {
  char full[4096];
  int len = snprintf(full, sizeof full, "%s%s", of_all.root, path);
  if (len < 0 || (size_t)len >= sizeof full) return false;
  int fd = ppi_fd_open(full, O_RDONLY, 0);
  if (fd < 0) return false;
  ssize_t got = read(fd, out, size - 1);
  close(fd);
  out[got > 0 ? got : 0] = 0;
  return got > 0;
}

bool ppi_machine_number(const char *text, const char *key, double *out) {
  const char *at = strstr(text, key);
  if (!at) return false;
  char *end;
  at += strlen(key);
  double value = strtod(at, &end);
  if (end == at) return false;
  *out = value;
  return true;
}

uint64_t ppi_machine_rest_ns(const ppi_machine_source *source,
                             ppi_machine_costs *costs, uint64_t cost_ns) {
  if (costs->num++ == 0) return source->period_ns;
  costs->mean_ns =
      costs->num == 2 ? cost_ns : (3 * costs->mean_ns + cost_ns) / 4;
  return PPI_MAX(source->period_ns, costs->mean_ns * 100000u / source->share);
}
