// SPDX-License-Identifier: Apache-2.0
//
// Divides the energy of devices among the stages that kept them busy.
#ifndef PPI_MACHINE_SPLIT_ENERGY_H_
#define PPI_MACHINE_SPLIT_ENERGY_H_

#include "report/figures/energy.h"
#include "report/limit/limit_calls.h"
#include "report/machine/series.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_machine_split_energy looks at a run that is over.
//
// Errors: NO_MEMORY.
pprof_status ppi_machine_split_energy(const ppi_machine_run *run,
                                      const ppi_limit_calls *calls,
                                      ppi_energy *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_MACHINE_SPLIT_ENERGY_H_
