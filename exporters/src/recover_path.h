// SPDX-License-Identifier: Apache-2.0
//
// How far recover follows the paths that a spool names. Whoever made the file
// chose them, and a spool may have come from anywhere.
#ifndef PPI_RECOVER_PATH_H_
#define PPI_RECOVER_PATH_H_

#include "pprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_recover_place {
  const char *spool_path;
  const char *uuid;
  bool foreign;        // the spool is another user's
  const char *folder;  // what is directly in it is believed; NULL: none
} ppi_recover_place;

// ppi_recover_place_of answers the path for what the spool calls `told`, a log,
// a dump or its .part: `told` itself
//
//   - where this run has left a file of this user's under that name, a .part, a
//     log or a segment: only who could write there could put it there;
//   - in the believed folder, and beside the spool, where the log's name ends
//     in .pplog;
//
// else its last part, beside the spool where that is a file of this run, or in
// the current folder; of a name that does not end in .pplog, or of another
// user's spool with such a name, "pprof.UUID.pplog". The ending .part stays as
// it is in `told`. NULL: no memory.
char *ppi_recover_place_of(const ppi_recover_place *place, const char *told);

// Nothing yet, or the first bytes of a log's header, in what is called a .part.
bool ppi_recover_is_empty_part(const char *path);
bool ppi_recover_ends_in(const char *path, const char *ending);
// "pprof.UUID.pplog", of a uuid that may be anything. NULL: no memory.
char *ppi_recover_name_of(const char *uuid);

#ifdef __cplusplus
}
#endif

#endif  // PPI_RECOVER_PATH_H_
