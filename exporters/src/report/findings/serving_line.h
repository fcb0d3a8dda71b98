// SPDX-License-Identifier: Apache-2.0
//
// The answer where requests get tokens.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

// ppi_serving_line states where the slowest requests' time goes; false, and no
// text: no request got a token.
bool ppi_serving_line(ppi_search *search);

PPROF_END_C_
