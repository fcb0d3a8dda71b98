// SPDX-License-Identifier: Apache-2.0
//
// The table of what a machine's counters can say against it.
#pragma once

#include "report/figures/machine.h"
#include "report/limit/limit_calls.h"
#include "report/machine/series.h"

PPROF_BEGIN_C_

// ppi_machine_find_troubles looks at a run that is over.
//
// Errors: NO_MEMORY.
pprof_status ppi_machine_find_troubles(const ppi_machine_run *run,
                                       const ppi_limit_calls *calls,
                                       ppi_machine_figures *out);

PPROF_END_C_
