// SPDX-License-Identifier: Apache-2.0
//
// Divides the energy of devices among the stages that kept them busy.
#pragma once

#include "report/figures/use.h"
#include "report/limit/limit_calls.h"
#include "report/machine/series.h"

PPROF_BEGIN_C_

// ppi_machine_split_energy takes a finished run.
bool ppi_machine_split_energy(const ppi_machine_run *run,
                              const ppi_limit_calls *calls, ppi_energy *out);

PPROF_END_C_
