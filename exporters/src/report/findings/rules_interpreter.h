// SPDX-License-Identifier: Apache-2.0
//
// What a program's interpreter took from its requests and steps.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

void ppi_rule_collections(ppi_search *search);
void ppi_rule_held_loop(ppi_search *search);

PPROF_END_C_
