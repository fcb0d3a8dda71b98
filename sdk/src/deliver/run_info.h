// SPDX-License-Identifier: Apache-2.0
//
// Texts about a run (host, pid, clock, machine) and about what went wrong.
#ifndef PPI_RUN_INFO_H_
#define PPI_RUN_INFO_H_

#include "names/names.h"
#include "spool/spool.h"

#ifdef __cplusplus
extern "C" {
#endif

// A growing list of key and value, both owned.
typedef struct ppi_texts {
  ppi_text *items;
  size_t num, capacity;
} ppi_texts;

bool ppi_texts_add(ppi_texts *texts, const char *key, const char *value);
void ppi_texts_clear(ppi_texts *texts);

// ppi_run_info_collect fills in what this process and machine are.
bool ppi_run_info_collect(ppi_texts *texts, const ppi_spool *spool);
// ppi_cpu_times reads {process ns, monotonic ns, system busy, system idle} as
// Paddle's Device table wants them.
void ppi_cpu_times(uint64_t out[4]);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RUN_INFO_H_
