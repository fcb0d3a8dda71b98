// SPDX-License-Identifier: Apache-2.0
//
// Which lanes a thread has: its own, and one in each NVTX domain that it uses.
#pragma once

#include "mark/thread.h"

PPROF_BEGIN_C_

// ppi_thread_enter_slow gives a busy thread a lane with a stack of the epoch in
// force; NULL: no lane, and the thread is no longer busy.
ppi_lane *ppi_thread_enter_slow(ppi_thread *thread, ppi_intent intent);
// ppi_thread_catch_up_in is the same for the thread's lane in an NVTX domain,
// after the marker has read the epoch; the thread stays busy.
ppi_lane *ppi_thread_catch_up_in(ppi_thread *thread, uint32_t domain,
                                 uint32_t epoch, ppi_intent intent);
// ppi_stack_refresh updates a stack's copy of its lane, ppi_thread_refresh that
// of the stack with `lane`. Call it after a lane gets frames; after it gets
// chunks, the call is optional.
void ppi_stack_refresh(ppi_stack *stack);
void ppi_thread_refresh(ppi_thread *thread, const ppi_lane *lane);
// ppi_thread_follow takes a lane of this session to `epoch` within a marker;
// false: that marker is lost, and counted.
bool ppi_thread_follow(ppi_lane *lane, uint32_t epoch);
// ppi_thread_notify_last ends the occurrences of watched names that the frames
// from `from` to before `to` were, once these are closed.
void ppi_thread_notify_last(const ppi_lane *lane, uint32_t from, uint32_t to);

// ppi_thread_pop_unkept takes back a device push that found no lane; false:
// there is none. Of a busy thread.
bool ppi_thread_pop_unkept(ppi_thread *thread);

// ppi_thread_owning answers the thread that has the lane, NULL when none does.
ppi_thread *ppi_thread_owning(const ppi_lane *lane);
// ppi_thread_is_naming: a lane that has left is still being named by another.
bool ppi_thread_is_naming(const ppi_lane *lane);
// ppi_thread_forget_lanes takes the last session's lanes from all threads, busy
// ones included. A start calls it once no marker of that session is left, and
// before the next epoch. So while an epoch is in force, each thread's lane is
// of that epoch's session, also for the collector. Nothing else decides a
// lane's owner: its memory may have been reused.
void ppi_thread_forget_lanes(void);
// ppi_thread_leave_lanes ends the open ranges of the lanes and leaves the lanes
// to the collector.
void ppi_thread_leave_lanes(ppi_thread *thread, uint32_t epoch);
// ppi_thread_define_lanes names their rows. Between busy = 1 and 0, while a
// session lives.
void ppi_thread_define_lanes(const ppi_thread *thread, const char *name);

PPROF_END_C_
