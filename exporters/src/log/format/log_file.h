// SPDX-License-Identifier: Apache-2.0
//
// The walk over a log's blocks that reader, recover, `info` and `check` share.
#pragma once

#include "log/format/log_format.h"

PPROF_BEGIN_C_

typedef struct ppi_log_block {
  uint64_t offset, size;  // in the file
  ppi_log_header header;
  const ppi_log_run *runs;
  const uint8_t *bytes;   // the block as it is stored
  const uint8_t *stored;  // its payload
  bool ok;                // the payload's checksum agrees
  uint32_t run;           // index of the run in the file: 0, 1 ...
} ppi_log_block;          // borrowed until the next call

typedef struct ppi_log_damage {
  uint64_t first_offset;  // offset of the first unreadable byte
  uint64_t num_bytes;     // all unreadable ones
  uint64_t num_missing;   // blocks that are missing, by their numbers
  bool cut;               // the unreadable bytes reach the run's end
} ppi_log_damage;

typedef struct ppi_log_file ppi_log_file;
// Errors: IO (missing, unreadable), INVALID (not a log), VERSION (a newer
// major version), NO_MEMORY.
pprof_status ppi_log_file_open(const char *path, ppi_log_file **out,
                               pprof_error *error);
void ppi_log_file_close(ppi_log_file *file);
// From now on the payloads of events and checkpoints are skipped. Only header
// and runs of their blocks are read and answered, and all are ok.
void ppi_log_file_skim(ppi_log_file *file);
// The next blocks are those at `offsets`, in order, then the one at `end`,
// where the walk goes on; blocks between them are skipped. Call it before the
// first block of a run; `offsets` must outlive that run.
void ppi_log_file_jump(ppi_log_file *file, const uint64_t *offsets, size_t num,
                       uint64_t end);
// The block at `offset`, without a walk; false: there is none.
bool ppi_log_file_look(ppi_log_file *file, uint64_t offset, ppi_log_block *out);
// The next block of the run, without bytes that are no block; false at the
// run's end. Damaged blocks are answered, too, and already counted.
bool ppi_log_file_next(ppi_log_file *file, ppi_log_block *out);
// Goes on to the next run and skips the rest of this one. *out_more: there is
// one. Errors: VERSION.
pprof_status ppi_log_file_next_run(ppi_log_file *file, const char *path,
                                   bool *out_more, pprof_error *error);
// Goes to the run at `offset`, an answer of ppi_log_file_run_offset. The run's
// index is then unknown.
pprof_status ppi_log_file_seek_run(ppi_log_file *file, uint64_t offset,
                                   const char *path, pprof_error *error);
uint64_t ppi_log_file_run_offset(const ppi_log_file *file);
// The run's stored header; NULL: damaged.
const uint8_t *ppi_log_file_header(const ppi_log_file *file);
const ppi_log_damage *ppi_log_file_damage(const ppi_log_file *file);
void ppi_log_damage_add(ppi_log_damage *sum, const ppi_log_damage *more);
// Counts a block with a valid checksum that its reader could not use.
void ppi_log_file_count_bad(ppi_log_file *file, const ppi_log_block *block);
const char *ppi_log_file_uuid(const ppi_log_file *file);  // "" when damaged
// Formats CORRUPT's text, "file@0xOFFSET: ...", or answers OK when there is
// no damage. `complete`: the totals were found.
pprof_status ppi_log_damage_report(const ppi_log_damage *damage,
                                   const char *path, bool complete,
                                   pprof_error *error);

// ppi_log_scan shows every block of every run without inflating any. `visit`
// may be NULL; a status other than OK ends the scan with that status. *damage,
// of all runs, is set on OK and on CORRUPT.
typedef pprof_status (*ppi_log_visit)(void *user, const ppi_log_block *block);
pprof_status ppi_log_scan(const char *path, ppi_log_visit visit, void *user,
                          ppi_log_damage *damage, pprof_error *error);

PPROF_END_C_
