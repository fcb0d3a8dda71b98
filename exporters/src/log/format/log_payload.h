// SPDX-License-Identifier: Apache-2.0
//
// Turns block payloads back to sink calls: shared by reader and recover.
#pragma once

#include "event/texts.h"
#include "log/format/codec.h"
#include "log/format/log_decode.h"
#include "log/format/log_file.h"

// Collects run info, totals and checkpoints, which may span blocks, and decodes
// other payloads block by block. Callbacks beyond the sink's size count as
// NULL.
#define PPI_SINK_HAS(sink, callback)                                  \
  ((sink)->size >= offsetof(pprof_sink, callback) + sizeof(void *) && \
   (sink)->callback)
#define PPI_SINK_CALL(sink, callback, ...)                              \
  (PPI_SINK_HAS(sink, callback) ? (sink)->callback((sink), __VA_ARGS__) \
                                : PPROF_STATUS_OK)

typedef struct ppi_log_payload {
  ppi_codec *codec;
  uint8_t *raw;       // PPI_LOG_MAX_RAW
  ppi_log_run *runs;  // PPI_LOG_MAX_RUNS, for a block outside of files
  ppi_run_decoder decoder;
  pprof_event *events;  // of a run, for a sink that takes no columns
  size_t events_capacity;
  char *name;  // of a definition
  size_t name_capacity;
  uint64_t num_defined;  // of the run
  uint64_t num_unknown;  // skipped definitions of later kinds
  ppi_texts info;        // of the run
  // Totals; `keys` maps the log's numbers to ours, PPI_NUM_TOTALS: unknown.
  ppi_total *items;
  size_t num_items, items_capacity;
  ppi_texts notes;
  uint32_t *keys;
  size_t num_keys, keys_capacity;
  // A checkpoint's open ranges; flows and work are copies.
  pprof_event *open;
  size_t num_open, open_capacity;
  void **copies;
  size_t num_copies, copies_capacity;
  // Pieces: the required properties of the next block.
  uint8_t open_type;
  uint64_t next_number;
  size_t num_pieces;
} ppi_log_payload;

pprof_status ppi_log_payload_init(ppi_log_payload *payload);
void ppi_log_payload_reset(ppi_log_payload *payload);  // for another run
void ppi_log_payload_clear(ppi_log_payload *payload);

// Inflates and checks a block. All of these answer CORRUPT if the bytes do not
// fit the type, UNSUPPORTED for an unknown codec, NO_MEMORY.
pprof_status ppi_log_payload_open(ppi_log_payload *payload,
                                  const ppi_log_block *block);
// Then, by type. `sink` gets the calls; they answer its status.
pprof_status ppi_log_payload_define(ppi_log_payload *payload,
                                    const ppi_log_block *block,
                                    pprof_sink *sink);
// ppi_log_payload_give delivers a run to a sink that has the callback.
pprof_status ppi_log_payload_give(ppi_log_payload *payload,
                                  const ppi_columns *columns, pprof_sink *sink);
// Delivers a batch per run.
pprof_status ppi_log_payload_events(ppi_log_payload *payload,
                                    const ppi_log_block *block,
                                    pprof_sink *sink);
pprof_status ppi_log_payload_window(ppi_log_payload *payload,
                                    const ppi_log_block *block,
                                    uint32_t *out_index, bool *out_opens,
                                    uint64_t *out_time_ns);
// A piece of run info, totals or a checkpoint; *out_whole: it was the last one,
// and all before it were present.
pprof_status ppi_log_payload_piece(ppi_log_payload *payload,
                                   const ppi_log_block *block, bool *out_whole);
