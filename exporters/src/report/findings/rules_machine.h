// SPDX-License-Identifier: Apache-2.0
//
// What the machine did beside the program. One row for each cause.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

void ppi_rule_machine(ppi_search *search);

PPROF_END_C_
