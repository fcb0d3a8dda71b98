// SPDX-License-Identifier: Apache-2.0
//
// What thread.c (blocks) and thread_lane.c (their lanes) have of each other.
#ifndef PPI_THREAD_IMPL_H_
#define PPI_THREAD_IMPL_H_

#include "mark/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

// thread_lane.c. ppi_thread_take_lanes leaves a block without lanes.
void ppi_thread_take_lanes(ppi_thread *thread);
// ppi_thread_leave_lanes ends what is open on them and leaves them to the
// collector.
void ppi_thread_leave_lanes(ppi_thread *thread, uint32_t epoch);
// ppi_thread_define_lanes names their rows. Between busy = 1 and 0, while a
// session lives.
void ppi_thread_define_lanes(const ppi_thread *thread, const char *name);
bool ppi_thread_has_rows(const ppi_thread *thread);

// thread.c. ppi_thread_find_name takes the name that another thread gave this
// one, if any; the system's where it has none at all.
void ppi_thread_find_name(ppi_thread *thread);

#ifdef __cplusplus
}
#endif

#endif  // PPI_THREAD_IMPL_H_
