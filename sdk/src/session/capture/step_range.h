// SPDX-License-Identifier: Apache-2.0
//
// The range of the step that is open: pprof_step ends it, and windows begin and
// cut it, too. All with the windows' mutex.
#ifndef PPI_STEP_RANGE_H_
#define PPI_STEP_RANGE_H_

#include "session/state/capture_state.h"

#ifdef __cplusplus
extern "C" {
#endif

// It begins, as far as it lies after `now`; ends; or ends, cut there.
void ppi_step_open(ppi_steps *steps, uint64_t now);
void ppi_step_end(ppi_steps *steps, uint64_t now, uint64_t items);
void ppi_step_cut(ppi_steps *steps, uint64_t now);

#ifdef __cplusplus
}
#endif

#endif  // PPI_STEP_RANGE_H_
