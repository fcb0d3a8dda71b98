// SPDX-License-Identifier: Apache-2.0
//
// Recognizes runs that several inputs have: a file twice, a merged log and its
// sources, a log and its trace. One thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The known runs, all zeroes at first. Paths are borrowed.
struct ppi_tool_runs {
  struct ppi_tool_run {
    char uuid[33];
    uint32_t segment;
    const char *path;
  } * items;
  size_t num, capacity;
};

// ppi_tool_run_meet answers whether the run, with this first segment (0: none),
// is known, and else adds it. *out_path is the input that has the run or
// another segment of it; NULL: none has. A run without a uuid is always new.
bool ppi_tool_run_meet(struct ppi_tool_runs *runs, const char *uuid,
                       uint32_t segment, const char *path,
                       const char **out_path);
void ppi_tool_runs_clear(struct ppi_tool_runs *runs);
