// SPDX-License-Identifier: Apache-2.0
//
// The outermost level of a trace.
#pragma once

#include "import/importer.h"

// ppi_trace_take takes the tokens of the whole trace.
bool ppi_trace_take(void *importer, const ppi_json_token *token);
// ppi_trace_take_events is a ppi_json_take_whole.
size_t ppi_trace_take_events(void *importer, const char *bytes);
