// SPDX-License-Identifier: Apache-2.0
//
// Ranges by the ranges around them, as a tree of names. The sweep fills it,
// outer ranges first. With details.paths or flat_paths.
#pragma once

#include "report/parts/ids.h"

PPROF_BEGIN_C_

// The maximum number of paths of a run; ranges on further paths are left out.
#define PPI_RUN_MAX_PATHS 65536u

// With details.kernels.
typedef struct ppi_path_use {
  ppi_device_use sums;
  ppi_union busy;
} ppi_path_use;

typedef struct ppi_run_path {
  uint32_t around;  // the path directly around it; 0: none
  uint32_t site;
  uint32_t level;            // from 1
  uint64_t inner_ns;         // of direct children; a loose range counts itself
  uint64_t wall_ns, low_ns;  // the union of host ranges, as in ppi_run_category
  ppi_spread rest;           // not counted at its site yet
  ppi_histogram rest_times;
  ppi_histogram times;  // of the other ranges; at the end of all
  ppi_spread spread;
  bool on_device;          // device ranges that were submitted there
  uint64_t num_untimed;    // untimed device ranges, not in times and spread
  ppi_union own;           // the union of device ranges
  ppi_path_use *use;       // of work launched there; NULL: there is none
  ppi_device_sums inside;  // device time submitted in host ranges
} ppi_run_path;

#define PPI_PATHS_RECENT 4096  // a power of two

// A cached lookup of a path.
typedef struct ppi_recent_path {
  uint64_t key;  // see ppi_paths_key; 0: none
  uint32_t number;
} ppi_recent_path;

// A length to be counted later. Histograms are scattered over memory; in one
// batch, their cache misses overlap.
typedef struct ppi_path_length {
  uint64_t ns;
  uint32_t number;
  uint32_t flags;  // of the range
} ppi_path_length;

enum { PPI_PATH_LENGTHS = 64 };

// All zero is the empty one. Path 0 is none.
typedef struct ppi_paths {
  bool is_flat;  // no path has a parent
  ppi_map numbers;
  ppi_run_path *items;  // by number - 1
  size_t num, capacity;
  uint64_t num_dropped;  // ranges
  bool is_cut;           // ranges lay below the last level
  ppi_recent_path recent[PPI_PATHS_RECENT];
  ppi_path_length lengths[PPI_PATH_LENGTHS];
  size_t num_lengths;
} ppi_paths;

// As in ppi_run_path.
typedef struct ppi_path_place {
  uint32_t around, site;
  bool on_device;
} ppi_path_place;

// ppi_paths_at answers the path's number in `out`, 0 beyond the bound.
bool ppi_paths_at(ppi_paths *paths, const ppi_path_place *key, uint32_t *out);
// ppi_paths_find does so for host ranges.
bool ppi_paths_find(ppi_paths *paths, uint32_t around, uint32_t site,
                    uint32_t *out);
static inline uint64_t ppi_paths_key(uint32_t around, uint32_t site,
                                     bool on_device) {
  return (((uint64_t)around << 32 | site) + 1) | (uint64_t)on_device << 63;
}
// ppi_paths_recent answers the cache entry of a key: each has two places.
static inline ppi_recent_path *ppi_paths_recent(ppi_paths *paths,
                                                uint64_t key) {
  uint32_t at = ((uint32_t)(key >> 32) * 61 + (uint32_t)key) % PPI_PATHS_RECENT;
  return paths->recent[at].key == key
             ? &paths->recent[at]
             : &paths->recent[at ^ PPI_PATHS_RECENT / 2];
}
// ppi_paths_seen is ppi_paths_at for paths that come again and again.
static inline bool ppi_paths_seen(ppi_paths *paths, const ppi_path_place *place,
                                  uint32_t *out) {
  uint64_t key = ppi_paths_key(place->around, place->site, place->on_device);
  ppi_recent_path *recent = ppi_paths_recent(paths, key);
  *out = recent->number;
  if (PPI_LIKELY(recent->key == key)) return true;
  bool done = ppi_paths_at(paths, place, out);
  if (!done || !*out) return done;
  ppi_recent_path *first =
      &paths->recent[(recent - paths->recent) ^ PPI_PATHS_RECENT / 2];
  *recent = *first;
  *first = (ppi_recent_path){key, *out};
  return true;
}
static inline bool ppi_paths_on_host(ppi_paths *paths, uint32_t around,
                                     uint32_t site, uint32_t *out) {
  const ppi_path_place place = {paths->is_flat ? 0 : around, site, false};
  return ppi_paths_seen(paths, &place, out);
}
// ppi_paths_item is valid until the next path is added.
static inline ppi_run_path *ppi_paths_item(ppi_paths *paths, uint32_t number) {
  return number ? &paths->items[number - 1] : NULL;
}
bool ppi_paths_count(ppi_paths *paths);
// ppi_paths_note stores a length for ppi_paths_count; `lengths` has room.
static inline void ppi_paths_note(ppi_paths *paths, uint32_t number,
                                  uint64_t length_ns, uint32_t flags) {
  paths->lengths[paths->num_lengths++] =
      (ppi_path_length){length_ns, number, flags};
}
// ppi_paths_take counts a finished range of path `number`, not 0. `sums`:
// device time submitted in it; NULL: none.
static inline bool ppi_paths_take(ppi_paths *paths, uint32_t number,
                                  const ppi_buffered *range,
                                  const ppi_device_sums *sums) {
  ppi_run_path *path = &paths->items[number - 1];
  uint64_t length_ns = range->end_ns - range->start_ns;
  if (range->flags & PPI_BUFFERED_LOOSE) path->inner_ns += length_ns;
  if (sums) ppi_device_sums_add(&path->inside, sums);
  ppi_paths_note(paths, number, length_ns, range->flags);
  return paths->num_lengths < PPI_PATH_LENGTHS || ppi_paths_count(paths);
}
// ppi_paths_device counts a device range that was submitted in path `around`;
// `out` is its own path, 0 where it has none.
bool ppi_paths_device(ppi_paths *paths, uint32_t around, const ppi_point *point,
                      uint32_t *out);
// ppi_paths_add moves host paths that a worker summed up. `out_dropped` becomes
// true where there are more than PPI_RUN_MAX_PATHS.
bool ppi_paths_add(ppi_paths *paths, ppi_paths *from, bool *out_dropped);
// ppi_paths_tell is called once, at the end. It adds uncounted lengths to their
// sites, as the rest of first calls.
bool ppi_paths_tell(ppi_paths *paths, ppi_run_ids *ids);
bool ppi_paths_fill(ppi_paths *paths, ppi_run_ids *ids, ppi_figures *out);
void ppi_paths_clear(ppi_paths *paths);

PPROF_END_C_
