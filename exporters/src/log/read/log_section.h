// SPDX-License-Identifier: Apache-2.0
//
// The runs of a log as bytes: the position of each, its properties without
// events, and its readable bytes piece by piece. For verbs that merge logs.
#pragma once

#include "log/format/log_file.h"

PPROF_BEGIN_C_

// One run of a log file. Its readable bytes are its header (made again if
// damaged) and each whole block, in order. For a complete run they equal the
// file's bytes.
typedef struct ppi_log_section {
  uint64_t offset;                  // for ppi_log_file_seek_run
  uint64_t len;                     // of the readable bytes; 0: none
  uint32_t crc;                     // of the readable bytes
  bool complete;                    // its last block is the end of totals
  char uuid[PPI_LOG_UUID_LEN + 1];  // "" unknown
  uint64_t base_ns;                 // time_base_realtime_ns; 0: unknown
  uint32_t segment;                 // of the run, from 1; 0: the whole run
  char compressor[16];              // "" unknown
  char name_taken[256];             // the wanted name that was taken; "": none
  ppi_log_damage damage;
} ppi_log_section;

// ppi_log_sections lists the runs of `path`, in order of the file, in an array
// of its own (ppi_free).
//
// Errors: IO, INVALID, VERSION, NO_MEMORY. Damage is no error.
pprof_status ppi_log_sections(const char *path, ppi_log_section **out,
                              size_t *out_num, pprof_error *error);

// Identifies the run that begins at `offset`, and its segment: uuid, base_ns,
// segment, compressor and name_taken of `*out`. Reads up to the run info only.
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

// `section` belongs to the caller and must outlive the pieces.
pprof_status ppi_log_pieces_open(ppi_log_pieces *pieces, const char *path,
                                 const ppi_log_section *section,
                                 pprof_error *error);
// False after section->len bytes, or earlier if the file has changed. The bytes
// are borrowed until the next call.
bool ppi_log_pieces_next(ppi_log_pieces *pieces, const uint8_t **out,
                         size_t *out_len);
void ppi_log_pieces_close(ppi_log_pieces *pieces);

PPROF_END_C_
