// SPDX-License-Identifier: Apache-2.0
//
// Makes the rows of `top`: one for each stage of each process.
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
  uint64_t num_open, open_ns;  // since the oldest began
  const ppi_live_open *oldest;
  bool is_stuck;  // open for a second and ten times its longest call
};

struct ppi_top_choice {
  enum ppi_top_sort sort;
  const char *filter;  // a part of the wanted names; "": all
  uint64_t window_ns;
  uint64_t realtime_ns;  // now, by the wall clock
};

// Rows of stages with activity in the window or open ranges, stuck ones first;
// the caller frees them. NULL: none, or no memory.
struct ppi_top_row *ppi_top_rows(const struct ppi_live_processes *all,
                                 const struct ppi_top_choice *choice,
                                 size_t *out_num);

PPROF_END_C_
