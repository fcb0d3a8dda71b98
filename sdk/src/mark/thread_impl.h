// SPDX-License-Identifier: Apache-2.0
//
// The parts of thread.c that attach.c, thread_lane.c and thread_name.c share.
#pragma once

#include "mark/thread.h"

// The lock of blocks and of threads' names. Busy threads alone take it: a
// signal handler's marker must not wait for its own thread.
void ppi_thread_lock(void);
void ppi_thread_unlock(void);

// ppi_thread_prepare finds membarrier and adds the fork handler, once; false:
// it cannot.
bool ppi_thread_prepare(void);
// ppi_thread_take_block answers a block for the calling thread, NULL: no
// memory. *out_is_gone: it was an ended thread's that never left; leave for
// that thread before ppi_thread_set_up.
ppi_thread *ppi_thread_take_block(bool *out_is_gone);
void ppi_thread_set_up(ppi_thread *thread);
// ppi_thread_take_lanes leaves a block without lanes.
void ppi_thread_take_lanes(ppi_thread *thread);
// ppi_thread_distrust has the thread's next markers check all that they use.
void ppi_thread_distrust(ppi_thread *thread);
bool ppi_thread_has_rows(const ppi_thread *thread);
