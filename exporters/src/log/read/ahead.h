// SPDX-License-Identifier: Apache-2.0
//
// Blocks of events that a thread of its own inflates and decodes while those
// before them are delivered. Its user is one thread.
#pragma once

#include "log/format/log_file.h"
#include "pprof/event.h"

PPROF_BEGIN_C_

typedef struct ppi_log_ahead ppi_log_ahead;

// ppi_log_ahead_create answers NULL without memory or a thread.
ppi_log_ahead *ppi_log_ahead_create(void);
// ppi_log_ahead_is_full: the next one is to be delivered before another is put.
bool ppi_log_ahead_is_full(const ppi_log_ahead *ahead);
bool ppi_log_ahead_is_empty(const ppi_log_ahead *ahead);
// ppi_log_ahead_put copies what it needs of a block of events that is ok.
pprof_status ppi_log_ahead_put(ppi_log_ahead *ahead,
                               const ppi_log_block *block);
// ppi_log_ahead_deliver does with the first that was put, which there is, what
// ppi_log_payload_open and ppi_log_payload_events do, and answers as they do.
// `out` gets what ppi_log_file_count_bad needs.
pprof_status ppi_log_ahead_deliver(ppi_log_ahead *ahead, pprof_sink *sink,
                                   ppi_log_block *out);
// ppi_log_ahead_destroy forgets what was not delivered.
void ppi_log_ahead_destroy(ppi_log_ahead *ahead);

PPROF_END_C_
