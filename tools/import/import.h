// SPDX-License-Identifier: Apache-2.0
//
// Reads a trace in Chrome's JSON, plain or gzip, into a sink, in bounded
// memory. PyTorch's Kineto, Paddle, ONNX Runtime, our own exporter and others
// write such traces. docs/import.md lists what each event becomes. One thread,
// its own state.
#pragma once

#include "import/import_options.h"

PPROF_BEGIN_C_

// ppi_import_is_trace answers whether `path` looks like a trace: a regular file
// that begins with gzip's magic, or with { or [ after white space. A file of
// another tool, which the import refuses by its format, counts, too. Pipes are
// not read.
bool ppi_import_is_trace(const char *path);

// ppi_import_read delivers `path` to `sink`: begin to finish for each process
// of the trace, in order of their ids. `options` may be NULL.
//
// Errors: IO; INVALID: not JSON, or not a trace; CORRUPT: damaged from a byte
//         on, and all before it was delivered and finished; what a callback of
//         the sink answers.
pprof_status ppi_import_read(const char *path, pprof_sink *sink,
                             const ppi_import_options *options,
                             pprof_error *error);

PPROF_END_C_
