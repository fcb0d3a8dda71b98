// SPDX-License-Identifier: Apache-2.0
//
// Calls of a device's API as ranges of the threads that make them: those that
// wait for the device, so that a stage says what it waits for, or all.
#pragma once

#include "mark/thread.h"
#include "pprof/mark.h"

// The state of a thread that launches. It is not in TLS: the little that a
// late-loaded library may use belongs to the record path.
typedef struct ppi_launcher {
  // The call that it is in has made a node of a graph, and no work.
  bool has_captured;
  uint32_t num_calls;
  // The outermost call that it is in, and its range; NULL: none.
  const pprof_site *call;
  pprof_scope_token token;
  uint32_t subscription;
  // The lane of the thread that waits for it, found last.
  const ppi_lane *lane;
  uint64_t word;    // the lane's, then: it changes with each marker
  uint32_t depth;   // open ranges there
  uint64_t looked;  // ticks
  uint32_t serial;  // of the session
} ppi_launcher;

// ppi_launcher_self answers the calling thread's, which ends with it; NULL
// where there is no memory for it.
ppi_launcher *ppi_launcher_self(void);

// ppi_calls_want has all calls be reported from the next start on; else those
// that wait, inside of ranges.
void ppi_calls_want(bool all);
bool ppi_calls_are_wanted(void);

// ppi_call_begin and ppi_call_end are called by the thread that makes the call,
// before and after it. A call inside another one is a part of it. With
// `only_inside` it is reported only where a range is open.
void ppi_call_begin(ppi_launcher *self, pprof_site *site, bool only_inside);
void ppi_call_end(ppi_launcher *self, const pprof_site *site);
// ppi_calls_any_open answers whether a call is under way that has to end before
// ends are no more reported.
bool ppi_calls_any_open(void);
// ppi_calls_forget: ends of calls before it are no more reported.
void ppi_calls_forget(void);

// ppi_call_depth answers how many ranges are open in `lane` around the call
// that the thread is in.
uint32_t ppi_call_depth(const ppi_launcher *self, const ppi_lane *lane);
// ppi_call_depth_of is that of another thread's lane.
uint32_t ppi_call_depth_of(const ppi_lane *lane, uint64_t word);
