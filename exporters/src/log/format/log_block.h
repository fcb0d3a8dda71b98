// SPDX-License-Identifier: Apache-2.0
//
// Gathers a sink's input into closed blocks. The log writer passes them to its
// staging ring, recover to a file: both get the same bytes.
#pragma once

#include "event/event.h"
#include "log/format/codec.h"
#include "log/format/log_encode.h"

PPROF_BEGIN_C_

enum {
  PPI_LOG_MAX_EVENTS = 8192,  // gathered before a block is closed
  PPI_LOG_MAX_GROUP = 8  // blocks put together, of at most 3 longest blocks
};

// Takes one or more whole blocks. If several come in one call, the sequence
// numbers of their runs hold only if all are kept.
typedef pprof_status (*ppi_log_put)(void *user, const uint8_t *blocks,
                                    size_t len);

typedef struct ppi_log_assembler {
  ppi_log_put put;
  void *user;
  size_t raw_limit, max_runs;
  uint64_t next_number;
  ppi_codec *codec;
  ppi_buffer out;  // closed blocks not yet put
  size_t num_out;
  bool hold;               // collect in `out`
  bool join;               // the same, until ppi_log_assembler_release
  ppi_buffer definitions;  // of the next definitions block
  uint32_t most_id[PPROF_DEFINITION_ATTRIBUTES + 1];  // by kind, + 1
  ppi_buffer payload;
  ppi_run_encoder **runs;  // the first num_runs are of the open block
  size_t num_runs, num_encoders, runs_capacity;
  ppi_log_run *table;
  size_t table_capacity;
  size_t raw;  // bound of the open block's payload
  uint32_t num_events;
  uint64_t min_start_ns, max_end_ns;
} ppi_log_assembler;

// `block_limit`: no block gets longer than this; at least 16 KiB, 0 for the
// format's own limit.
pprof_status ppi_log_assembler_init(ppi_log_assembler *assembler,
                                    ppi_log_put put, void *user,
                                    size_t block_limit, uint64_t first_number);
void ppi_log_assembler_clear(ppi_log_assembler *assembler);
size_t ppi_log_assembler_max_block(const ppi_log_assembler *assembler);

// The sink's callbacks. All except define and events close the gathered events.
// `more` come behind the texts of `info`, `note` behind the notes of `totals`;
// NULL: none.
pprof_status ppi_log_assembler_info(ppi_log_assembler *assembler,
                                    const pprof_run_info *info,
                                    const ppi_text *more, size_t num_more);
pprof_status ppi_log_assembler_define(ppi_log_assembler *assembler,
                                      const pprof_definition *definition);
pprof_status ppi_log_assembler_events(ppi_log_assembler *assembler,
                                      const pprof_batch *batch);
pprof_status ppi_log_assembler_checkpoint(ppi_log_assembler *assembler,
                                          const pprof_checkpoint *checkpoint);
pprof_status ppi_log_assembler_window(ppi_log_assembler *assembler,
                                      uint32_t index, bool opens,
                                      uint64_t time_ns);
pprof_status ppi_log_assembler_totals(ppi_log_assembler *assembler,
                                      const pprof_totals *totals,
                                      const ppi_text *note);
// The payload of a block of contents; see log_contents.h.
pprof_status ppi_log_assembler_contents(ppi_log_assembler *assembler,
                                        const ppi_buffer *payload);
pprof_status ppi_log_assembler_flush(ppi_log_assembler *assembler);
// Blocks closed between the two calls are put together, up to the limit of a
// group.
void ppi_log_assembler_join(ppi_log_assembler *assembler);
pprof_status ppi_log_assembler_release(ppi_log_assembler *assembler);

// Tags of a totals payload; see docs/log-format.md.
enum { PPI_TOTALS_KEY = 1, PPI_TOTALS_ITEM = 2, PPI_TOTALS_NOTE = 3 };

PPROF_END_C_
