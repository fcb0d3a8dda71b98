// SPDX-License-Identifier: Apache-2.0
//
// Ways to wake, ask and stop the collector, and to wait for it.
#pragma once

#include <pthread.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// Filled by the thread that wakes the collector, under `mutex`.
typedef struct ppi_wakeup {
  pthread_mutex_t mutex;
  pthread_cond_t to_collector, from_collector;
  uint64_t asked, done;  // full cycles (drain, checkpoint)
  bool stop;
  bool is_woken;  // atomic; there is work, and no thread waits for it
} ppi_wakeup;

void ppi_wakeup_init(ppi_wakeup *wakeup);
void ppi_wakeup_destroy(ppi_wakeup *wakeup);
// ppi_wakeup_wake ends the collector's wait, if it waits. Any thread.
void ppi_wakeup_wake(ppi_wakeup *wakeup);
// ppi_wakeup_ask wants a whole cycle with a checkpoint and waits for it; BUSY
// when the sinks do not take it within `wait_ms`.
pprof_status ppi_wakeup_ask(ppi_wakeup *wakeup, uint32_t wait_ms);
// ppi_wakeup_stop makes the collector deliver the rest and end.
void ppi_wakeup_stop(ppi_wakeup *wakeup);

// The collector's: whether it is to stop, and how many cycles were asked for.
bool ppi_wakeup_look(ppi_wakeup *wakeup, uint64_t *out_asked);
void ppi_wakeup_answer(ppi_wakeup *wakeup, uint64_t asked);
// Waits for `ns`, or until a wake-up, or a request for more than `answered`.
void ppi_wakeup_wait(ppi_wakeup *wakeup, uint64_t answered, uint64_t ns);

PPROF_END_C_
