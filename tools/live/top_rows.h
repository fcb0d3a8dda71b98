// SPDX-License-Identifier: Apache-2.0
//
// What `top` shows: a row for each stage of each process.
#pragma once

#include "live/live_process.h"
#include "pprof/base.h"

PPROF_BEGIN_C_

enum ppi_top_sort {
  PPI_TOP_BY_TIME,
  PPI_TOP_BY_RATE,
  PPI_TOP_BY_P50,
  PPI_TOP_BY_P99,
  PPI_TOP_BY_NAME,
  PPI_TOP_NUM_SORTS
};
extern const char *const ppi_top_sort_names[PPI_TOP_NUM_SORTS];

struct ppi_top_row {
  const struct ppi_live_process *process;
  const ppi_live_row *row;
  ppi_live_change change;      // in the window
  double rate, busy;           // a second; of one core, or of the stream
  uint64_t num_open, open_ns;  // the oldest, since
  const ppi_live_open *oldest;
  bool is_stuck;  // open for a second and ten times its longest call
};

struct ppi_top_choice {
  enum ppi_top_sort sort;
  const char *filter;  // names that hold it; "": all
  uint64_t window_ns;
  uint64_t realtime_ns;  // now, by the wall clock
};

// Rows of all processes that did something in the window or have something
// open, what is stuck first; the caller's to free. NULL: none, or no memory.
struct ppi_top_row *ppi_top_rows(const struct ppi_live_processes *all,
                                 const struct ppi_top_choice *choice,
                                 size_t *out_num);

PPROF_END_C_
