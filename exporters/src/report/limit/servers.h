// SPDX-License-Identifier: Apache-2.0
//
// Servers as rows.
#pragma once

#include "report/limit/search.h"

PPROF_BEGIN_C_

// ppi_limit_list_servers fills the servers of the verdict, the busiest ones.
void ppi_limit_list_servers(ppi_limit_search *search);

PPROF_END_C_
