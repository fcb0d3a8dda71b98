// SPDX-License-Identifier: Apache-2.0
//
// What our own code may ask of a log writer beyond the public calls.
#ifndef PPI_LOG_WRITER_H_
#define PPI_LOG_WRITER_H_

#include "pprof/log.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_log_writer_stats {
  uint64_t num_blocks;       // closed so far
  uint64_t num_blocks_lost;  // closed, and after finish not in the file
  uint64_t num_bytes;        // of blocks in the file
} ppi_log_writer_stats;

// `sink` must be a log writer. How long finish waits for the disk, 10 s.
void ppi_log_writer_set_limit_ms(pprof_sink *sink, uint64_t limit_ms);
ppi_log_writer_stats ppi_log_writer_look(pprof_sink *sink);
// The first failure in words, "" when there was none.
const char *ppi_log_writer_error(const pprof_sink *sink);
// Where it writes until finish, and then.
const char *ppi_log_writer_part_path(const pprof_sink *sink);
const char *ppi_log_writer_path(const pprof_sink *sink);

// "runs/x.pplog" and "1" give "runs/x.1.pplog". The caller frees it; NULL when
// out of memory.
char *ppi_log_sibling_path(const char *path, const char *infix);

#ifdef __cplusplus
}
#endif

#endif  // PPI_LOG_WRITER_H_
