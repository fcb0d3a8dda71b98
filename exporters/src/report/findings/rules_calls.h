// SPDX-License-Identifier: Apache-2.0
//
// Rules about the calls of a stage: unsteady ones, first ones, and what their
// thread does.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

void ppi_rule_uneven(ppi_search *search);
void ppi_rule_first_call(ppi_search *search);
void ppi_rule_computes(ppi_search *search);
void ppi_rule_blocks(ppi_search *search);
void ppi_rule_processor_wait(ppi_search *search);

PPROF_END_C_
