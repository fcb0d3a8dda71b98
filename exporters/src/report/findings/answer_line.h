// SPDX-License-Identifier: Apache-2.0
//
// The line of the answer: which stage, how much, why.
#pragma once

#include "report/findings/search.h"

// ppi_answer_line names the greatest part of a unit's time, unless a rule has
// given the answer.
void ppi_answer_line(ppi_search *search);
