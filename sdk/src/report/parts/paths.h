// SPDX-License-Identifier: Apache-2.0
//
// Ranges by what lies around them: a tree of names, filled while the sweep
// meets each range after those around it. With details.paths or flat_paths.
#ifndef PPI_REPORT_PATHS_H_
#define PPI_REPORT_PATHS_H_

#include "report/parts/ids.h"

#ifdef __cplusplus
extern "C" {
#endif

// Paths that a run tells apart; ranges on further ones are left out.
#define PPI_RUN_MAX_PATHS 65536u

typedef struct ppi_run_path {
  uint32_t around;  // the path directly around it; 0: none
  uint32_t site;
  bool on_device;  // device ranges that were submitted there
  ppi_spread spread;
  ppi_histogram times;
  uint64_t num_untimed;      // device ranges without a time, not in the two
  uint64_t inner_ns;         // of ranges directly inside; of loose ones all
  uint64_t wall_ns, low_ns;  // the union of host ranges, as of a category
  ppi_union own;             // on the device: that of these ranges
  ppi_union busy;            // with details.kernels: of what was launched there
  ppi_device_use use;        // the same
  ppi_device_sums inside;    // device time submitted in host ranges
} ppi_run_path;

// All zero is the empty one. Path 0 is none.
typedef struct ppi_paths {
  bool is_flat;  // nothing is around anything
  ppi_map numbers;
  ppi_run_path *items;  // by number - 1
  size_t num, capacity;
  uint64_t num_dropped;  // ranges
} ppi_paths;

// ppi_paths_at answers the path's number in `out`, 0 beyond the bound.
pprof_status ppi_paths_at(ppi_paths *paths, const ppi_run_path *key,
                          uint32_t *out);
// ppi_paths_item is valid until the next path is added.
static inline ppi_run_path *ppi_paths_item(ppi_paths *paths, uint32_t number) {
  return number ? &paths->items[number - 1] : NULL;
}
// ppi_paths_take counts a finished range.
pprof_status ppi_paths_take(ppi_paths *paths, uint32_t number,
                            const ppi_held *range, const ppi_device_sums *sums);
// ppi_paths_device counts a device range that was submitted in path `around`;
// `out` is its own path, 0 where it has none.
pprof_status ppi_paths_device(ppi_paths *paths, uint32_t around,
                              const ppi_point *point, uint32_t *out);
pprof_status ppi_paths_fill(ppi_paths *paths, ppi_run_ids *ids,
                            ppi_figures *out);
void ppi_paths_clear(ppi_paths *paths);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_PATHS_H_
