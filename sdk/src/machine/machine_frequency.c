// SPDX-License-Identifier: Apache-2.0
//
// Samples the clock of processors, as the mean of some of them, from cpufreq.
// Where that is absent, as in many virtual machines, it reads /proc/cpuinfo.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/source.h"

enum { MOST_PROCESSORS = 8 };

static void read_cpufreq(double *sum, int *num) {
  for (int i = 0; i < MOST_PROCESSORS; i++) {
    char path[96], text[32];
    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", i);
    if (!ppi_machine_read(path, text, sizeof text)) continue;
    *sum += strtod(text, NULL) / 1e3;
    ++*num;
  }
}

// As many processors as the first page has.
static void read_cpuinfo(double *sum, int *num) {
  char text[4096];
  double value;
  if (!ppi_machine_read("/proc/cpuinfo", text, sizeof text)) return;
  for (char *at = text; (at = strstr(at, "cpu MHz")); at++) {
    if (*num == MOST_PROCESSORS || sscanf(at, "cpu MHz : %lf", &value) != 1)
      return;
    *sum += value;
    ++*num;
  }
}

static bool read_mean(double *out) {
  double sum = 0;
  int num = 0;
  read_cpufreq(&sum, &num);
  if (num == 0) read_cpuinfo(&sum, &num);
  *out = num ? sum / num : 0;
  return num > 0;
}

bool ppi_machine_open_frequency(void) {
  double mean;
  return read_mean(&mean);
}

void ppi_machine_sample_frequency(void) {
  double mean;
  if (read_mean(&mean)) ppi_machine_put("processors.mhz", mean);
}
