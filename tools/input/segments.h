// SPDX-License-Identifier: Apache-2.0
//
// Finds the files of one log: the segments of a run on the command line, or the
// segments of a log that is named as one file.
#pragma once

#include "cli/options.h"

// Of several segments of a run, only the first stays an input. It stands for
// all of them in each read.
void ppi_tool_segments_join(struct ppi_tool_options *options);

// The files of `path`, in order; `path` alone if there are no segments to join.
struct ppi_tool_segments {
  const char *const *paths;
  size_t num;
  const char **made_paths;  // NULL: borrowed
};
void ppi_tool_segments_of(const char *const *path,
                          struct ppi_tool_segments *out);
void ppi_tool_segments_clear(struct ppi_tool_segments *segments);

// ppi_tool_segments_each calls `look` for each file of all inputs, and answers
// the highest exit code.
int ppi_tool_segments_each(const struct ppi_tool_options *options,
                           int (*look)(const char *path, void *user),
                           void *user);
