// SPDX-License-Identifier: Apache-2.0
//
// Turns a run of records to columns. The encoder takes one record at a time, so
// that the block's size is always known.
#pragma once

#include "base/base.h"
#include "file/buffer.h"
#include "log/format/log_model.h"

PPROF_BEGIN_C_

// An event's fields from `site` to `attributes`, side by side.
typedef struct ppi_look {
  uint64_t words[4];
} ppi_look;
PPI_STATIC_ASSERT(offsetof(pprof_event, attributes) + sizeof(uint32_t) -
                          offsetof(pprof_event, site) ==
                      sizeof(ppi_look),
                  "nothing else is between the two");

typedef struct ppi_run_encoder {
  ppi_log_run run;
  ppi_log_model model;
  ppi_buffer columns[PPI_NUM_COLUMNS];
  uint64_t hits;       // of the guess, not yet written
  uint32_t before[2];  // tokens + 1 of the last two records
  ppi_look *looks;     // of the shapes' events
  size_t looks_capacity;
  uint32_t *buckets;  // shape hash to token + 1
  size_t num_buckets;
  uint64_t *flows;  // the last list
  size_t num_flows, flows_capacity;
  size_t len;      // of the columns
  uint32_t order;  // among the runs of a block, by arrival
} ppi_run_encoder;

// More flows on one event are INVALID (the record path keeps 64).
#define PPI_LOG_MAX_FLOWS 512u
// The most that an event with `num_flows` adds to a run, and the size of a run
// without its columns.
#define PPI_LOG_MAX_EVENT(num_flows) (301u + PPI_VARINT_MAX * (num_flows))
#define PPI_LOG_MAX_RUN (PPI_NUM_COLUMNS * 3u + 3u + PPI_VARINT_MAX)

ppi_run_encoder *ppi_run_encoder_create(void);
void ppi_run_encoder_destroy(ppi_run_encoder *encoder);
void ppi_run_encoder_start(ppi_run_encoder *encoder, uint32_t lane,
                           uint32_t window, uint64_t first_seq);
pprof_status ppi_run_encoder_add(ppi_run_encoder *encoder,
                                 const pprof_event *event);

// The least start and the greatest end of some events; without events
// {UINT64_MAX, 0}.
typedef struct ppi_log_times {
  uint64_t min_start_ns, max_end_ns;
} ppi_log_times;

// Adds events [from, to) of `batch` as long as they are plain: nested host
// ranges of the run's lane and window with times only. *out_num is their
// number; each adds at most PPI_LOG_MAX_RANGE bytes.
#define PPI_LOG_MAX_RANGE 80u
pprof_status ppi_run_encoder_add_ranges(ppi_run_encoder *encoder,
                                        const pprof_batch *batch, size_t from,
                                        size_t to, ppi_log_times *times,
                                        size_t *out_num);

// Appends the run to a payload and sets run.payload_len.
void ppi_run_encoder_finish(ppi_run_encoder *encoder, ppi_buffer *payload);

// The borders between kinds of bytes in a payload; short kinds share one.
#define PPI_LOG_MIN_PART 1024u
typedef struct ppi_log_parts {
  size_t lens[PPI_LOG_MAX_RAW / PPI_LOG_MIN_PART + 1];
  size_t num;
  size_t varied;  // bytes that hardly repeat: host times, missed guesses
} ppi_log_parts;

// Adds the parts of a run that was appended to a payload.
void ppi_run_encoder_parts(const ppi_run_encoder *encoder,
                           ppi_log_parts *parts);

PPROF_END_C_
