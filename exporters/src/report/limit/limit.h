// SPDX-License-Identifier: Apache-2.0
//
// What limits a run. docs/findings.md has the model and its sources.
#pragma once

#include "report/figures/answer_rows.h"
#include "report/figures/limit.h"
#include "report/limit/find.h"
#include "report/limit/limit_calls.h"

typedef struct ppi_limit_found ppi_limit_found;

// ppi_limit_find looks at all calls of a finished run, and uses them up.
// Iterations that it finds are in `loop`, which may be NULL; its owner clears
// it. Where there is a verdict, ppi_limit_divide divides what lies between the
// stages of `requests`, if any, and frees `found`. It takes NULL.
//
// Errors: NO_MEMORY.
// Cost:   sorting the calls; the rest grows as they do, or is bounded.
pprof_status ppi_limit_find(ppi_limit_calls *calls, ppi_limit *out,
                            ppi_limit_loop *loop, ppi_limit_found **out_found);
pprof_status ppi_limit_divide(ppi_limit_found *found, ppi_answer *requests);
