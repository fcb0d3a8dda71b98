// SPDX-License-Identifier: Apache-2.0
//
// Samples RAPL: the energy of the processors' packages, if users may read it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/source.h"

enum { MOST_PACKAGES = 8 };

typedef struct package {
  bool is_there;
  double last_uj, range_uj;  // it begins again at the range
} package;

static struct {
  package packages[MOST_PACKAGES];
  double sum_uj;
} all;

static bool read_of(int index, const char *name, double *out) {
  char path[96], text[64];
  snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%d/%s", index,
           name);
  if (!ppi_machine_read(path, text, sizeof text)) return false;
  *out = strtod(text, NULL);
  return true;
}

bool ppi_machine_open_cpu_energy(void) {
  bool any = false;
  all.sum_uj = 0;
  for (int i = 0; i < MOST_PACKAGES; i++) {
    package *p = &all.packages[i];
    *p = (package){0};
    p->is_there = read_of(i, "energy_uj", &p->last_uj) &&
                  read_of(i, "max_energy_range_uj", &p->range_uj);
    any |= p->is_there;
  }
  return any;
}

void ppi_machine_sample_cpu_energy(void) {
  for (int i = 0; i < MOST_PACKAGES; i++) {
    package *p = &all.packages[i];
    double now_uj;
    if (!p->is_there || !read_of(i, "energy_uj", &now_uj)) continue;
    all.sum_uj += now_uj - p->last_uj + (now_uj < p->last_uj ? p->range_uj : 0);
    p->last_uj = now_uj;
  }
  ppi_machine_put("processors.energy_j", all.sum_uj / 1e6);
}
