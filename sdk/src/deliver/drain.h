// SPDX-License-Identifier: Apache-2.0
//
// Turns the spool's content into the sinks' input: definitions, windows,
// events. The collector and recover use the same code; it reads a spool and
// keeps its own cursors. One thread.
#pragma once

#include "event/tally.h"
#include "names/names_old.h"
#include "spool/lane.h"

PPROF_BEGIN_C_

typedef struct ppi_window {
  uint64_t open_ticks, close_ticks;  // close: UINT64_MAX while open
  uint32_t index;
} ppi_window;

#define PPI_DRAIN_EVENTS 256u
#define PPI_DRAIN_FLOWS 8192u
#define PPI_DRAIN_WINDOWS 65536u

typedef struct ppi_drain {
  const ppi_spool *spool;
  pprof_sink *sink;
  // For a running session: gives the names in use. NULL: the spool's, as a
  // process left it.
  ppi_names *names;
  ppi_scale scale;
  ppi_tally tally;
  uint64_t names_cursor, again_cursor;
  uint64_t num_namings;  // of lanes that sinks know
  uint64_t *named;       // by place: the naming that they know
  uint64_t edges_seen;
  bool silent_windows;  // windows are tracked, not delivered
  ppi_window *windows;
  size_t num_windows, windows_capacity;
  // The batch being filled; lies in one allocation.
  pprof_event *events;
  pprof_work_amount *works;
  pprof_cpu_use *cpus;
  pprof_numbers *numbers;
  uint64_t *flows;
  size_t num_events, num_works, num_cpus, num_numbers, num_flows;
  bool is_plain;  // all of them are the lane's, and none counts but as recorded
  uint64_t delivered_end;  // of the last batch that sinks got
  uint32_t batch_lane;
  uint64_t batch_first, batch_end;
} ppi_drain;

pprof_status ppi_drain_init(ppi_drain *drain, const ppi_spool *spool,
                            pprof_sink *sink);
void ppi_drain_clear(ppi_drain *drain);

// ppi_drain_definitions delivers the definitions published up to `end` bytes,
// or later in a session that runs, and the names of lanes.
pprof_status ppi_drain_definitions(ppi_drain *drain, uint64_t end);
// ppi_drain_edges takes in new edges; windows that open or close are reported.
pprof_status ppi_drain_edges(ppi_drain *drain);
// ppi_drain_lane delivers the records in slots [from, to) of `lane`.
pprof_status ppi_drain_lane(ppi_drain *drain, const ppi_lane *lane,
                            uint64_t from, uint64_t to);

// ppi_drain_excluded counts the records in slots [from, to) of `lane` that
// belong to no window, or are not wanted.
uint64_t ppi_drain_excluded(const ppi_drain *drain, const ppi_lane *lane,
                            uint64_t from, uint64_t to);

// Slots of tables: begin a batch at `first_seq` of the table's lane, add each
// (false: it belongs to no window, or is of requests that are not kept; it was
// counted excluded and takes no seq),
// then flush. `status` is what delivering a full batch answered.
void ppi_drain_begin(ppi_drain *drain, uint32_t lane, uint64_t first_seq);
bool ppi_drain_slot(ppi_drain *drain, ppi_slot *slot, pprof_status *status);
pprof_status ppi_drain_flush(ppi_drain *drain);

// ppi_drain_window_at answers the window a time lies in, NULL outside.
const ppi_window *ppi_drain_window_at(const ppi_drain *drain, uint64_t ticks);
static inline uint64_t ppi_drain_ns(const ppi_drain *drain, uint64_t ticks) {
  return ppi_scale_ns(&drain->scale, ticks);
}

PPROF_END_C_
