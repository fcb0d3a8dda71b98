// SPDX-License-Identifier: Apache-2.0
//
// Reading several logs as one stream: pprof_log_read for more than one path.
#pragma once

#include "pprof/log.h"

PPROF_BEGIN_C_

// ppi_log_read_all delivers the logs one after the other. Segments of one run
// that stand in order, in one file or in several, are one run to the sink, as
// if the log had not been cut: one begin, one finish. What is missing of it is
// a note of its totals; a segment missing between two others is CORRUPT as
// well.
pprof_status ppi_log_read_all(const char *const *paths, size_t num_paths,
                              pprof_sink *sink, pprof_error *error);
// The same with a thread of its own that decodes, where there can be one.
pprof_status ppi_log_read_ahead(const char *const *paths, size_t num_paths,
                                pprof_sink *sink, pprof_error *error);
// ppi_log_read_all without events and checkpoints, which are not even read: of
// a long log the few bytes that are left. Damage in what is left out is not
// found.
pprof_status ppi_log_skim_all(const char *const *paths, size_t num_paths,
                              pprof_sink *sink, pprof_error *error);

PPROF_END_C_
