// SPDX-License-Identifier: Apache-2.0
//
// The control thread, and the file read again.
#ifndef PPI_RUNNING_CONTROL_H_
#define PPI_RUNNING_CONTROL_H_

#include "start/running.h"

#ifdef __cplusplus
extern "C" {
#endif

void ppi_running_start_control(ppi_running *run);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RUNNING_CONTROL_H_
