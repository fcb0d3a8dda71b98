// SPDX-License-Identifier: Apache-2.0
//
// Reading several logs as one stream: pprof_log_read for more than one path.
#pragma once

#include "base/jobs.h"
#include "pprof/log.h"

PPROF_BEGIN_C_

// ppi_log_read_all delivers the logs one after the other. Consecutive segments
// of one run, in one file or several, reach the sink as one uncut run: one
// begin, one finish. Missing segments are a note of its totals; one missing
// between two others is CORRUPT as well.
pprof_status ppi_log_read_all(const char *const *paths, size_t num_paths,
                              pprof_sink *sink, pprof_error *error);
// The same, with blocks decoded as jobs; NULL: none.
pprof_status ppi_log_read_ahead(const char *const *paths, size_t num_paths,
                                ppi_jobs *jobs, pprof_sink *sink,
                                pprof_error *error);
// ppi_log_read_all without reading events and checkpoints: only a few bytes of
// a long log. Damage in the skipped blocks is not found.
pprof_status ppi_log_skim_all(const char *const *paths, size_t num_paths,
                              pprof_sink *sink, pprof_error *error);

PPROF_END_C_
