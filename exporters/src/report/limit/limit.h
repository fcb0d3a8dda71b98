// SPDX-License-Identifier: Apache-2.0
//
// What limits a run. docs/findings.md has the model and its sources.
#pragma once

#include "report/figures/answer_rows.h"
#include "report/figures/limit.h"
#include "report/limit/find.h"
#include "report/limit/limit_calls.h"

// ppi_limit_find looks at all calls of a finished run, and uses them up. Where
// there is a verdict, what lies between the stages of `requests` is divided.
// Iterations that it finds are in `loop`, which may be NULL; its owner clears
// it.
//
// Errors: NO_MEMORY.
// Cost:   sorting the calls; the rest grows as they do, or is bounded.
pprof_status ppi_limit_find(ppi_limit_calls *calls, ppi_limit *out,
                            ppi_answer *requests, ppi_limit_loop *loop);
