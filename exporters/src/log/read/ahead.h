// SPDX-License-Identifier: Apache-2.0
//
// Inflates and decodes blocks of events as jobs while earlier blocks are
// delivered. Its user is the owner of the jobs.
#pragma once

#include "base/jobs.h"
#include "log/format/log_file.h"
#include "pprof/event.h"

typedef struct ppi_log_ahead ppi_log_ahead;

// ppi_log_ahead_create answers NULL without memory or jobs.
ppi_log_ahead *ppi_log_ahead_create(ppi_jobs *jobs);
// ppi_log_ahead_is_full: deliver a block before the next put.
bool ppi_log_ahead_is_full(const ppi_log_ahead *ahead);
bool ppi_log_ahead_is_empty(const ppi_log_ahead *ahead);
// ppi_log_ahead_put copies the needed parts of a valid block of events.
pprof_status ppi_log_ahead_put(ppi_log_ahead *ahead,
                               const ppi_log_block *block);
// ppi_log_ahead_deliver delivers the oldest block, which must exist, like
// ppi_log_payload_open and ppi_log_payload_events, with their answers. `out`
// gets the input of ppi_log_file_count_bad.
pprof_status ppi_log_ahead_deliver(ppi_log_ahead *ahead, pprof_sink *sink,
                                   ppi_log_block *out);
// ppi_log_ahead_destroy drops blocks that were not delivered.
void ppi_log_ahead_destroy(ppi_log_ahead *ahead);
