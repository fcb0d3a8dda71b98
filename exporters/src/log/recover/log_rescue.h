// SPDX-License-Identifier: Apache-2.0
//
// Writes the content of a recovered log: copies whole blocks, salvages the
// remaining records, adds totals. log_recover decides about files and names.
#pragma once

#include "event/tally.h"
#include "log/format/lane_high_water.h"
#include "log/format/log_block.h"
#include "log/format/log_payload.h"
#include "log/recover/recover_result.h"
#include "recover/salvage.h"
#include "spool/staging.h"

typedef struct ppi_rescue_window {
  uint32_t index;
  bool opened, closed;
} ppi_rescue_window;

typedef struct ppi_rescue {
  pprof_sink tally_sink;    // of blocks that are copied
  pprof_sink salvage_sink;  // of records outside copied blocks
  int fd;                   // written from its start
  int io_error;
  ppi_log_payload payload;
  ppi_log_assembler assembler;
  bool assembling;
  ppi_tally tally;
  ppi_lane_high_water ends;  // by lane: records below it are in copied blocks
  ppi_rescue_window *windows;
  size_t num_windows, windows_capacity;
  uint64_t next_number, last_time_ns;
  bool has_info, complete;
  uint32_t segment;  // of the run, from its info; 0: the whole run
  ppi_recover_result *result;
} ppi_rescue;

pprof_status ppi_rescue_begin(ppi_rescue *rescue, int fd, const char *uuid,
                              ppi_recover_result *result);
pprof_status ppi_rescue_copy_file(ppi_rescue *rescue, const char *path,
                                  pprof_error *error);
// From *cursor on, 0 at first, up to a block that begins another segment.
// *out_next is that segment's number, else 0.
pprof_status ppi_rescue_copy_staged(ppi_rescue *rescue,
                                    const ppi_staging *staging,
                                    uint64_t *cursor, uint32_t *out_next);
// Begins a further segment of the run, in another file or after the first.
pprof_status ppi_rescue_begin_segment(ppi_rescue *rescue, int fd,
                                      const char *uuid);
// Adds records and totals, or nothing if the copied blocks end in totals.
// `salvage` may be NULL; `info` is written if no block had it.
pprof_status ppi_rescue_finish(ppi_rescue *rescue, ppi_salvage *salvage,
                               const pprof_run_info *info);
void ppi_rescue_clear(ppi_rescue *rescue);
