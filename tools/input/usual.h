// SPDX-License-Identifier: Apache-2.0
//
// How long calls of some names usually take, from a log.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PPI_USUAL_MAX_TIMES = 16384 };  // the last ones of each name

struct ppi_tool_usual_name {
  char *name;
  bool on_device;  // its times on the device, not those of its host side
  uint64_t num;    // calls that ran to their end
  uint64_t p50_ns, p99_ns, max_ns;  // the quantiles of the last ones
  uint64_t *times;
};

struct ppi_tool_usual {
  struct ppi_tool_usual_name *names;
  size_t num, capacity;
};

// Names are added, then filled from a log, then asked for.
bool ppi_tool_usual_add(struct ppi_tool_usual *usual, const char *name,
                        bool on_device);
// As ppi_tool_read answers; what is readable counts in any case.
int ppi_tool_usual_read(struct ppi_tool_usual *usual, const char *path);
// NULL: it was not added.
const struct ppi_tool_usual_name *ppi_tool_usual_find(
    const struct ppi_tool_usual *usual, const char *name, bool on_device);
void ppi_tool_usual_clear(struct ppi_tool_usual *usual);
