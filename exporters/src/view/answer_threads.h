// SPDX-License-Identifier: Apache-2.0
//
// Where each thread's time goes.
#pragma once

#include "report/report.h"

PPROF_BEGIN_C_

typedef struct ppi_thread {
  // "thread worker", with host and process if there are several, and its number
  // if the name is not unique. "thread 4711" without a name.
  char name[120];
  uint64_t number;
  ppi_answer answer;
} ppi_thread;

typedef struct ppi_threads {
  ppi_thread *items;
  size_t num;
} ppi_threads;

// ppi_threads_of gives each thread's stages by self time, and the rest of its
// process's windows. Cross-thread ranges count for no thread. `figures` must
// have details.by_thread.
pprof_status ppi_threads_of(const ppi_figures *figures, ppi_threads *out);
void ppi_threads_clear(ppi_threads *threads);

PPROF_END_C_
