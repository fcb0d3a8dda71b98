// SPDX-License-Identifier: Apache-2.0
//
// Where the time of requests, of steps or of a run goes, by stage and place:
// rows whose times add up to the time of all units, to the nanosecond.
#pragma once

#include "report/figures/histogram.h"

PPROF_BEGIN_C_

// What a run is made of. Of a run the greatest that it has counts.
typedef enum ppi_base_kind {
  PPI_BASE_WALL = 0,   // the recorded windows as one
  PPI_BASE_ITERATION,  // turns of a loop that was found
  PPI_BASE_STEP,
  PPI_BASE_REQUEST,
  PPI_NUM_BASES
} ppi_base_kind;

// Where a moment was spent; the first one that applies has it.
typedef enum ppi_where {
  PPI_WHERE_DEVICE = 0,  // a device works for the unit
  PPI_WHERE_QUEUE,       // work is submitted to a device that serves others
  PPI_WHERE_HOST,        // a thread works for it
  PPI_WHERE_WAITING,     // threads wait for others, and nothing works for it
  PPI_WHERE_BETWEEN,     // none of these
  // The same of requests, divided by what they wait for; `name` is the stage.
  PPI_WHERE_LINE,       // its servers are taken
  PPI_WHERE_HELD,       // behind a stage that cannot hand on its output
  PPI_WHERE_BATCH,      // its batch fills
  PPI_WHERE_IDLE,       // its server is free, and nothing is recorded
  PPI_WHERE_HAND_OVER,  // from thread to thread; no stage
  PPI_WHERE_PAUSED,     // everything stands still; no stage
  PPI_NUM_WHERES
} ppi_where;

// Rows without a child add up; those with one are a part of the row of the same
// stage and place without.
typedef struct ppi_answer_row {
  char *name;    // of the stage; "": of none
  char *child;   // directly inside that stage; "": the stage itself
  char *device;  // "": on none
  ppi_where where;
  uint64_t total_ns, calls;
  uint64_t num_units, max_ns;  // those that have any of it; the most of one
  ppi_histogram times;         // of those
  uint64_t unit_ns;            // of the unit that is being added
} ppi_answer_row;

typedef struct ppi_answer {
  ppi_answer_row *rows;  // sorted: by name, where, device, child
  size_t num_rows, capacity;
  uint32_t *slots;  // while rows are added: a row's number + 1; 0: free
  size_t num_slots;
  uint64_t num_runs;
  // The units of `rows`; their times; from the first one's begin to the last
  // one's end, added up over runs.
  uint64_t num_units, total_ns, max_ns, span_ns;
  uint64_t num_all;  // with those that were thinned out
  ppi_histogram times;
  // Not in `rows`: the cold ones and their times, those that were cut, and the
  // time of windows before the first unit, or stage of a run, and after the
  // last stage of a run.
  uint64_t num_cold, cold_ns, num_cut, before_ns, after_ns;
} ppi_answer;

// ppi_answer_row_of adds what is missing, out of order; NULL when out of
// memory. What it answers holds until the next call.
ppi_answer_row *ppi_answer_row_of(ppi_answer *answer,
                                  const ppi_answer_row *key);
// ppi_answer_sort has to follow the last of them.
void ppi_answer_sort(ppi_answer *answer);
// ppi_answer_row_find: NULL where there is none. Of a sorted answer.
const ppi_answer_row *ppi_answer_row_find(const ppi_answer *answer,
                                          const ppi_answer_row *key);
// ppi_answer_drop_row leaves the others in order.
void ppi_answer_drop_row(ppi_answer *answer, size_t at);
// ppi_answer_quantile is that of nearest rank over all units: those that have
// nothing of the row count as 0.
uint64_t ppi_answer_quantile(const ppi_answer *answer,
                             const ppi_answer_row *row, unsigned percent);
// ppi_answer_merge leaves `into` sorted.
pprof_status ppi_answer_merge(ppi_answer *into, const ppi_answer *from);
void ppi_answer_clear(ppi_answer *answer);

PPROF_END_C_
