// SPDX-License-Identifier: Apache-2.0
//
// A sink that prints all it is told, one canonical line each, so that two
// readers of a log can be compared word for word.
#ifndef TESTS_TOOLS_LOG_LINES_H_
#define TESTS_TOOLS_LOG_LINES_H_

#include <stdio.h>

#include "pprof/event.h"

#ifdef __cplusplus
extern "C" {
#endif

// The sink does not own `out`. Its destroy frees it.
pprof_sink *log_lines_create(FILE *out);

#ifdef __cplusplus
}
#endif

#endif  // TESTS_TOOLS_LOG_LINES_H_
