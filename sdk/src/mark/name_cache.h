// SPDX-License-Identifier: Apache-2.0
//
// A thread's cache of names (mark_name.c).
#pragma once

#include "event/fold.h"

#define PPI_NAME_CACHE 256u
#define PPI_NAME_COPIES ((size_t)16384)

// A name by its address, or by its text's hash: only a hint, content decides.
// `epoch` and `id` are atomic: the collector clears an entry's epoch before its
// id goes to another name (ppi_name_cache_drop).
typedef struct ppi_cached_name {
  uintptr_t key;
  const char *text;  // in `copies`, or among the session's names
  uint32_t epoch, category, id;
  // For an address: recent changes of its text. At PPI_NAME_CHANGES its text is
  // found by hash alone.
  uint32_t changes;
} ppi_cached_name;
#define PPI_NAME_CHANGES 4u

// A shape that names fold into, by the head of its names: content decides, too.
// Its site keeps its id.
#define PPI_SHAPE_CACHE 64u
typedef struct ppi_cached_shape {
  const char *text;  // among the session's names
  uint32_t epoch, category, id;
  uint32_t reported;  // ppi_reported
  ppi_fold_pieces pieces;
} ppi_cached_shape;

typedef struct ppi_name_cache {
  ppi_cached_name by_address[PPI_NAME_CACHE];
  ppi_cached_name by_text[PPI_NAME_CACHE];
  // Texts of cached names side by side, as long as there is room: in the spool
  // they take twice as many cache lines.
  uint32_t copies_epoch, copies_used;
  // Owner: the generation of the names when the cache was last emptied
  // (names_old.h). Entries written after a change have ids that are in the
  // table then.
  uint32_t generation;
  uint32_t seen;  // collector: the turn in which the thread was in no marker
  pprof_numbers numbers;  // owner: of the name looked up last that has any
  char copies[PPI_NAME_COPIES] __attribute__((aligned(64)));
  ppi_cached_shape shapes[PPI_SHAPE_CACHE];
} ppi_name_cache;
