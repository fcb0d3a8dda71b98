// SPDX-License-Identifier: Apache-2.0
//
// From the sweep to the sink: definitions when they are first needed, events in
// batches with their numbers, checkpoints, totals.
#pragma once

#include "event/event.h"
#include "event/tally.h"
#include "import/importer.h"

#define PPI_EMIT_SLOTS 16
#define PPI_EMIT_EVENTS 256
#define PPI_EMIT_FLOWS 1024

// Events of one lane that are not delivered yet.
typedef struct ppi_emitter_slot {
  uint32_t lane;
  size_t num, num_flows;
  pprof_event events[PPI_EMIT_EVENTS];
  pprof_work_amount work[PPI_EMIT_EVENTS];
  pprof_cpu_use cpu[PPI_EMIT_EVENTS];
  pprof_numbers numbers[PPI_EMIT_EVENTS];
  uint64_t flows[PPI_EMIT_FLOWS];
} ppi_emitter_slot;

typedef struct ppi_emitter {
  ppi_importer *importer;
  const ppi_process *process;  // whose run it is
  pprof_sink *sink;
  uint64_t base;  // biased; what the run counts its times from
  ppi_emitter_slot *slots;
  uint64_t *next_seq;  // by lane
  size_t num_lanes, lanes_capacity;
  uint32_t *row_lanes;                                // by row; 0: none yet
  uint32_t *device_lanes;                             // by device
  uint32_t *row_of_lane;                              // for thread names
  unsigned char *defined_sites, *defined_attributes;  // bits
  size_t defined_sites_capacity;
  unsigned char defined_categories[(PPROF_CATEGORY_FIRST_REGISTERED +
                                    PPI_IMPORT_MAX_CATEGORIES) /
                                   8];
  bool defined_streams[PPI_MAX_STREAMS];
  ppi_tally tally;
  uint64_t num_told;  // events since the last checkpoint
  uint64_t last_checkpoint;
  pprof_status status;  // the first failure; then nothing is told
} ppi_emitter;

pprof_status ppi_emitter_init(ppi_emitter *emit, ppi_importer *importer);
void ppi_emitter_clear(ppi_emitter *emit);

void ppi_emitter_begin(ppi_emitter *emit, const ppi_process *process);
uint32_t ppi_emitter_row_lane(ppi_emitter *emit, uint32_t row);
uint32_t ppi_emitter_device_lane(ppi_emitter *emit, uint32_t device);
// For those who define lanes, devices and streams themselves.
uint32_t ppi_emitter_lane(ppi_emitter *emit, uint64_t number, const char *name);
void ppi_emitter_define(ppi_emitter *emit, const pprof_definition *definition);
void ppi_emitter_window(ppi_emitter *emit, uint32_t index, bool opens,
                        uint64_t time_ns);
// ppi_emitter_event adds an event to the batch of `lane`. It copies work, flows
// and CPU use.
void ppi_emitter_event(ppi_emitter *emit, uint32_t lane,
                       const pprof_event *event);
void ppi_emitter_flush(ppi_emitter *emit);
void ppi_emitter_checkpoint(ppi_emitter *emit, uint64_t time,
                            const pprof_event *open, size_t num_open);
// `skips` are what to tell of; `is_main`: with all that concerns the trace.
void ppi_emitter_finish(ppi_emitter *emit, const uint64_t *skips, bool is_main);
// A time of the trace in ns of the run.
static inline uint64_t ppi_emitter_ns(const ppi_emitter *emit, uint64_t time) {
  return time > emit->base ? time - emit->base : 0;
}
