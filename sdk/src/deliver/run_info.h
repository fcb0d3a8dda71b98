// SPDX-License-Identifier: Apache-2.0
//
// Texts about a run (host, pid, clock, machine) and about what went wrong.
#ifndef PPI_RUN_INFO_H_
#define PPI_RUN_INFO_H_

#include "event/texts.h"
#include "names/names.h"
#include "spool/spool.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_run_info_collect fills in what this process and machine are.
bool ppi_run_info_collect(ppi_texts *texts, const ppi_spool *spool);
// ppi_cpu_times reads {process ns, monotonic ns, system busy, system idle} as
// Paddle's Device table wants them.
void ppi_cpu_times(uint64_t out[4]);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RUN_INFO_H_
