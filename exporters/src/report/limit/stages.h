// SPDX-License-Identifier: Apache-2.0
//
// What each stage works, waits left out.
#pragma once

#include "report/limit/model.h"

PPROF_BEGIN_C_

// ppi_model_find_stages fills the parts of rows, and what each works. False:
// out of memory.
bool ppi_model_find_stages(ppi_limit_model *model);

static inline bool ppi_call_is_on_row(const ppi_limit_call *call) {
  return !(call->flags & (PPI_CALL_DEVICE | PPI_CALL_LOOSE | PPI_CALL_STEP));
}
// A recorded wait between stages is none of them.
static inline bool ppi_call_is_on_thread(const ppi_limit_call *call) {
  return ppi_call_is_on_row(call) && !ppi_call_is_between(call);
}

// The part that the time of a thread's call belongs to.
uint32_t ppi_call_part(const ppi_limit_model *model, uint32_t call);

// Of waits that lie in one another the outermost one counts.
bool ppi_call_is_top_wait(const ppi_limit_model *model, uint32_t call);

PPROF_END_C_
