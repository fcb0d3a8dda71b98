// SPDX-License-Identifier: Apache-2.0
//
// Samples the process's waits for disks: major faults, reads, writes.
#include <stdio.h>
#include <string.h>

#include "machine/source.h"

static ppi_machine_level faults, reads, writes;

static bool read_faults(double *out) {
  char text[1024];
  if (!ppi_machine_read("/proc/self/stat", text, sizeof text)) return false;
  const char *rest = strrchr(text, ')');
  return rest &&
         sscanf(rest + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %lf", out) == 1;
}

static bool open_process(void) {
  double num;
  return read_faults(&num);
}

static void sample_process(void) {
  char text[512];
  double value;
  if (read_faults(&value))
    ppi_machine_put(&faults, "process.major_faults", value);
  if (!ppi_machine_read("/proc/self/io", text, sizeof text)) return;
  if (ppi_machine_number(text, "read_bytes: ", &value))
    ppi_machine_put(&reads, "process.read_bytes", value);
  if (ppi_machine_number(text, "\nwrite_bytes: ", &value))
    ppi_machine_put(&writes, "process.write_bytes", value);
}

const ppi_machine_source ppi_machine_process = {
    "process", "/proc/self", 250000000, 3, open_process, sample_process, NULL};
