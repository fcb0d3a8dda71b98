// SPDX-License-Identifier: Apache-2.0
//
// What a long log says before its totals: how many events it holds, and where
// everything else is. With it `info` does not walk over all blocks. The log
// writer notes blocks as it accepts them; a reader looks for it from the end.
#pragma once

#include "log/format/log_block.h"
#include "log/format/log_file.h"
#include "log/format/log_format.h"

PPROF_BEGIN_C_

enum {
  // Of logs of fewer blocks the headers are soon read.
  PPI_LOG_CONTENTS_MIN_BLOCKS = 1024,
  // Beyond it there are no contents: they must fit one block.
  PPI_LOG_CONTENTS_MAX_OFFSETS = 4096,
  PPI_LOG_CONTENTS_NUM_TYPES = 2
};

// The blocks of a type that are not listed by their offsets.
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
  size_t num_offsets;  // more than there is room for: of no use
} ppi_log_contents;

// The type with the sums at `i`.
static inline ppi_log_type ppi_log_contents_type(size_t i) {
  return i == 0 ? PPI_LOG_EVENTS : PPI_LOG_CHECKPOINT;
}

// ppi_log_contents_note counts whole blocks that go into the log.
void ppi_log_contents_note(ppi_log_contents *contents, const uint8_t *blocks,
                           size_t len);
// ppi_log_contents_put closes what the assembler has gathered, all of which
// must have been noted, and puts the contents behind it, if they are of use.
pprof_status ppi_log_contents_put(const ppi_log_contents *contents,
                                  ppi_log_assembler *assembler);

// ppi_log_contents_find reads the contents of a log of one run. False: it has
// none, or they are not what the file holds.
bool ppi_log_contents_find(const char *path, ppi_log_contents *out);
// ppi_log_contents_skim makes `file`, of that path and at its beginning, leave
// out what events and checkpoints hold, and with contents (true) all of their
// blocks up to there. `out` must outlive the walk.
bool ppi_log_contents_skim(const char *path, ppi_log_file *file,
                           ppi_log_contents *out);

PPROF_END_C_
