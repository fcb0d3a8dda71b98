// SPDX-License-Identifier: Apache-2.0
//
// What a horizon settles, in one walk over the ranges that it has passed.
#pragma once

#include "report/parts/merge.h"
#include "report/run/run.h"

PPROF_BEGIN_C_

// ppi_run_sweep settles what lies before `horizon_ns`: all that ends by it has
// come, all else that begins before it has, too, or is in `open`, and so has
// all that was submitted before it. The order of `open` is changed.
pprof_status ppi_run_sweep(ppi_run *run, uint64_t horizon_ns,
                           ppi_run_open *open, size_t num_open);
// ppi_run_pass_swept comes after it, when nobody else looks at the lanes any
// more: it forgets what was settled, or hands it over to the answer.
pprof_status ppi_run_pass_swept(ppi_run *run);

PPROF_END_C_
