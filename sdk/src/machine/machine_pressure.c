// SPDX-License-Identifier: Apache-2.0
//
// Samples PSI: the time that some or all tasks have waited for a processor, for
// memory or for a disk.
#include <string.h>

#include "machine/source.h"

typedef struct pressure {
  const char *path, *name;
  const char *line;  // begin of the used line: "some", "full"
} pressure;

static const pressure all[] = {
    {"/proc/pressure/cpu", "pressure.cpu_us", "some "},
    {"/proc/pressure/memory", "pressure.memory_us", "full "},
    {"/proc/pressure/io", "pressure.io_us", "full "},
};
enum { NUM = sizeof all / sizeof *all };

static bool read_total(const pressure *from, double *out) {
  char text[256];
  if (!ppi_machine_read(from->path, text, sizeof text)) return false;
  const char *line = strstr(text, from->line);
  return line && ppi_machine_number(line, "total=", out);
}

bool ppi_machine_open_pressure(void) {
  double total;
  return read_total(&all[0], &total);
}

void ppi_machine_sample_pressure(void) {
  double total;
  for (size_t i = 0; i < NUM; i++)
    if (read_total(&all[i], &total)) ppi_machine_put(all[i].name, total);
}
