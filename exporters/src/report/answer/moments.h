// SPDX-License-Identifier: Apache-2.0
//
// Every moment of a stretch of time has one owner: a walk over ranges in time
// order finds it. The walk has sites and devices by number alone.
#pragma once

#include "base/sort.h"
#include "report/figures/answer_rows.h"
#include "report/spans/union.h"

PPROF_BEGIN_C_

enum {
  PPI_ITEM_LOOSE = 1,    // outside its lane's nesting
  PPI_ITEM_WAITS = 2,    // its thread waits for others
  PPI_ITEM_NO_HOST = 4,  // its host side is another item's
  PPI_ITEM_BORROWS = 8,  // its device time is of the stage that submitted it
  PPI_ITEM_BESIDE = 16   // it works, but the unit's own thread comes first
};

// A host range, a device range, or both sides of one.
typedef struct ppi_item {
  uint64_t start_ns, end_ns;
  uint64_t device_start_ns, device_end_ns;  // 0: none
  uint32_t site, lane, depth, device;
  uint32_t stage, child;  // of one that borrows, once known; else 0
  uint32_t flags;
  bool is_copy;  // of a range in lanes.h
} ppi_item;

// ppi_item_compare orders items by begin, outer ones first. Ends decide only
// between equal ones.
int ppi_item_compare(const void *left, const void *right);
void ppi_items_sort(ppi_item *items, size_t num);

// Names of numbers; NULL: unknown.
typedef struct ppi_account_names {
  const void *ids;
  const char *(*site)(const void *ids, uint32_t site);
  const char *(*device)(const void *ids, uint32_t device);
  bool (*is_launch)(const void *ids, uint32_t site);  // a runtime's call
} ppi_account_names;

// ppi_item_submit sets the place of a borrowing item's device time. In place of
// the call that launched it, the item has its own name.
void ppi_item_submit(ppi_item *item, uint32_t stage, uint32_t child,
                     const ppi_account_names *names);

// A stretch that gets an account. With `is_frame`, stages are the outermost
// ranges that began in the unit; of several such units, in the latest one.
typedef struct ppi_moment_unit {
  uint64_t start_ns, end_ns;  // UINT64_MAX: still open
  bool is_frame, is_cut;
  uint32_t lane;
} ppi_moment_unit;

// Time or calls of one unit; empty moments are left out.
typedef struct ppi_moment {
  size_t unit;
  ppi_where where;
  uint32_t device;
  uint32_t stage, child;  // sites; child 0: none
  uint64_t ns, stage_calls, child_calls;
} ppi_moment;

// ppi_moment_on_device returns the place that gets the device time of `item`.
ppi_moment ppi_moment_on_device(const ppi_item *item);

// A stretch of the longest path, and the item that it is of.
typedef struct ppi_item_stretch {
  uint64_t start_ns, end_ns;
  uint32_t item;
} ppi_item_stretch;

// Meanwhile, ranges of other lanes do not count.
typedef struct ppi_lane_stretch {
  uint64_t start_ns, end_ns;
  uint32_t lane;
} ppi_lane_stretch;

typedef struct ppi_moments {
  ppi_item *items;  // in order; a walk sets stages of borrowing items
  size_t num_items;
  const ppi_moment_unit *units;
  size_t num_units;
  uint64_t from_ns, to_ns;    // calls that begin before count elsewhere
  const ppi_span_list *busy;  // by device, disjoint; NULL: no queues
  size_t num_devices;
  const ppi_account_names *names;  // NULL: no range is a launch
  const ppi_item_stretch *path;    // in order, from border to border
  size_t num_path;
  const ppi_lane_stretch *lanes;  // in order
  size_t num_lanes;
  bool (*on_moment)(void *context, const ppi_moment *moment);
  void *context;
} ppi_moments;

// The innermost open range of a lane, and how many are open.
typedef struct ppi_moment_lane {
  uint32_t top;  // + 1; 0: nothing
  uint32_t depth;
} ppi_moment_lane;

// Where an open host range lies. It owns `ns` that nobody knows yet.
typedef struct ppi_moment_place {
  uint64_t ns;
  uint32_t around;  // the range around it on its lane
  uint32_t level;   // below its stage, once that is known
  uint32_t stage, child;
  bool is_call;  // nobody knows yet
} ppi_moment_place;

typedef struct ppi_moment_borders {
  ppi_keyed *items;
  size_t num, capacity;
} ppi_moment_borders;

// Memory for walks, to be used again. All zero is the empty one.
typedef struct ppi_moment_room {
  ppi_moment_borders begins, ends;
  ppi_moment_place *places;  // by item
  uint32_t *indexes;
  ppi_moment_lane *tops;  // by lane
  size_t places_capacity, indexes_capacity, tops_capacity;
} ppi_moment_room;

// ppi_moments_walk reports the owner of each moment in [from_ns, to_ns); those
// of one owner may come as one. The device range that began first comes first,
// then the queue to a busy device. Then comes the host range on the path, then
// the latest of the lanes' innermost ones. In a stretch of one lane only that
// lane's and loose ranges count. A waiting range is the last choice.
bool ppi_moments_walk(ppi_moments *walk, ppi_moment_room *room);
void ppi_moment_room_clear(ppi_moment_room *room);

PPROF_END_C_
