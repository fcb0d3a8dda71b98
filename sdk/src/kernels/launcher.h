// SPDX-License-Identifier: Apache-2.0
//
// The state of a thread that launches. It is not in TLS: the little that a
// late-loaded library may use belongs to the record path.
#pragma once

#include "mark/thread.h"
#include "pprof/mark.h"

typedef struct ppi_launcher {
  // The call that it is in has made a node of a graph, and no work.
  bool has_captured;
  uint32_t num_calls;
  // The outermost call that it is in, and its range; NULL: none.
  const pprof_site *call;
  pprof_scope_token token;
  uint32_t subscription;
  // The lane of the thread that waits for it, found last.
  const ppi_lane *lane;
  uint64_t word;    // the lane's, then: it changes with each marker
  uint32_t depth;   // open ranges there
  uint64_t looked;  // ticks
  uint32_t serial;  // of the session
} ppi_launcher;

// ppi_launcher_self answers the calling thread's, which ends with it; NULL
// where there is no memory for it.
ppi_launcher *ppi_launcher_self(void);
