// SPDX-License-Identifier: Apache-2.0
//
// The place of a log: its wanted and its actual name, and why its file cannot
// be reached any more. Used by the log writer only.
#pragma once

#include <sys/stat.h>

#include "base/descriptor.h"
#include "event/event.h"
#include "file/part.h"

typedef struct ppi_log_place {
  ppi_part part;          // owned until the I/O thread takes it
  ppi_path wanted;        // the wanted name
  char note[256];         // a message that the name differs; ""
  struct stat done;       // the file of the runs that are finished
  ppi_path segment_path;  // the file that is being written, in the end
  // The program's user and root when the log was begun.
  uid_t user;
  ppi_fd_id root;
  char why[160];  // changes since
} ppi_log_place;

// ppi_log_place_open takes the name, or the next free one beside it.
pprof_status ppi_log_place_open(ppi_log_place *place, const char *path,
                                bool in_segments, pprof_error *error);
// `has_file`: something was written to the file.
void ppi_log_place_clear(ppi_log_place *place, bool has_file);
// ppi_log_place_taken answers the wanted name, for the run's info, if the log
// has another one; else NULL.
const char *ppi_log_place_taken(const ppi_log_place *place);
// ppi_log_place_reopen makes the finished file unfinished again, for a further
// run at its end. Answers errno or 0.
int ppi_log_place_reopen(ppi_log_place *place);
// ppi_log_place_settle gives the file its name, or one beside a file that has
// come there since. Answers errno or 0.
int ppi_log_place_settle(ppi_log_place *place);
// ppi_log_place_note_aside: segments have a number behind theirs.
void ppi_log_place_note_aside(ppi_log_place *place, uint32_t num);
// ppi_log_place_is_elsewhere: the program has another root than at the start.
bool ppi_log_place_is_elsewhere(const ppi_log_place *place);
// ppi_log_place_reason explains why its files failed with `error`.
const char *ppi_log_place_reason(ppi_log_place *place, int error);
