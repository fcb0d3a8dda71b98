// SPDX-License-Identifier: Apache-2.0
//
// The steady part of a run.
#pragma once

#include "report/limit/model.h"

PPROF_BEGIN_C_

// False: out of memory.
bool ppi_model_find_window(ppi_limit_model *model);
// The window's time in [from_ns, to_ns).
uint64_t ppi_model_within(const ppi_limit_model *model, uint64_t from_ns,
                          uint64_t to_ns);
static inline uint64_t ppi_call_within(const ppi_limit_model *model,
                                       const ppi_limit_call *call) {
  return ppi_model_within(model, call->start_ns, call->end_ns);
}

PPROF_END_C_
