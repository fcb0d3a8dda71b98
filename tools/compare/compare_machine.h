// SPDX-License-Identifier: Apache-2.0
//
// The machine under two inputs of `compare`: clocks, quotas and neighbours as
// the counters of category Machine have them. One thread.
#pragma once

#include "event/event.h"
#include "file/text.h"

PPROF_BEGIN_C_

enum { PPI_COMPARE_DEVICES = 16 };

// A level over time, or a sum that grows.
typedef struct ppi_compare_level {
  bool has_last;
  uint64_t last_ns;
  double last;
  double sum, ns;  // of level * time, or the growth; and the time
} ppi_compare_level;

// All zero is the empty one.
typedef struct ppi_compare_machine {
  ppi_compare_level clocks[PPI_COMPARE_DEVICES];  // MHz
  ppi_compare_level throttled, others;            // us of the time
} ppi_compare_machine;

// ppi_compare_machine_begin starts another run.
void ppi_compare_machine_begin(ppi_compare_machine *machine);
void ppi_compare_machine_take(ppi_compare_machine *machine, const char *name,
                              const pprof_event *event);
// ppi_compare_clock is the devices' mean SM clock in MHz; 0: not known.
double ppi_compare_clock(const ppi_compare_machine *machine);
// ppi_compare_clock_differs writes the difference of `b`, as in "9 % lower
// clocks". False: a clock is unknown, or they differ by less than 3 %.
bool ppi_compare_clock_differs(const ppi_compare_machine *a,
                               const ppi_compare_machine *b, char *to,
                               size_t size);
// ppi_compare_machine_note appends a line for clocks, quota and neighbours of
// `b` that differ from those of `a`.
void ppi_compare_machine_note(const ppi_compare_machine *a,
                              const ppi_compare_machine *b, const char *b_name,
                              ppi_page *notes);

PPROF_END_C_
