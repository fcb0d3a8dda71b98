// SPDX-License-Identifier: Apache-2.0
//
// Where each thread's time goes.
#ifndef PPI_ANSWER_THREADS_H_
#define PPI_ANSWER_THREADS_H_

#include "report/report.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_thread {
  char name[80];  // "thread 4711", with its host and process if there are more
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

#ifdef __cplusplus
}
#endif

#endif  // PPI_ANSWER_THREADS_H_
