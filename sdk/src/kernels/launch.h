// SPDX-License-Identifier: Apache-2.0
//
// Calls that give work to a device, recorded on their threads: their time, and
// the ranges around them. Kept until the device's own record of the work comes,
// which names the call by a number, its correlation.
#pragma once

#include "mark/thread.h"

// The number of newest calls that are kept; work of an older call has no host
// side.
#define PPI_LAUNCHES (1u << 18)

typedef enum ppi_launch_state {
  PPI_LAUNCH_NONE = 0,  // not found, given up, or too long ago
  PPI_LAUNCH_OPEN,      // its thread is inside the call
  PPI_LAUNCH_SUBMITTED  // the device has the work
} ppi_launch_state;

typedef enum ppi_launch_kind {
  PPI_LAUNCH_WORK = 0,  // gives the device one piece of work
  PPI_LAUNCH_GRAPH,     // many
  PPI_LAUNCH_MEMORY     // none: takes or gives back memory, of which not every
                        // such call is reported
} ppi_launch_kind;

typedef struct ppi_launch {
  uint64_t begin, end;  // ticks
  uint64_t reported;    // collector: when work of it last came; 0: never
  uint64_t flow;  // that the innermost range around it serves; 0: none, or more
  uint32_t lane;
  uint16_t depth;   // open ranges around it there
  uint8_t kind;     // ppi_launch_kind
  bool is_by_wait;  // it was made by a thread without ranges, and lies in the
                    // range in which the only one that had any waited
} ppi_launch;

// ppi_launches_open makes room, once in a process; false: there is no memory.
bool ppi_launches_open(void);
// ppi_launches_forget has all calls so far be none; the end of one that is
// under way is ignored.
void ppi_launches_forget(void);
// ppi_launches_close has calls from now on not be looked at, until
// ppi_launches_forget.
void ppi_launches_close(void);
// ppi_launches_are_open answers whether there is room, and calls are looked at.
bool ppi_launches_are_open(void);
// ppi_launches_any answers whether a call gave work since then.
bool ppi_launches_any(void);

// ppi_launch_lane answers the lane with the ranges in which the calling thread,
// busy with `lane`, makes a call, and how many are open there.
const ppi_lane *ppi_launch_lane(const ppi_thread *thread, const ppi_lane *lane,
                                uint32_t *out_depth, bool *out_by_wait);

// ppi_launch_begin and ppi_launch_end are called by the thread that makes the
// call, before and after it. Correlations grow by one or little more; each is
// one call's. A call that failed, or became a part of a graph, has given the
// device nothing: `is_submitted` false. Neither waits.
void ppi_launch_begin(uint32_t correlation, ppi_launch_kind kind);
void ppi_launch_end(uint32_t correlation, bool is_submitted);

// ppi_launch_cost takes what a hook of one call in PPI_LAUNCH_SAMPLE took, at
// its begin or its end; ppi_launches_cost answers the ticks of all hooks since
// ppi_launches_forget, as far as known, and how many calls were measured.
#define PPI_LAUNCH_SAMPLE 64u
void ppi_launch_cost(uint64_t ticks, bool is_end);
uint64_t ppi_launches_cost(uint64_t *out_num);

// The collector's: ppi_launch_find answers the entry of a call.
ppi_launch_state ppi_launch_find(uint32_t correlation, ppi_launch *out);
// ppi_launch_reported notes that work of a call was reported at `now`.
void ppi_launch_reported(uint32_t correlation, uint64_t now);
// ppi_launches_oldest answers when the first call began that may still have
// work to report, UINT64_MAX: there is none. A graph's work has been reported
// when none came since `quiet`, and of memory nothing comes later. Calls that
// began before `given_up` are waited for no more.
uint64_t ppi_launches_oldest(uint64_t quiet, uint64_t given_up);
// ppi_launches_lanes names the lanes of calls since the one before which all
// has been reported: events of these are still to come.
void ppi_launches_lanes(void (*take)(void *taker, uint32_t lane), void *taker);
