// SPDX-License-Identifier: Apache-2.0
//
// Details that a report has on demand: names by thread, parts of operators.
#pragma once

#include "report/parts/ids.h"

PPROF_BEGIN_C_

typedef struct ppi_run_thread_row {
  ppi_run_thread *thread;
  uint32_t site;
  ppi_run_row row;
} ppi_run_thread_row;

typedef struct ppi_run_part {
  ppi_run_thread *thread;      // NULL unless by thread
  uint32_t op, child, launch;  // sites; 0: none
  ppi_spread host;
  ppi_device_spreads device;
} ppi_run_part;

// All zero is the empty one.
typedef struct ppi_details {
  bool by_thread;
  ppi_map thread_row_numbers, part_numbers;
  ppi_run_thread_row *thread_rows;
  size_t num_thread_rows, thread_rows_capacity;
  ppi_run_part *parts;
  size_t num_parts, parts_capacity;
} ppi_details;

// Each answers a row or part, valid until the next call. A part has a `thread`
// only if `by_thread` is set.
ppi_run_row *ppi_run_thread_row_of(ppi_details *details, ppi_run_thread *thread,
                                   uint32_t site);
ppi_run_part *ppi_run_part_of(ppi_details *details, ppi_run_thread *thread,
                              const ppi_run_part *key);
// ppi_run_sum_details adds the rows and parts of swept threads to those of
// `left`.
bool ppi_run_sum_details(ppi_details *details, ppi_run_thread *left);
bool ppi_run_fill_details(ppi_details *details, ppi_run_ids *ids,
                          ppi_figures *out);
void ppi_run_clear_details(ppi_details *details);

PPROF_END_C_
