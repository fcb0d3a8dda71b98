// SPDX-License-Identifier: Apache-2.0
//
// Calls of ranges in which kernels, copies and sets were launched, until a
// horizon has passed both. Launches come in any order within a sweep. With
// details.kernels; one thread at a time.
#pragma once

#include "report/parts/paths.h"

PPROF_BEGIN_C_

// What was launched, and when it ran.
typedef struct ppi_piece {
  uint64_t launch_ns, start_ns, end_ns;
} ppi_piece;

typedef struct ppi_device_call {
  uint32_t path;
  uint64_t start_ns, end_ns;   // of its range; end: 0 while it is open
  uint64_t until_ns;           // of a device range: when its submission ends
  uint32_t thread;             // the same
  bool has_any;                // that are counted
  uint64_t first_ns, last_ns;  // when those ran
  ppi_piece *pieces;           // that are not counted
  size_t num, capacity;
  size_t num_old;  // of them: of earlier sweeps, whose launches are counted
} ppi_device_call;

typedef struct ppi_device_call_key {
  uint32_t thread, path;
  uint64_t start_ns;
} ppi_device_call_key;

// All zero is the empty one. Numbers are those of items, + 1, and valid until
// settle.
typedef struct ppi_device_calls {
  ppi_map numbers;
  ppi_device_call *items;
  size_t num, capacity;
  size_t num_kept;  // the first ones are of earlier sweeps
} ppi_device_calls;

// ppi_device_calls_at answers the call's number in `out`, adding it; `end_ns`
// as of the call.
pprof_status ppi_device_calls_at(ppi_device_calls *calls,
                                 const ppi_device_call_key *key,
                                 uint64_t end_ns, uint32_t *out);
// ppi_device_calls_end says when the range was over, of a call that is known.
void ppi_device_calls_end(ppi_device_calls *calls,
                          const ppi_device_call_key *key, uint64_t end_ns);
pprof_status ppi_device_calls_take(ppi_device_calls *calls, uint32_t number,
                                   ppi_paths *paths, const ppi_point *point);
// ppi_device_calls_settle counts what began before the horizon: whatever is
// launched later begins later, too.
pprof_status ppi_device_calls_settle(ppi_device_calls *calls, ppi_paths *paths,
                                     uint64_t horizon_ns);
void ppi_device_calls_clear(ppi_device_calls *calls);

PPROF_END_C_
