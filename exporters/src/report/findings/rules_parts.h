// SPDX-License-Identifier: Apache-2.0
//
// Rules about the parts of a unit's time.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

void ppi_rule_dominates(ppi_search *search);
void ppi_rule_queueing(ppi_search *search);
void ppi_rule_waiting(ppi_search *search);
void ppi_rule_input_bound(ppi_search *search);

PPROF_END_C_
