// SPDX-License-Identifier: Apache-2.0
//
// The clock of processors, as the mean of some of them.
#include <stdio.h>
#include <stdlib.h>

#include "machine/source.h"

enum { MOST_PROCESSORS = 8 };

static ppi_machine_level mhz;

static bool read_mean(double *out) {
  double sum = 0;
  int num = 0;
  for (int i = 0; i < MOST_PROCESSORS; i++) {
    char path[96], text[32];
    snprintf(path, sizeof path,
             "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq", i);
    if (!ppi_machine_read(path, text, sizeof text)) continue;
    sum += strtod(text, NULL) / 1e3;
    num++;
  }
  *out = num ? sum / num : 0;
  return num > 0;
}

static bool open_frequency(void) {
  double mean;
  return read_mean(&mean);
}

static void sample_frequency(void) {
  double mean;
  if (read_mean(&mean)) ppi_machine_put(&mhz, "processors.mhz", mean);
}

const ppi_machine_source ppi_machine_frequency = {
    "frequency",    "cpufreq",        1000000000, 2,
    open_frequency, sample_frequency, NULL};
