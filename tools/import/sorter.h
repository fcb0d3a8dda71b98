// SPDX-License-Identifier: Apache-2.0
//
// Sorts records of one size by a number and then by a comparison, in bounded
// memory. Records that do not fit go to an unlinked temporary file.
#pragma once

#include "pprof/base.h"

// The temporary file that the sorters of one import share.
typedef struct ppi_spill {
  int fd;  // -1: not yet made
  uint64_t size;
  const char *beside;  // a file; its folder may have room
  int error_number;    // the first; then nothing more is sorted
} ppi_spill;

void ppi_spill_init(ppi_spill *spill, const char *beside);
void ppi_spill_close(ppi_spill *spill);

// Records begin with their key, a uint64_t. The sort is by `group`, then by
// key.
typedef struct ppi_sort_entry {
  uint64_t key;
  uint32_t group, at;
} ppi_sort_entry;

// A group's records in one sorted run.
typedef struct ppi_sort_piece {
  uint64_t offset, num;
  uint32_t group;
} ppi_sort_piece;

// Orders two records of one group and key.
typedef int (*ppi_sort_compare)(const void *a, const void *b);

typedef struct ppi_sorter {
  size_t record_size, memory;  // bytes of a record, and of all in memory
  ppi_sort_compare compare;
  ppi_spill *spill;
  unsigned char *records;
  ppi_sort_entry *entries, *scratch;
  size_t num, capacity;
  ppi_sort_piece *pieces;
  size_t num_pieces, pieces_capacity;
  uint64_t num_added;
} ppi_sorter;

void ppi_sorter_init(ppi_sorter *sorter, size_t record_size, size_t memory,
                     ppi_sort_compare compare, ppi_spill *spill);
void ppi_sorter_add(ppi_sorter *sorter, uint32_t group, const void *record);
// ppi_sorter_finish comes between the last record and the first merge.
void ppi_sorter_finish(ppi_sorter *sorter);
void ppi_sorter_clear(ppi_sorter *sorter);

typedef struct ppi_sort_source {
  unsigned char *buffer;
  size_t at, num;         // records in the buffer
  uint64_t offset, left;  // of records still in the file
  uint32_t order;         // among equal records the lower comes first
} ppi_sort_source;

// Merges all records of some groups in order. A sorter may be merged several
// times.
typedef struct ppi_sort_merge {
  ppi_sorter *sorter;
  ppi_sort_source *sources;
  uint32_t *heap;
  size_t num_sources, capacity, num_heap, buffer_records;
  bool started;
} ppi_sort_merge;

// `is_wanted` chooses by group; NULL: all.
void ppi_sort_merge_open(ppi_sort_merge *merge, ppi_sorter *sorter,
                         bool (*is_wanted)(const void *context, uint32_t group),
                         const void *context);
// ppi_sort_merge_next answers a record, valid until the next call; NULL: the
// end, or the spill failed.
const void *ppi_sort_merge_next(ppi_sort_merge *merge);
void ppi_sort_merge_close(ppi_sort_merge *merge);
