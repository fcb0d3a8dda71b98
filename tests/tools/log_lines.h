// SPDX-License-Identifier: Apache-2.0
//
// A sink that prints all it is told, one canonical line each, so that two
// readers of a log can be compared word for word.
#pragma once

#include <stdio.h>

#include "pprof/event.h"

PPROF_BEGIN_C_

// The sink does not own `out`. Its destroy frees it.
pprof_sink *log_lines_create(FILE *out);

PPROF_END_C_
