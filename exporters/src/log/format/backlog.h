// SPDX-License-Identifier: Apache-2.0
//
// Groups of closed blocks on their way into a ring, which may have no room for
// them yet. One thread.
#pragma once

#include "log/format/log_block.h"
#include "spool/staging.h"

typedef struct ppi_backlog {
  ppi_buffer groups;  // u32 length, blocks
  size_t drained;     // groups before this are in the ring by now
} ppi_backlog;

// Puts a group of whole blocks into the ring; false: it has no room now.
typedef bool ppi_backlog_stage(void *user, const uint8_t *blocks, size_t len);

// Put takes a group, with or without room; drain moves the backlog as room
// comes. Errors: NO_MEMORY.
pprof_status ppi_backlog_put(ppi_backlog *backlog, ppi_backlog_stage *stage,
                             void *user, const uint8_t *blocks, size_t len);
void ppi_backlog_drain(ppi_backlog *backlog, ppi_backlog_stage *stage,
                       void *user);
// ppi_backlog_rest answers the groups that are not in the ring.
const ppi_buffer *ppi_backlog_rest(ppi_backlog *backlog);
// ppi_backlog_split lists the blocks of a group; answers their number.
size_t ppi_backlog_split(const uint8_t *blocks, size_t len,
                         ppi_staging_block out[PPI_LOG_MAX_GROUP]);
