// SPDX-License-Identifier: Apache-2.0
//
// Programs of ours that are written in Python: modules of the package pprof.
// Main thread only.
#pragma once

#include "file/buffer.h"
#include "pprof/base.h"

// ppi_tool_python answers the interpreter: PPROF_PYTHON, or else python3.
const char *ppi_tool_python(void);

// ppi_tool_python_read runs `module` with `words` (ends with NULL) and appends
// what it prints; its messages go where ours go. UNAVAILABLE: it cannot be
// started; NO_MEMORY; how it ends is not looked at.
pprof_status ppi_tool_python_read(const char *module, const char *const *words,
                                  ppi_buffer *out);
