// SPDX-License-Identifier: Apache-2.0
//
// Where each thread's time goes.
#pragma once

#include "report/report.h"

PPROF_BEGIN_C_

typedef struct ppi_thread {
  // "thread worker", with its host and process if there are more, and with its
  // number if others are called so; "thread 4711" of one without a name.
  char name[120];
  uint64_t number;
  ppi_answer answer;
} ppi_thread;

typedef struct ppi_threads {
  ppi_thread *items;
  size_t num;
} ppi_threads;

// ppi_threads_of has of each thread the stages by what they did themselves,
// without those inside, and the rest of its process's windows. Ranges that
// cross threads are in none. `figures` must have details.by_thread.
pprof_status ppi_threads_of(const ppi_figures *figures, ppi_threads *out);
void ppi_threads_clear(ppi_threads *threads);

PPROF_END_C_
