// SPDX-License-Identifier: Apache-2.0
//
// The contents that a long log has before its totals: the number of events, and
// the offsets of all other blocks. With contents, `info` does not walk over all
// blocks. The log writer notes blocks as it accepts them; a reader looks for
// the contents from the end.
#pragma once

#include "log/format/log_block.h"
#include "log/format/log_file.h"

PPROF_BEGIN_C_

enum {
  // With fewer blocks, reading all headers is fast.
  PPI_LOG_CONTENTS_MIN_BLOCKS = 1024,
  // With more, there are no contents: they must fit one block.
  PPI_LOG_CONTENTS_MAX_OFFSETS = 4096,
  PPI_LOG_CONTENTS_NUM_TYPES = 2
};

// The types of blocks without listed offsets.
typedef struct ppi_log_sums {
  uint64_t num_blocks, num_events, raw_bytes, stored_bytes;
} ppi_log_sums;

// All zero before the first block.
typedef struct ppi_log_contents {
  uint64_t num_blocks;  // in all
  uint64_t num_bytes;   // of those, without the file header
  uint64_t max_end_ns;
  uint32_t codecs;                                 // bit n: codec n is used
  ppi_log_sums sums[PPI_LOG_CONTENTS_NUM_TYPES];   // events, checkpoints
  uint64_t offsets[PPI_LOG_CONTENTS_MAX_OFFSETS];  // from the file header
  size_t num_offsets;  // too many blocks to list: unusable
} ppi_log_contents;

// The type of the sums at `i`.
static inline ppi_log_type ppi_log_contents_type(size_t i) {
  return i == 0 ? PPI_LOG_EVENTS : PPI_LOG_CHECKPOINT;
}

// ppi_log_contents_note counts whole blocks that go into the log.
void ppi_log_contents_note(ppi_log_contents *contents, const uint8_t *blocks,
                           size_t len);
// ppi_log_contents_put closes the gathered events, which must have been noted.
// It then adds the contents, if they are useful.
pprof_status ppi_log_contents_put(const ppi_log_contents *contents,
                                  ppi_log_assembler *assembler);

// ppi_log_contents_find reads the contents of a log of one run. False: there
// are none, or they contradict the file.
bool ppi_log_contents_find(const char *path, ppi_log_contents *out);
// ppi_log_contents_skim lets `file`, just opened for that path, skip the
// payloads of events and checkpoints. With contents (true) it skips all of
// their blocks up to there. `out` must outlive the walk.
bool ppi_log_contents_skim(const char *path, ppi_log_file *file,
                           ppi_log_contents *out);

PPROF_END_C_
