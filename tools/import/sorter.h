// SPDX-License-Identifier: Apache-2.0
//
// External sort: records of one size, by a number and then by a comparison, in
// bounded memory. What does not fit goes to an unlinked temporary file.
#pragma once

#include "pprof/base.h"

// The temporary file that the sorters of one import share.
typedef struct ppi_spill {
  int fd;  // -1: not yet made
  uint64_t size;
  const char *beside;  // a file in whose folder there may be room
  int error_number;
} ppi_spill;

void ppi_spill_init(ppi_spill *spill, const char *beside);
void ppi_spill_close(ppi_spill *spill);

// Records begin with a uint64_t, the key. `group` comes before it.
typedef struct ppi_sort_entry {
  uint64_t key;
  uint32_t group, at;
} ppi_sort_entry;

// A group's records in one sorted run.
typedef struct ppi_sort_piece {
  uint64_t offset, num;
  uint32_t group;
} ppi_sort_piece;

// What decides between two records of one group and key.
typedef int (*ppi_sort_compare)(const void *a, const void *b);

typedef struct ppi_sorter {
  size_t record_size, memory;  // of records held at once, in bytes
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
pprof_status ppi_sorter_add(ppi_sorter *sorter, uint32_t group,
                            const void *record);
// ppi_sorter_finish comes between the last record and the first merge.
pprof_status ppi_sorter_finish(ppi_sorter *sorter);
void ppi_sorter_clear(ppi_sorter *sorter);

typedef struct ppi_sort_source {
  unsigned char *buffer;
  size_t at, num;         // records in the buffer
  uint64_t offset, left;  // of those still in the file
  uint32_t order;         // of equal records the earlier comes first
} ppi_sort_source;

// All records of some groups, in order. It may be run again and again.
typedef struct ppi_sort_merge {
  ppi_sorter *sorter;
  ppi_sort_source *sources;
  uint32_t *heap;
  size_t num_sources, capacity, num_heap, buffer_records;
  bool started;
  pprof_status status;
} ppi_sort_merge;

// `is_wanted` chooses by group; NULL: all.
pprof_status ppi_sort_merge_open(ppi_sort_merge *merge, ppi_sorter *sorter,
                                 bool (*is_wanted)(const void *context,
                                                   uint32_t group),
                                 const void *context);
// ppi_sort_merge_next is valid until the next call; NULL: the end, or a failure
// (`status`).
const void *ppi_sort_merge_next(ppi_sort_merge *merge);
void ppi_sort_merge_close(ppi_sort_merge *merge);
