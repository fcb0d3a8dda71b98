// SPDX-License-Identifier: Apache-2.0
//
// Samples the machine while a session runs: clocks and power of devices, limits
// of cgroups, what other processes take. A thread of its own marks what it
// finds as counters of category Machine; docs/production.md lists them.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_machine_options {
  uint64_t without;  // bits by place in PPI_MACHINE_SOURCES
  bool is_by_hand;   // no thread: ppi_machine_sample asks; a test's
  // Takes a note with the absent sources; NULL: not wanted.
  void (*note)(void *user, const char *key, const char *text);
  void *user;
} ppi_machine_options;

// ppi_machine_start begins to sample; behind the session's start. False: no
// thread can be made, or the last one still hangs in a driver.
bool ppi_machine_start(const ppi_machine_options *options);
// ppi_machine_stop takes a last sample and ends it, before the session's stop.
// A driver that does not answer for `wait_ms` is left alone.
void ppi_machine_stop(uint64_t wait_ms);
// In a forked child there is no such thread.
void ppi_machine_in_forked_child(void);
// ppi_machine_sample asks all sources at once, as the thread does that was
// woken `late_ns` after its time; by hand alone.
void ppi_machine_sample(uint64_t late_ns);

PPROF_END_C_
