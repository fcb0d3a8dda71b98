// SPDX-License-Identifier: Apache-2.0
//
// Counts the processors that this process may use.
#include "base/processors.h"

#include <sched.h>

#include "base/base.h"
#include "base/descriptor.h"

static double number_in(const char *path, double *out_second) {
  double numbers[2] = {0, 0};
  FILE *file = ppi_fd_fopen(path);
  if (!file) return 0;
  if (fscanf(file, "%lf %lf", &numbers[0], &numbers[1]) < 1) numbers[0] = 0;
  fclose(file);
  *out_second = numbers[1];
  return numbers[0];
}

// Processors that the cgroup's quota is worth, rounded up; 0: it has none.
static int quota(void) {
  double period = 0, none;
  double us = number_in("/sys/fs/cgroup/cpu.max", &period);
  if (us <= 0) {
    us = number_in("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &none);
    period = number_in("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &none);
  }
  if (us <= 0 || period <= 0 || us / period >= CPU_SETSIZE) return 0;
  int whole = (int)(us / period);
  return whole + (whole * period < us);
}

int ppi_num_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  int num = CPU_COUNT(&set), most = quota();
  return most > 0 ? PPI_MIN(num, most) : num;
}
