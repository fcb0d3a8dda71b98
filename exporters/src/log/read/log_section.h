// SPDX-License-Identifier: Apache-2.0
//
// The runs of a log as bytes: where each stands, what is known of it without
// its events, and its readable bytes one piece after the other. For verbs that
// put logs together.
#pragma once

#include "log/format/log_file.h"
#include "log/format/log_format.h"

PPROF_BEGIN_C_

// One run of a log file. Its readable bytes are its header (made again when
// that is damaged) and each whole block, in order; of a run that is whole they
// are the very bytes of the file.
typedef struct ppi_log_section {
  uint64_t offset;                  // for ppi_log_file_seek_run
  uint64_t len;                     // of the readable bytes; 0: there are none
  uint32_t crc;                     // of the readable bytes
  bool complete;                    // its last block is the end of totals
  char uuid[PPI_LOG_UUID_LEN + 1];  // "" unknown
  uint64_t base_ns;                 // time_base_realtime_ns; 0: unknown
  uint32_t segment;                 // of the run, from 1; 0: all of it
  char compressor[16];              // "" unknown
  char name_taken[256];             // the name that it could not have; "": none
  ppi_log_damage damage;
} ppi_log_section;

// ppi_log_sections lists the runs of `path`, in order of the file, in an array
// of its own (ppi_free).
//
// Errors: IO, INVALID, VERSION, NO_MEMORY. Damage is no error.
pprof_status ppi_log_sections(const char *path, ppi_log_section **out,
                              size_t *out_num, pprof_error *error);

// Which run begins at `offset`, and which segment of it: uuid, base_ns,
// segment, compressor and name_taken of `*out`. Reads no further than the run
// info.
pprof_status ppi_log_peek(const char *path, uint64_t offset,
                          ppi_log_section *out);

// Whether `next` is a later segment of the run of `section`.
bool ppi_log_section_goes_on(const ppi_log_section *section,
                             const ppi_log_section *next);

// The readable bytes of a section, piece by piece.
typedef struct ppi_log_pieces {
  ppi_log_file *file;
  const ppi_log_section *section;
  uint64_t done;  // bytes answered so far
  uint8_t header[PPI_LOG_FILE_HEADER_SIZE];
} ppi_log_pieces;

// `section` stays the caller's and must outlive the pieces.
pprof_status ppi_log_pieces_open(ppi_log_pieces *pieces, const char *path,
                                 const ppi_log_section *section,
                                 pprof_error *error);
// False after section->len bytes, or earlier when the file has changed. The
// bytes are borrowed until the next call.
bool ppi_log_pieces_next(ppi_log_pieces *pieces, const uint8_t **out,
                         size_t *out_len);
void ppi_log_pieces_close(ppi_log_pieces *pieces);

PPROF_END_C_
