// SPDX-License-Identifier: Apache-2.0
//
// The end of a run: what was held is decided, and ids become names.
#ifndef PPI_REPORT_FINISH_H_
#define PPI_REPORT_FINISH_H_

#include "report/run/run.h"

#ifdef __cplusplus
extern "C" {
#endif

pprof_status ppi_run_finish(ppi_run *run, const pprof_totals *totals,
                            ppi_figures *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_FINISH_H_
