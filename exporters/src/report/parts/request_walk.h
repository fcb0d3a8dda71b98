// SPDX-License-Identifier: Apache-2.0
//
// One request from begin to end: the part that has each moment, and the longest
// path.
#pragma once

#include "report/spans/union.h"

PPROF_BEGIN_C_

// A range that serves a request. Device times are 0 without device work.
typedef struct ppi_request_part {
  uint64_t flow;  // 0: of no request; it may delay others on a device
  uint64_t start_ns, end_ns, device_start_ns, device_end_ns;
  uint32_t site, lane, stream, device, window;
  bool is_async;
  bool is_paired;  // its host side is another part
  bool is_cut;     // clipped, abandoned, late or lost on its device
  bool is_whole;   // the request itself, not a part of its work
  bool waits;      // its thread waits for others
} ppi_request_part;

// The times of one part in its request; the caller adds them up by stage.
typedef struct ppi_part_times {
  uint64_t own_ns;        // moments of the request that this part has
  uint64_t contended_ns;  // the same, on a device that also served others
  uint64_t hop_ns;        // idle time just before it began
  uint64_t critical_ns;   // on the longest path
} ppi_part_times;

// A stretch of the longest path.
typedef struct ppi_path_piece {
  uint64_t start_ns, end_ns;
  uint32_t part;
} ppi_path_piece;

typedef struct ppi_request_path {
  ppi_path_piece *items;  // in order
  size_t num, capacity;
} ppi_request_path;

// Time that may be on the longest path, of one part.
typedef struct ppi_link {
  uint64_t start_ns, end_ns;
  uint64_t best_ns;  // of a path that ends here or before
  uint32_t part;
  uint32_t before;  // the links that end before it
  bool taken;       // the best path to here ends here
} ppi_link;

// Where a part lies on its thread. Its stage is the outermost part around it.
typedef struct ppi_part_place {
  uint32_t around, outermost;  // parts; around: UINT32_MAX: none
  uint32_t stage, child;       // sites; child: just inside the stage; 0: none
  uint32_t level;              // 0: outermost
  bool is_on_path;             // of an outermost part
} ppi_part_place;

typedef struct ppi_walk {
  const ppi_request_part *parts;  // of one request
  size_t num;
  uint64_t start_ns, end_ns;       // of the request
  const ppi_span_list *contended;  // by device; NULL: none anywhere
  size_t num_devices;
  ppi_part_times *times;  // one for each part, all zero
  uint64_t queue_ns, hop_ns;
  ppi_request_path *path;        // gets the longest path; NULL: not wanted
  const ppi_part_place *places;  // by part; NULL: not known
} ppi_walk;

// ppi_walk_request gives each moment of a request to the first of these: device
// work (the part that began first), the wait for a device, the host part on
// `path`, the one that began last, nothing. The request's own range gets no
// moment. The sum of own, contended, queue and hop times is the request's time.
bool ppi_walk_request(ppi_walk *walk);
// ppi_walk_critical finds the longest path: the chain of links with the most
// time. A link begins after the link before it has ended. A link is an
// outermost range of a thread or stream with its inner ranges, without the time
// in which a device works for the request. Each moment of a link belongs to its
// innermost range. Ranges on no row (cross-thread ones, the request's own) are
// links while no other part runs within them.
bool ppi_walk_critical(ppi_walk *walk);
// ppi_links_choose sorts links, and keeps those of the path with the most time.
size_t ppi_links_choose(ppi_link *items, size_t num);
// ppi_request_part_order compares for qsort by flow and start, outer parts
// before inner ones: the order of a walk.
int ppi_request_part_order(const void *left, const void *right);

PPROF_END_C_
