// SPDX-License-Identifier: Apache-2.0
//
// Which files are one log: the segments of a run that the command line names,
// or those of a log that is named as if it were one file.
#pragma once

#include <stddef.h>

#include "cli/options.h"

// Of the inputs that are segments of one run only the first stays, and stands
// for all of them wherever it is read.
int ppi_tool_segments_join(struct ppi_tool_options *options);

// The files that `path` stands for, in order; `path` alone where there is
// nothing to join.
struct ppi_tool_segments {
  const char *const *paths;
  size_t num;
  const char **made_paths;  // NULL: borrowed
};
int ppi_tool_segments_of(const char *const *path,
                         struct ppi_tool_segments *out);
void ppi_tool_segments_clear(struct ppi_tool_segments *segments);
