// SPDX-License-Identifier: Apache-2.0
//
// Turns the parts of requests into the figures of a run.
#pragma once

#include "report/parts/request_parts.h"

PPROF_BEGIN_C_

// ppi_requests_fill puts the parts in order and makes the figures of one run.
bool ppi_requests_fill(ppi_requests *requests, ppi_run_ids *ids,
                       ppi_figures *out);

PPROF_END_C_
