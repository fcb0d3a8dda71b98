// SPDX-License-Identifier: Apache-2.0
//
// What each stage works, waits left out.
#ifndef PPI_LIMIT_STAGES_H_
#define PPI_LIMIT_STAGES_H_

#include "report/limit/model.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_model_find_stages fills the parts of rows, and what each works. False:
// out of memory.
bool ppi_model_find_stages(ppi_limit_model *model);

static inline bool ppi_call_is_on_thread(const ppi_limit_call *call) {
  return !(call->flags & (PPI_CALL_DEVICE | PPI_CALL_LOOSE | PPI_CALL_STEP));
}

// The part that the time of a thread's call belongs to.
uint32_t ppi_call_part(const ppi_limit_model *model, uint32_t call);

// Of waits that lie in one another the outermost one counts.
bool ppi_call_is_top_wait(const ppi_limit_model *model, uint32_t call);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_STAGES_H_
