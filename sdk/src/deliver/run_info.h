// SPDX-License-Identifier: Apache-2.0
//
// Texts about a run (host, pid, clock, machine) and about its failures.
#pragma once

#include "event/texts.h"
#include "names/names.h"
#include "spool/spool.h"

PPROF_BEGIN_C_

// ppi_run_info_collect fills in this process and machine.
bool ppi_run_info_collect(ppi_texts *texts, const ppi_spool *spool);
// ppi_cpu_times reads {process ns, monotonic ns, system busy, system idle} as
// Paddle's Device table wants them.
void ppi_cpu_times(uint64_t out[4]);

PPROF_END_C_
