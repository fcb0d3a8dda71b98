// SPDX-License-Identifier: Apache-2.0
//
// The outermost level of a trace.
#ifndef PPI_IMPORT_TRACE_H_
#define PPI_IMPORT_TRACE_H_

#include "import/importer.h"

// ppi_trace_take takes the tokens of the whole trace.
bool ppi_trace_take(void *importer, const ppi_json_token *token);

#endif  // PPI_IMPORT_TRACE_H_
