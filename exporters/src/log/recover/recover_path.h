// SPDX-License-Identifier: Apache-2.0
//
// Decides which of a spool's paths recover follows. The spool's author chose
// them, and a spool may come from anywhere.
#pragma once

#include "file/part.h"

typedef struct ppi_recover_place {
  const char *spool_path;
  const char *uuid;
  bool foreign;        // the spool is another user's
  const char *folder;  // trust files directly in it; NULL: none
} ppi_recover_place;

// ppi_recover_place_of answers the path for a run's .part or dump, as the spool
// reports it. It is the reported path itself where this user has a file of this
// run (a .part, a log or a segment): only who may write there can put one
// there. With a name that ends in .pplog, the trusted folder and the spool's
// folder do, too. Else it is the last part of that path: beside the spool, if a
// file of this run is there, or in the current folder. A name that does not end
// in .pplog becomes one of the run's uuid. Of another user's spool it is the
// current folder in any case.
ppi_path ppi_recover_place_of(const ppi_recover_place *place,
                              const char *reported);

bool ppi_recover_is_part(const char *path);
ppi_path ppi_recover_without_part(const char *path);
// A file named .part that is empty, or has the first bytes of a log's header.
bool ppi_recover_is_empty_part(const char *path);
// "pprof.UUID" and the ending; the uuid may be any text.
ppi_path ppi_recover_name_of(const char *uuid, const char *ending);
