// SPDX-License-Identifier: Apache-2.0
//
// Runs that several inputs hold: the same file twice, a merged log and what it
// was made of, a log and its trace. One thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The runs that were met, all zeroes at first. Paths are borrowed.
struct ppi_tool_runs {
  struct ppi_tool_run {
    char uuid[33];
    uint32_t segment;
    const char *path;
  } * items;
  size_t num, capacity;
};

// ppi_tool_run_meet answers whether the run was met before, with the same first
// segment (0: it has none); if not, it is now. *out_path is where it was met,
// or another segment of it; NULL: nowhere. One without a uuid is like no other.
bool ppi_tool_run_meet(struct ppi_tool_runs *runs, const char *uuid,
                       uint32_t segment, const char *path,
                       const char **out_path);
void ppi_tool_runs_clear(struct ppi_tool_runs *runs);
