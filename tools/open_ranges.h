// SPDX-License-Identifier: Apache-2.0
//
// `recover --open` and `info --live`: what is open in a spool, printed.
#ifndef PPI_TOOL_OPEN_RANGES_H_
#define PPI_TOOL_OPEN_RANGES_H_

#include <sys/types.h>

#include "options.h"

// ppi_tool_open_dead prints what was open when the processes died whose spools
// or unfinished logs the operands are; without one, of all that left a spool.
int ppi_tool_open_dead(const struct ppi_tool_options *options);
// ppi_tool_open_live prints what is open in running processes, named by their
// number, spool or unfinished log.
int ppi_tool_open_live(const struct ppi_tool_options *options);

// ppi_tool_visit_spools calls `visit` for what looks like a spool of `owner` in
// the folders where a session puts it by itself. Answers how many are of
// others.
unsigned ppi_tool_visit_spools(uid_t owner,
                               void (*visit)(const char *path, void *user),
                               void *user);

#endif  // PPI_TOOL_OPEN_RANGES_H_
