// SPDX-License-Identifier: Apache-2.0
//
// Calls of a device's API as ranges of the threads that make them: those that
// wait for the device, so that a stage says what it waits for, or all.
#pragma once

#include "kernels/launcher.h"

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
