// SPDX-License-Identifier: Apache-2.0
//
// Rows of a Chrome trace. Viewers drop slices that overlap partly on one row.
// Each slice is therefore put on the first row of its group where it nests or
// is separate. Private to the Chrome writer; one thread.
//
// Slices come in order of their ends (a parent after its children). A row
// therefore keeps its roots: the slices not inside another, sorted and
// disjoint.
//
//   row 0   [-- root --]  [root] [------ root ------]
//             ^ slices inside a root are dropped
#pragma once

#include "file/digits.h"
#include "pprof/event.h"

PPROF_BEGIN_C_

// More roots than this are thinned out. Neighbours of one depth become one, as
// nothing can begin between siblings any more. If that is not enough, the older
// half is closed to slices that begin before its end.
#define PPI_CHROME_MAX_ROOTS 1024

// A slice that fits on none of so many rows gets a new one.
#define PPI_CHROME_ROWS_TRIED 1024

typedef struct ppi_chrome_root {
  uint64_t start_ns, end_ns;
  uint32_t depth;
} ppi_chrome_root;

// Three numbers of ten digits and the words between them take 62.
#define PPI_CHROME_PLACE_LEN 64

typedef struct ppi_chrome_track {
  uint32_t tid;
  // The JSON of the row's place, in this process and window; length 0: not made
  // yet.
  uint32_t place_pid, place_window, place_len;
  char place[PPI_CHROME_PLACE_LEN + PPI_DIGITS_MOST];
  uint64_t floor_ns;  // nothing may begin before it
  ppi_chrome_root *roots;
  size_t num_roots, capacity;
} ppi_chrome_track;

// The contents of a slice, kept by value until it is placed.
typedef struct ppi_chrome_slice {
  uint64_t start_ns, end_ns;  // of the side shown
  uint64_t queue_ns, device_error_ns;
  // For the submission of a timed device range: its device side.
  uint64_t device_start_ns, device_end_ns;
  const uint64_t *flows;
  size_t num_flows;
  const pprof_cpu_use *cpu;      // NULL: none
  const pprof_numbers *numbers;  // NULL: none
  uint32_t woken_by;             // of a wait: an OS thread; 0: unknown
  pprof_work_amount work;        // size 0: none
  uint64_t step;
  uint32_t site, flags, window, depth;
  uint32_t stream;      // of a submission
  uint32_t lane;        // of has_arrow
  uint32_t attributes;  // of a device side: how it was launched; 0: not known
  bool is_step, has_queue, has_device_error, is_timed, is_async, is_submission;
  bool has_arrow;  // from the range that launched it
} ppi_chrome_slice;

typedef enum ppi_chrome_kind {
  PPI_CHROME_THREAD = 0,  // by lane: what nests on its thread
  PPI_CHROME_SUBMIT,      // by lane: host sides of device ranges
  PPI_CHROME_ASYNC,       // by lane: ranges that wander
  PPI_CHROME_STREAM,      // by stream: device sides
  PPI_CHROME_NUM_KINDS
} ppi_chrome_kind;

typedef struct ppi_chrome_buffered {
  ppi_chrome_slice slice;
  uint64_t end_ns;  // of the slice and of what is inside it
  uint64_t order;   // of arrival
} ppi_chrome_buffered;

typedef struct ppi_chrome_group {
  ppi_chrome_kind kind;
  uint32_t id;
  uint64_t horizon_ns;  // buffered slices that end by then may be placed
  ppi_chrome_track *tracks;
  size_t num_tracks, tracks_capacity;
  ppi_chrome_buffered *buffered;
  size_t num_buffered, buffered_capacity;
} ppi_chrome_group;

// ppi_chrome_group_place finds a row for [slice->start_ns, slice->end_ns) and
// takes the room there. A new row has tid 0, to be filled in by the caller.
// Answers NULL when out of memory.
ppi_chrome_track *ppi_chrome_group_place(ppi_chrome_group *group,
                                         const ppi_chrome_slice *slice);
// ppi_chrome_group_row makes sure that there is a first row.
ppi_chrome_track *ppi_chrome_group_row(ppi_chrome_group *group);
// ppi_chrome_group_hold copies `slice` with its flows and CPU use.
pprof_status ppi_chrome_group_hold(ppi_chrome_group *group,
                                   const ppi_chrome_slice *slice,
                                   uint64_t order);
// ppi_chrome_group_holds: is a slice of this site buffered?
bool ppi_chrome_group_holds(const ppi_chrome_group *group, uint32_t site);
// ppi_chrome_group_sort moves the buffered slices that end by the horizon to
// the front, in the order of their placing. It answers their number.
size_t ppi_chrome_group_sort(ppi_chrome_group *group);
// ppi_chrome_group_drop forgets the first `num` buffered ones.
void ppi_chrome_group_drop(ppi_chrome_group *group, size_t num);
void ppi_chrome_group_clear(ppi_chrome_group *group);

PPROF_END_C_
