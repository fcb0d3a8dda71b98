// SPDX-License-Identifier: Apache-2.0
//
// Joins requests that several processes of a run work on.
#pragma once

#include "report/figures/figures.h"

// ppi_input_of answers NULL for a run that the figures lack.
const ppi_report_input *ppi_input_of(const ppi_figures *figures,
                                     const char *uuid, const char *host,
                                     const char *pid);
// ppi_join_requests makes the answer one of whole requests if processes share
// numbers and have no stage in common. The limit is then that of the process
// that holds up the others. Else it changes nothing.
bool ppi_join_requests(ppi_figures *figures);
// ppi_join_serving makes one request of those of one number. Without a number
// in several runs it changes nothing.
bool ppi_join_serving(ppi_figures *figures);
