// SPDX-License-Identifier: Apache-2.0
//
// The limits of a spool's memory: the configured one; a sixteenth of the
// cgroup's memory; for all spools of a folder together, a quarter of its room.
// Three quarters stay free for others.
#pragma once

#include "base/descriptor.h"

PPROF_BEGIN_C_

typedef struct ppi_spool_limit {
  uint64_t bytes;    // that it may have in all: the smallest of the three
  const char *name;  // of that one, in words
  uint64_t own;      // the smallest of the first two
  uint64_t shared;   // of the folder's quarter, what no spool has yet; may be
                     // less than that where it is ample
} ppi_spool_limit;

// If `shared` is this many times a spool's limit, sharing does not matter.
#define PPI_SPOOL_AMPLE 16

// ppi_spool_limit_now reads the limits for the spool `own` at `path` (NULL: in
// no folder) with `taken` bytes so far, of at most `most`. Not for signal
// handlers.
ppi_spool_limit ppi_spool_limit_now(const char *path, const ppi_fd_id *own,
                                    uint64_t taken, uint64_t most);

// The same for a new spool in this folder.
ppi_spool_limit ppi_spool_limit_in(const char *folder, uint64_t most);

PPROF_END_C_
