// SPDX-License-Identifier: Apache-2.0
//
// Finds the usual durations of calls of some names, from a log.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PPI_USUAL_MAX_TIMES = 16384 };  // the last calls of each name

struct ppi_tool_usual_name {
  char *name;
  bool on_device;                   // times on the device, not on the host
  uint64_t num;                     // calls that ran to their end
  uint64_t p50_ns, p99_ns, max_ns;  // the quantiles of the last calls
  uint64_t *times;
};

struct ppi_tool_usual {
  struct ppi_tool_usual_name *names;
  size_t num, capacity;
};

// ppi_tool_quantiles orders the times. Without a time it changes nothing.
void ppi_tool_quantiles(uint64_t *times, size_t num, uint64_t *p50_ns,
                        uint64_t *p99_ns);

// First add names, then read a log, then find the names' durations.
void ppi_tool_usual_add(struct ppi_tool_usual *usual, const char *name,
                        bool on_device);
// Answers as ppi_tool_read; all readable events count.
int ppi_tool_usual_read(struct ppi_tool_usual *usual, const char *path);
// NULL: the name was not added.
const struct ppi_tool_usual_name *ppi_tool_usual_find(
    const struct ppi_tool_usual *usual, const char *name, bool on_device);
void ppi_tool_usual_clear(struct ppi_tool_usual *usual);
