// SPDX-License-Identifier: Apache-2.0
//
// The interface of libpprof.so for libpprof_waits.so, which stands in front of
// the C library's locks. Exported for that library only. Any thread, signal
// handlers and allocators included: no call here allocates or waits.
#pragma once

#include "event/recorded_wait.h"
#include "pprof/mark.h"
#include "waits/wait_table.h"

PPROF_BEGIN_C_

PPROF_API const pprof_wait_table_ *pprof_wait_get_table_(void);

typedef struct pprof_wait_ {
  pprof_scope_token token;
  uint32_t object;  // of the table
  uint32_t releases;
  uint64_t numbers[PPI_WAIT_NUMBERS];
} pprof_wait_;

// pprof_wait_begin_ opens a range for the calling thread's wait. `caller` is
// where the program calls.
//
// Result: false: it is not recorded. Only threads that have marked are.
PPROF_API bool pprof_wait_begin_(pprof_wait_ *wait, const volatile void *object,
                                 ppi_wait_kind kind, const void *caller);
// pprof_wait_holder_ sets the thread that the wait waits for at the moment.
PPROF_API void pprof_wait_holder_(pprof_wait_ *wait, uint32_t tid);
PPROF_API void pprof_wait_end_(pprof_wait_ *wait, bool timed_out);
// pprof_wait_release_ notes that the calling thread is about to end the waits
// for object `at` of the table.
PPROF_API void pprof_wait_release_(uint32_t at);

// ppi_waits_set is in force from then on.
void ppi_waits_set(bool on, bool idle);
// ppi_waits_notes says how many waits were too short to be ranges, and which
// runtime's are not recorded. One thread at a time.
struct ppi_texts;
void ppi_waits_notes(struct ppi_texts *notes);
void ppi_waits_in_forked_child(void);

PPROF_END_C_
