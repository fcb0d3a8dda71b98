// SPDX-License-Identifier: Apache-2.0
//
// What requests wait for, as rows.
#pragma once

#include "report/figures/answer_rows.h"
#include "report/limit/search.h"

PPROF_BEGIN_C_

// ppi_blame_show divides the answer's row of what lies between stages as the
// requests that were looked at divide it, to the nanosecond, and lists their
// pieces in the verdict.
void ppi_blame_show(ppi_limit_search *search, ppi_answer *requests);

PPROF_END_C_
