// SPDX-License-Identifier: Apache-2.0
//
// NVTX out: an NVTX tool gets this process's records as they happen. Markers
// call this for a site with PPI_SITE_EMITS in its id, or for a range that the
// tool has; between enter and leave, on the marking threads.
#pragma once

#include "mark/thread.h"

// ppi_emit_want sets whether the next session emits, and searches for a tool.
// The caller holds no lock that a tool's first call could need.
void ppi_emit_want(bool wanted);
// ppi_emit_begin answers the flag for site ids in the session that starts:
// PPI_SITE_EMITS, or 0. ppi_emit_finish ends the open ranges when it stops; of
// stacks, only the calling thread's.
uint32_t ppi_emit_begin(void);
void ppi_emit_finish(void);
void ppi_emit_in_forked_child(void);

// ppi_emit_forget: the site's id is about to be another name's.
void ppi_emit_forget(uint32_t site);

// ppi_emit_push answers the frame's flag: PPI_FRAME_EMITTED, or 0.
uint8_t ppi_emit_push(const ppi_lane *lane, uint32_t site, uint64_t flow);
// ppi_emit_pop reports the end of the calling thread's innermost `num` ranges.
void ppi_emit_pop(uint32_t num);
// ppi_emit_settle ends the ranges that an edge cut from the calling thread's
// stack, which is of `epoch` now; ppi_emit_leave ends all of the thread's.
void ppi_emit_settle(uint32_t epoch);
void ppi_emit_leave(ppi_thread *thread);

// ppi_emit_point reports a mark, or with a `value` the counter's.
void ppi_emit_point(uint32_t site, uint64_t flow, const double *value);

// CrossThread and device ranges, by table and slot, once they have one.
// ppi_emit_start answers the tool's number of the range, 0: none; ppi_emit_keep
// keeps it until ppi_emit_end, which may come from any thread, and more than
// once.
uint64_t ppi_emit_start(uint32_t site, uint64_t flow);
void ppi_emit_keep(uint32_t table, uint32_t index, uint64_t range);
void ppi_emit_end(uint32_t table, uint32_t index);

// ppi_emit_step ends the step that is open; `opens`: step `number` begins.
// Under the steps' lock.
void ppi_emit_step(uint32_t site, uint64_t number, bool opens);
