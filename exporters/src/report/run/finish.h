// SPDX-License-Identifier: Apache-2.0
//
// The end of a run: buffered ranges are settled, and ids become names.
#pragma once

#include "report/run/run.h"

PPROF_BEGIN_C_

bool ppi_run_finish(ppi_run *run, const pprof_totals *totals, ppi_figures *out);

PPROF_END_C_
