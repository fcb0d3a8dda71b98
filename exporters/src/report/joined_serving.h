// SPDX-License-Identifier: Apache-2.0
//
// Joins requests with tokens that several processes serve.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

// ppi_join_serving makes one request of those of one number. Without a number
// in several runs it changes nothing.
bool ppi_join_serving(ppi_figures *figures);

PPROF_END_C_
