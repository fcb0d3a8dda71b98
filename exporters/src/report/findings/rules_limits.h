// SPDX-License-Identifier: Apache-2.0
//
// The profiler's own limits: what it missed, how sure its times are, and what
// it cost.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

void ppi_rule_lost(ppi_search *search);
void ppi_rule_clock_error(ppi_search *search);
void ppi_rule_left_out(ppi_search *search);
void ppi_rule_names(ppi_search *search);
void ppi_rule_device_times(ppi_search *search);
void ppi_rule_not_timed(ppi_search *search);
void ppi_rule_own_cost(ppi_search *search);
void ppi_rule_identity(ppi_search *search);

PPROF_END_C_
