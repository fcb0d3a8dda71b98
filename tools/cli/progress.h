// SPDX-License-Identifier: Apache-2.0
//
// Shows the progress of a long read as one line on a terminal, rewritten in
// place and removed at the end. The first second shows nothing, and neither
// does an output that is no terminal.
#pragma once

#include <stdio.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// All zero: shows nothing. Tests set the first three by hand.
struct ppi_tool_progress {
  FILE *out;  // NULL: shows nothing
  uint64_t (*now_ns)(void);
  size_t width;      // columns of the terminal
  const char *name;  // of the input; borrowed
  uint64_t start_ns, shown_ns;
  uint64_t num_events, done, total;
  bool is_shown;
};

// ppi_tool_progress_open shows on stderr, if that is a capable terminal.
void ppi_tool_progress_open(struct ppi_tool_progress *progress);
bool ppi_tool_progress_can_show(int fd, const char *term);

// ppi_tool_progress_begin starts another input; the first second counts from
// the first input.
void ppi_tool_progress_begin(struct ppi_tool_progress *progress,
                             const char *path);
// ppi_tool_progress_events adds `num` events.
void ppi_tool_progress_events(struct ppi_tool_progress *progress, uint64_t num);
// ppi_tool_progress_bytes: `done` bytes of `total` are read.
void ppi_tool_progress_bytes(struct ppi_tool_progress *progress, uint64_t done,
                             uint64_t total);
// ppi_tool_progress_clear removes the line: before anything else is printed,
// and at the end.
void ppi_tool_progress_clear(struct ppi_tool_progress *progress);

PPROF_END_C_
