// SPDX-License-Identifier: Apache-2.0
//
// The content of a recovered log: copies whole blocks, salvages records above
// them, adds totals. log_recover decides about files and names.
#ifndef PPI_LOG_RESCUE_H_
#define PPI_LOG_RESCUE_H_

#include "log_block.h"
#include "log_payload.h"
#include "log_recover.h"
#include "salvage.h"
#include "tally.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_rescue_window {
  uint32_t index;
  bool opened, closed;
} ppi_rescue_window;

typedef struct ppi_rescue {
  pprof_sink tally_sink;    // of blocks that are copied
  pprof_sink salvage_sink;  // of records that are not in them
  int fd;                   // written from its start
  int io_error;
  ppi_log_payload payload;
  ppi_log_assembler assembler;
  bool assembling;
  ppi_tally tally;
  uint64_t *ends;  // by lane: below it, records are in copied blocks
  size_t num_ends, ends_capacity;
  ppi_rescue_window *windows;
  size_t num_windows, windows_capacity;
  uint64_t next_number, last_time_ns;
  bool has_info, complete;
  ppi_recover_result *result;
} ppi_rescue;

pprof_status ppi_rescue_begin(ppi_rescue *rescue, int fd, const char *uuid,
                              ppi_recover_result *result);
pprof_status ppi_rescue_copy_file(ppi_rescue *rescue, const char *path,
                                  pprof_error *error);
pprof_status ppi_rescue_copy_staged(ppi_rescue *rescue,
                                    const ppi_staging *staging);
// Records and totals; nothing when the copied blocks end in totals. `salvage`
// may be NULL, `info` is written when no block had it.
pprof_status ppi_rescue_finish(ppi_rescue *rescue, ppi_salvage *salvage,
                               const pprof_run_info *info);
void ppi_rescue_clear(ppi_rescue *rescue);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LOG_RESCUE_H_
