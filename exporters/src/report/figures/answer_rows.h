// SPDX-License-Identifier: Apache-2.0
//
// The time of requests, of steps or of a run, by stage and place. The rows add
// up to the time of all units, to the nanosecond.
#pragma once

#include "report/figures/histogram.h"

PPROF_BEGIN_C_

// The units of a run. A run counts with the greatest base that it has.
typedef enum ppi_base_kind {
  PPI_BASE_WALL = 0,   // the recorded windows as one
  PPI_BASE_ITERATION,  // iterations of a loop that the report found
  PPI_BASE_STEP,
  PPI_BASE_REQUEST,
  PPI_NUM_BASES
} ppi_base_kind;

// The place of a moment of a unit; the first one that applies counts.
typedef enum ppi_where {
  PPI_WHERE_DEVICE = 0,  // a device works for the unit
  PPI_WHERE_QUEUE,       // work is submitted to a device that serves others
  PPI_WHERE_HOST,        // a thread works for the unit
  PPI_WHERE_WAITING,     // threads wait for others; nothing works for it
  PPI_WHERE_BETWEEN,     // none of these
  // The same for requests, by the cause of the wait; `name` is the stage.
  PPI_WHERE_LINE,       // the stage's servers are taken
  PPI_WHERE_HELD,       // behind a stage that cannot pass on its output
  PPI_WHERE_BATCH,      // the stage's batch fills
  PPI_WHERE_IDLE,       // the stage's server is free; no work is recorded
  PPI_WHERE_HAND_OVER,  // from thread to thread; no stage
  PPI_WHERE_PAUSED,     // everything stands still; no stage
  PPI_NUM_WHERES
} ppi_where;

// Rows without a child add up. A row with a child is part of the row without
// one of the same stage and place.
typedef struct ppi_answer_row {
  char *name;    // of the stage; "": none
  char *child;   // a range directly inside; "": the stage itself
  char *device;  // "": none
  ppi_where where;
  uint64_t total_ns, calls;
  uint64_t num_units, max_ns;  // units with time in this row; the most of one
  ppi_histogram times;         // of those units
  uint64_t unit_ns;            // of the current unit, while rows are added
} ppi_answer_row;

typedef struct ppi_answer {
  ppi_answer_row *rows;  // sorted: by name, where, device, child
  size_t num_rows, capacity;
  uint32_t *slots;  // while rows are added: a row's number + 1; 0: free
  size_t num_slots;
  uint64_t num_runs;
  // The units of `rows` and their times. span_ns sums up over runs the time
  // from the first unit's begin to the last unit's end.
  uint64_t num_units, total_ns, span_ns;
  uint64_t num_all;  // units, with those that thinning left out
  // `rows` lacks cold units, cut units and two times of windows. before_ns ends
  // at the first unit, or at a run's first stage. after_ns begins when a run's
  // last stage ends.
  uint64_t num_cold, cold_ns, num_cut, before_ns, after_ns;
  uint64_t max_ns;      // of the units of `rows`
  ppi_histogram times;  // of them
} ppi_answer;

// ppi_answer_row_of adds a missing row, out of order; NULL: no memory. The row
// is valid until the next call.
ppi_answer_row *ppi_answer_row_of(ppi_answer *answer,
                                  const ppi_answer_row *key);
// ppi_answer_sort must follow the last ppi_answer_row_of.
void ppi_answer_sort(ppi_answer *answer);
// ppi_answer_row_find finds a row of a sorted answer; NULL: none.
const ppi_answer_row *ppi_answer_row_find(const ppi_answer *answer,
                                          const ppi_answer_row *key);
// ppi_answer_drop_row keeps the order of the other rows.
void ppi_answer_drop_row(ppi_answer *answer, size_t at);
// ppi_answer_quantile answers the nearest-rank quantile over all units; a unit
// without time in the row counts as 0.
uint64_t ppi_answer_quantile(const ppi_answer *answer,
                             const ppi_answer_row *row, unsigned percent);
// ppi_answer_merge leaves `into` sorted.
bool ppi_answer_merge(ppi_answer *into, const ppi_answer *from);
void ppi_answer_clear(ppi_answer *answer);
void ppi_answer_carry(ppi_carry *carry, ppi_answer *answer);

PPROF_END_C_
