// SPDX-License-Identifier: Apache-2.0
//
// Points of one OS thread's time, and the device time submitted between two of
// them. Points come in any order. Points that later ranges may contain are kept
// as a few sums. One thread at a time.
#pragma once

#include "pprof/mark.h"
#include "report/figures/histogram.h"

PPROF_BEGIN_C_

typedef enum ppi_device_class {
  PPI_DEVICE_OTHER = 0,
  PPI_DEVICE_KERNEL,
  PPI_DEVICE_COPY,    // Memcpy and Memset
  PPI_DEVICE_PAIRED,  // without inner paired ranges; modulo 2^64
  PPI_NUM_DEVICE_CLASSES
} ppi_device_class;

// The class of unpaired device ranges of a category.
static inline ppi_device_class ppi_device_class_of(uint32_t category) {
  if (category == PPROF_CATEGORY_KERNEL) return PPI_DEVICE_KERNEL;
  bool is_copy =
      category == PPROF_CATEGORY_MEMCPY || category == PPROF_CATEGORY_MEMSET;
  return is_copy ? PPI_DEVICE_COPY : PPI_DEVICE_OTHER;
}

typedef struct ppi_device_sums {
  uint64_t ns[PPI_NUM_DEVICE_CLASSES];
} ppi_device_sums;

// Which device ranges count depends on kernels in the run, known only at its
// end. Each choice therefore has its own spread.
typedef struct ppi_device_spreads {
  ppi_spread all, unpaired;
  ppi_spread kernels, general;  // general: kernels and copies
} ppi_device_spreads;

void ppi_device_sums_add(ppi_device_sums *into, const ppi_device_sums *from);
// `is_cut`: the sums are of a range that was cut.
void ppi_device_spreads_add(ppi_device_spreads *spreads,
                            const ppi_device_sums *sums, bool is_cut);
// ppi_device_spreads_complete adds zeros, up to as many values as `host` has.
void ppi_device_spreads_complete(ppi_device_spreads *spreads,
                                 const ppi_spread *host);

typedef enum ppi_point_kind {
  PPI_POINT_SUBMIT = 0,  // of a device range that has a time
  PPI_POINT_UNTIMED,     // of one that has none; with details.paths
  PPI_POINT_MEMORY       // a change of the memory in use
} ppi_point_kind;

typedef struct ppi_point {
  uint64_t time_ns;
  uint64_t value;            // device time; bytes, as int64_t
  uint64_t device_start_ns;  // of a submit
  uint64_t bytes;            // of a copy; else the end of the submission
  uint32_t site;
  uint32_t kind : 2;          // a ppi_point_kind
  uint32_t device_class : 3;  // a ppi_device_class
  uint32_t is_reserved : 1;   // memory
  uint32_t is_graph : 1;      // a submit: by a graph's launch
  uint32_t is_by_wait : 1;    // a submit: in a range that waited for it
  uint32_t is_inside : 1;     // a submit: with open ranges around it
  uint32_t device : 23;       // a submit: its device
  uint32_t captured;          // a submit: number in ppi_captures + 1; 0: none
} ppi_point;

typedef struct ppi_submit {
  uint64_t time_ns;
  ppi_device_sums sums;
} ppi_submit;

// Begins of ranges that go on beyond the horizon.
typedef struct ppi_borders {
  uint64_t *times_ns;
  size_t num, capacity;
} ppi_borders;

bool ppi_borders_add(ppi_borders *borders, uint64_t time_ns);
void ppi_borders_sort(ppi_borders *borders);

// All zero is the empty one.
typedef struct ppi_scopes {
  ppi_point *points;
  size_t num_points, points_capacity;
  ppi_submit *carried;  // of earlier horizons, by time
  size_t num_carried, carried_capacity;
  // From prepare to carry:
  size_t num_settled;       // of points, by time
  uint64_t *times_ns;       // of submits, in order
  ppi_device_sums *before;  // sums before each submit, and of all
  size_t num_before;
  size_t last;  // position of the latest end
  ppi_borders borders;
} ppi_scopes;

bool ppi_scopes_add(ppi_scopes *scopes, const ppi_point *point);

// ppi_scopes_prepare promises that all points before `horizon_ns` are known,
// for the calls up to ppi_scopes_carry.
bool ppi_scopes_prepare(ppi_scopes *scopes, uint64_t horizon_ns);

// ppi_scopes_inside adds the device time submitted in [start, end) to `out`;
// false: none. The end is not beyond the horizon; falling ends are fast.
bool ppi_scopes_inside(ppi_scopes *scopes, uint64_t start_ns, uint64_t end_ns,
                       ppi_device_sums *out);

// ppi_scopes_border adds the start of a range that a later sweep settles.
bool ppi_scopes_border(ppi_scopes *scopes, uint64_t time_ns);

// ppi_scopes_carry replaces points before the horizon by sums between borders.
// Borders are the thread's own and the sorted ones that all threads share.
bool ppi_scopes_carry(ppi_scopes *scopes, const ppi_borders *shared);
void ppi_scopes_clear(ppi_scopes *scopes);

PPROF_END_C_
