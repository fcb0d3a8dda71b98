// SPDX-License-Identifier: Apache-2.0
//
// One request from its beginning to its end: what it was doing at every moment,
// and the longest path through it.
#pragma once

#include "report/spans/union.h"

PPROF_BEGIN_C_

// A range that serves a request. Times of the device are 0 where there are
// none.
typedef struct ppi_request_part {
  uint64_t flow;  // 0: nobody's; on a device it is in the way of others
  uint64_t start_ns, end_ns, device_start_ns, device_end_ns;
  uint32_t site, lane, stream, device, window;
  bool is_async;
  bool is_paired;  // its host side is another part
  bool is_cut;     // clipped, abandoned, late or lost on its device
  bool is_whole;   // is the request itself, not something that it does
} ppi_request_part;

typedef struct ppi_spans {
  ppi_span *items;  // disjoint, in order
  size_t num, capacity;
} ppi_spans;

// What became of a part's stage in its request, added up by whoever calls.
typedef struct ppi_part_times {
  uint64_t own_ns;        // this part was what the request was doing
  uint64_t contended_ns;  // the same, on a device that served others, too
  uint64_t hop_ns;        // nothing went on before it began
  uint64_t critical_ns;   // on the longest path
} ppi_part_times;

// A stretch of the longest path.
typedef struct ppi_path_piece {
  uint64_t start_ns, end_ns;
  uint32_t part;
} ppi_path_piece;

typedef struct ppi_path {
  ppi_path_piece *items;  // in no order
  size_t num, capacity;
} ppi_path;

typedef struct ppi_walk {
  const ppi_request_part *parts;  // of one request
  size_t num;
  uint64_t start_ns, end_ns;   // of the request
  const ppi_spans *contended;  // by device; NULL: none anywhere
  size_t num_devices;
  ppi_part_times *times;  // one for each part, all zero
  uint64_t queue_ns, hop_ns;
  ppi_path *path;  // where the longest path is told, too; NULL: nowhere
} ppi_walk;

// ppi_walk_request tells of every moment of a request what it was doing: its
// work on a device (the part that began first), else waiting for a device, else
// what began last on the host, else nothing; the request's own range is nothing
// that it does. The sum of own, contended, queue and hop times is the request's
// time.
pprof_status ppi_walk_request(ppi_walk *walk);
// ppi_walk_critical finds the longest path: of all chains of links that begin
// when the one before has ended, the one with the most time in it. A link is an
// outermost range of a thread or stream with all that is in it, less what a
// device does for the request meanwhile; each moment of it is that of the
// innermost range. Ranges on no row (cross-thread ones, the request's own) are
// links while nothing happens within them.
pprof_status ppi_walk_critical(ppi_walk *walk);
// ppi_request_part_order is qsort's, by flow and start, outer parts before
// those in them: as a walk takes them.
int ppi_request_part_order(const void *left, const void *right);

PPROF_END_C_
