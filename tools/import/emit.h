// SPDX-License-Identifier: Apache-2.0
//
// From the sweep to the sink: definitions when they are first needed, events in
// batches with their numbers, checkpoints, totals.
#ifndef PPI_IMPORT_EMIT_H_
#define PPI_IMPORT_EMIT_H_

#include "event/event.h"
#include "event/tally.h"
#include "import/importer.h"

#define PPI_EMIT_SLOTS 16
#define PPI_EMIT_EVENTS 256
#define PPI_EMIT_FLOWS 1024

// Events of one lane that are not delivered yet.
typedef struct ppi_tell_slot {
  uint32_t lane;
  size_t num, num_flows;
  pprof_event events[PPI_EMIT_EVENTS];
  pprof_work_amount work[PPI_EMIT_EVENTS];
  pprof_cpu_use cpu[PPI_EMIT_EVENTS];
  uint64_t flows[PPI_EMIT_FLOWS];
} ppi_tell_slot;

typedef struct ppi_teller {
  ppi_importer *importer;
  const ppi_process *process;  // whose run it is
  pprof_sink *sink;
  uint64_t base;  // biased; what the run counts its times from
  ppi_tell_slot *slots;
  uint64_t *next_seq;  // by lane
  size_t num_lanes, lanes_capacity;
  uint32_t *row_lanes;                                // by row; 0: none yet
  uint32_t *device_lanes;                             // by device
  uint32_t *row_of_lane;                              // for thread names
  unsigned char *defined_sites, *defined_attributes;  // bits
  unsigned char defined_categories[(PPROF_CATEGORY_FIRST_REGISTERED +
                                    PPI_IMPORT_MAX_CATEGORIES) /
                                   8];
  bool defined_streams[PPI_MAX_STREAMS];
  ppi_tally tally;
  uint64_t num_told;  // events since the last checkpoint
  uint64_t last_checkpoint;
  pprof_status status;  // the first failure; then nothing is told
} ppi_teller;

pprof_status ppi_tell_init(ppi_teller *emit, ppi_importer *importer);
void ppi_tell_clear(ppi_teller *emit);

void ppi_tell_begin(ppi_teller *emit, const ppi_process *process);
uint32_t ppi_tell_row_lane(ppi_teller *emit, uint32_t row);
uint32_t ppi_tell_device_lane(ppi_teller *emit, uint32_t device);
// For those who define lanes, devices and streams themselves.
uint32_t ppi_tell_lane(ppi_teller *emit, uint64_t number, const char *name);
void ppi_tell_define(ppi_teller *emit, const pprof_definition *definition);
void ppi_tell_window(ppi_teller *emit, uint32_t index, bool opens,
                     uint64_t time_ns);
// ppi_tell_event adds an event to the batch of `lane`. It copies work, flows
// and CPU use.
void ppi_tell_event(ppi_teller *emit, uint32_t lane, const pprof_event *event);
void ppi_tell_flush(ppi_teller *emit);
void ppi_tell_checkpoint(ppi_teller *emit, uint64_t time,
                         const pprof_event *open, size_t num_open);
// `skips` are what to tell of; `is_main`: with all that concerns the trace.
void ppi_tell_finish(ppi_teller *emit, const uint64_t *skips, bool is_main);
// A time of the trace in ns of the run.
static inline uint64_t ppi_tell_ns(const ppi_teller *emit, uint64_t time) {
  return time > emit->base ? time - emit->base : 0;
}

#endif  // PPI_IMPORT_EMIT_H_
