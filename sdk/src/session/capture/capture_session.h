// SPDX-License-Identifier: Apache-2.0
//
// How watched markers reach the rules that count them.
#ifndef PPI_CAPTURE_SESSION_H_
#define PPI_CAPTURE_SESSION_H_

#include "mark/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_capture_watch has watched markers tell the session that runs; before
// there is an epoch.
void ppi_capture_watch(ppi_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif  // PPI_CAPTURE_SESSION_H_
