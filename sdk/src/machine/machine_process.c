// SPDX-License-Identifier: Apache-2.0
//
// Samples the process's waits for disks: major faults, reads, writes.
#include <stdio.h>
#include <string.h>

#include "machine/source.h"

static bool read_faults(double *out) {
  char text[1024];
  if (!ppi_machine_read("/proc/self/stat", text, sizeof text)) return false;
  const char *rest = strrchr(text, ')');
  return rest &&
         sscanf(rest + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %lf", out) == 1;
}

bool ppi_machine_open_process(void) {
  double num;
  return read_faults(&num);
}

void ppi_machine_sample_process(void) {
  char text[512];
  double value;
  if (read_faults(&value)) ppi_machine_put("process.major_faults", value);
  if (!ppi_machine_read("/proc/self/io", text, sizeof text)) return;
  if (ppi_machine_number(text, "read_bytes: ", &value))
    ppi_machine_put("process.read_bytes", value);
  if (ppi_machine_number(text, "\nwrite_bytes: ", &value))
    ppi_machine_put("process.write_bytes", value);
}
