// SPDX-License-Identifier: Apache-2.0
//
// What a device did while units were under way. Start-up, pauses without
// requests and time after the last request do not count.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

// A lower bound, where figures have no times.
typedef struct ppi_active {
  double time_ns;           // in which units were under way
  double busy_ns;           // part of it: the device worked
  double not_submitted_ns;  // part of it: nothing was submitted
} ppi_active;

// ppi_active_of answers NO_MEMORY, too.
pprof_status ppi_active_of(const ppi_search *search,
                           const ppi_report_device *device, ppi_active *out);

PPROF_END_C_
