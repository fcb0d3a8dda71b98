// SPDX-License-Identifier: Apache-2.0
//
// The accounting identity of one device: in the windows, and in each step, wall
// = busy + the idle classes. Busy is what sides cover; a separate sweep finds
// the gaps, so that one checks the other.
#pragma once

#include "report/figures/figures.h"
#include "report/spans/union.h"

PPROF_BEGIN_C_

// The windows so far, in order; end_ns is UINT64_MAX while one is open.
typedef ppi_span_list ppi_windows;

uint64_t ppi_windows_overlap(const ppi_windows *windows, uint64_t start_ns,
                             uint64_t end_ns);

typedef struct ppi_device_side {
  uint64_t start_ns, end_ns, submit_ns, error_ns;
  bool is_kernel;
  // Its device time is unknown; start and end are its submission.
  bool is_untimed;
  bool continued;  // the rest of a range with a settled begin
} ppi_device_side;

// Of one device; a step that begins while so many are open is not checked.
enum { PPI_IDENTITY_MAX_OPEN = 256 };

// The time that sides cover; these come by their begin.
typedef struct ppi_covered {
  uint64_t ns, until_ns;
} ppi_covered;

typedef struct ppi_identity_step {
  uint64_t key;               // lane and depth
  uint64_t start_ns, end_ns;  // end: UINT64_MAX while the step is open
  uint64_t idle_ns;
  ppi_covered busy;
} ppi_identity_step;

typedef struct ppi_open_step {
  uint64_t key, start_ns;
} ppi_open_step;

typedef struct ppi_identity {
  ppi_device_side *sides;
  size_t num_sides, sides_capacity;
  ppi_identity_step *steps;
  size_t num_steps, steps_capacity;
  ppi_open_step *open;  // of steps
  size_t num_open, open_capacity;
  // In the windows, and in steps; [1]: kernels alone.
  ppi_covered busy[2], busy_in_steps[2];
  uint64_t idle_ns[PPI_NUM_IDLE];
  uint64_t first_calls_ns;  // of not submitted: before the first side
  uint64_t not_submitted_in_steps_ns;
  // Settled time of the open gap inside steps: by window, from `gap_first` on.
  uint64_t *gap_ns;
  size_t gap_first, gap_num, gap_capacity;
  uint64_t settled_ns;                  // sides before it are accounted for
  uint64_t cursor_ns, cursor_error_ns;  // where the busy part ends so far
  uint64_t steps_failed, steps_unchecked;
  bool has_course;  // asked for
  ppi_course course;
  uint64_t noted_ns;  // the course has busy time up to here
  // The first time at which untimed work may run, + 1; 0: there is none.
  uint64_t untimed_from_ns;
} ppi_identity;

bool ppi_identity_add(ppi_identity *identity, const ppi_device_side *side);
// ppi_identity_step_at adds a step; `end_ns` is UINT64_MAX while it is open. An
// open step is added again at its end, under the same key.
bool ppi_identity_step_at(ppi_identity *identity, uint64_t key,
                          uint64_t start_ns, uint64_t end_ns);
// ppi_identity_settle promises that no later side begins before `horizon_ns`.
// All steps and windows that begin before it are known. UINT64_MAX ends it.
// `in_steps` is the time of all steps, compacted, and settled where the device
// is.
bool ppi_identity_settle(ppi_identity *identity, const ppi_windows *windows,
                         const ppi_union *in_steps, uint64_t horizon_ns);
void ppi_identity_clear(ppi_identity *identity);

PPROF_END_C_
