// SPDX-License-Identifier: Apache-2.0
//
// Calls that launched kernels, copies and sets. A call stays until a horizon
// has passed it and its launches. Launches come in any order within a sweep.
// With details.kernels; one thread at a time.
#pragma once

#include "report/parts/ids.h"
#include "report/parts/paths.h"

PPROF_BEGIN_C_

// One kernel, copy or set: the times of its launch and its run.
typedef struct ppi_piece {
  uint64_t launch_ns, start_ns, end_ns;
  uint32_t next;  // of its call, + 1; 0: none
  bool is_old;    // of an earlier sweep, with a counted launch
} ppi_piece;

typedef struct ppi_pieces {
  ppi_piece *items;
  size_t num, capacity;
} ppi_pieces;

typedef struct ppi_device_call {
  uint32_t path;
  uint64_t start_ns, end_ns;   // of its range; end: 0 while it is open
  uint64_t until_ns;           // of a device range: the end of its submission
  uint32_t thread;             // of a device range
  bool has_any;                // any piece is counted
  uint64_t first_ns, last_ns;  // of the counted pieces
  uint32_t pieces;             // not counted yet: the last one, + 1
} ppi_device_call;

typedef struct ppi_device_call_key {
  uint32_t thread, path;
  uint64_t start_ns;
} ppi_device_call_key;

// All zero is the empty one. A number is an item's index + 1, valid until
// settle.
typedef struct ppi_device_calls {
  ppi_map numbers;
  ppi_device_call *items;
  size_t num, capacity;
  size_t num_kept;         // the first items, of earlier sweeps
  ppi_pieces pieces, one;  // of all calls; room for those of one
} ppi_device_calls;

// ppi_device_calls_at answers the call's number in `out`, and adds a missing
// call; `end_ns` is as in ppi_device_call.
bool ppi_device_calls_at(ppi_device_calls *calls,
                         const ppi_device_call_key *key, uint64_t end_ns,
                         uint32_t *out);
// ppi_device_calls_end sets the end of the range, if the call is known.
void ppi_device_calls_end(ppi_device_calls *calls,
                          const ppi_device_call_key *key, uint64_t end_ns);
bool ppi_device_calls_take(ppi_device_calls *calls, uint32_t number,
                           ppi_paths *paths, const ppi_point *point);
// ppi_device_calls_settle counts pieces that began before the horizon: pieces
// launched later also begin later.
bool ppi_device_calls_settle(ppi_device_calls *calls, ppi_paths *paths,
                             uint64_t horizon_ns);
void ppi_device_calls_clear(ppi_device_calls *calls);

// ---- ranges in which kernels of graphs were captured ----

typedef struct ppi_capture {
  uint32_t *sites;  // the outermost first
  size_t num, capacity;
} ppi_capture;

// All zero is the empty one.
typedef struct ppi_captures {
  ppi_map ids;  // of attributes
  ppi_capture *items;
  size_t num, capacity;
} ppi_captures;

// ppi_captures_define takes attributes that may name ranges, which are defined
// by then; other names are left out.
bool ppi_captures_define(ppi_captures *captures, const ppi_run_ids *ids,
                         uint32_t id, const char *text);
// ppi_captures_at answers the number of an item of these attributes, + 1; 0:
// there is none.
uint32_t ppi_captures_at(const ppi_captures *captures, uint32_t attributes);
void ppi_captures_clear(ppi_captures *captures);

PPROF_END_C_
