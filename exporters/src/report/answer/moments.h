// SPDX-License-Identifier: Apache-2.0
//
// Every moment of a stretch of time belongs to one thing: a walk over ranges in
// the order of time says to which. It knows sites and devices by number alone.
#pragma once

#include "base/sort.h"
#include "report/figures/answer_rows.h"

PPROF_BEGIN_C_

enum {
  PPI_ITEM_LOOSE = 1,    // lies in no other range of its lane, nor they in it
  PPI_ITEM_WAITS = 2,    // its thread waits for others
  PPI_ITEM_NO_HOST = 4,  // its host side is another item's
  PPI_ITEM_BORROWS = 8   // on the device, under the stage that submitted it
};

// A host range, a device range, or both sides of one.
typedef struct ppi_item {
  uint64_t start_ns, end_ns;
  uint64_t device_start_ns, device_end_ns;  // 0: none
  uint32_t site, lane, depth, device;
  uint32_t stage, child;  // of one that borrows, once that is known; else 0
  uint32_t flags;
  bool is_copy;  // of what lanes.h holds
} ppi_item;

// ppi_item_compare orders items by begin, outer ones before those in them. Only
// of equal ones the ends decide.
int ppi_item_compare(const void *left, const void *right);
void ppi_items_sort(ppi_item *items, size_t num);

typedef struct ppi_stretch {
  uint64_t start_ns, end_ns;
} ppi_stretch;

// Disjoint, in order.
typedef struct ppi_stretches {
  ppi_stretch *items;
  size_t num, capacity;
} ppi_stretches;

// What is accounted for. Where `is_frame`, stages are the outermost ranges that
// began in it; of several such units in that which began last.
typedef struct ppi_moment_unit {
  uint64_t start_ns, end_ns;  // UINT64_MAX: still open
  bool is_frame;
} ppi_moment_unit;

// Time or calls of one unit; nothing is told of moments in which nothing is.
typedef struct ppi_moment {
  size_t unit;
  ppi_where where;
  uint32_t device;
  uint32_t stage, child;  // sites; child 0: none
  uint64_t ns, stage_calls, child_calls;
} ppi_moment;

// ppi_moment_on_device answers whose the time is that `item` has on its device.
ppi_moment ppi_moment_on_device(const ppi_item *item);

typedef struct ppi_moments {
  ppi_item *items;  // in order; those that borrow get to know from whom
  size_t num_items;
  const ppi_moment_unit *units;
  size_t num_units;
  uint64_t from_ns, to_ns;    // what begins before counts as a call elsewhere
  const ppi_stretches *busy;  // by device; NULL: nobody queues
  size_t num_devices;
  pprof_status (*on_moment)(void *context, const ppi_moment *moment);
  void *context;
} ppi_moments;

// What is open on a lane.
typedef struct ppi_moment_lane {
  uint32_t top;  // + 1; 0: nothing
  uint32_t depth;
} ppi_moment_lane;

// Memory for walks, to be used again. All zero is the empty one.
typedef struct ppi_moment_room {
  ppi_keyed *borders;
  uint32_t *indexes;
  ppi_moment_lane *tops;  // by lane
  size_t borders_capacity, indexes_capacity, tops_capacity;
} ppi_moment_room;

// ppi_moments_walk tells of [from_ns, to_ns): a moment is that of the device
// range that began first; else of the queue to a device that is busy; else of
// the range that began last on the host and is the innermost of its lane, those
// that wait after all others; else of nothing.
pprof_status ppi_moments_walk(ppi_moments *walk, ppi_moment_room *room);
void ppi_moment_room_clear(ppi_moment_room *room);

// ppi_stretches_unite makes unordered stretches disjoint, in order.
void ppi_stretches_unite(ppi_stretches *stretches);
pprof_status ppi_stretches_add(ppi_stretches *stretches, uint64_t start_ns,
                               uint64_t end_ns);

PPROF_END_C_
