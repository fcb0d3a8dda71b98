// SPDX-License-Identifier: Apache-2.0
//
// Rules about requests one by one.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

void ppi_rule_tail(ppi_search *search);
void ppi_rule_few_requests(ppi_search *search);

PPROF_END_C_
