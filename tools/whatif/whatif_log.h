// SPDX-License-Identifier: Apache-2.0
//
// One run as `whatif` replays it: ranges on rows (threads and streams), which
// requests they serve, and where steps end. A sink; one thread.
#ifndef PPI_WHATIF_LOG_H_
#define PPI_WHATIF_LOG_H_

#include "base/map.h"
#include "export/names.h"
#include "pprof/event.h"

#ifdef __cplusplus
extern "C" {
#endif

// More ranges than this are not replayed.
enum { PPI_WHATIF_MOST_RANGES = 1 << 22 };

// A name on the host or on devices.
typedef struct ppi_whatif_stage {
  const char *name;  // the log's
  bool on_device;
  uint64_t calls, total_ns;
} ppi_whatif_stage;

// Ids count from 1, 0 is none.
typedef struct ppi_whatif_range {
  uint64_t start_ns, end_ns;
  uint32_t row, depth;
  uint32_t stage;   // id; 0: a point, which takes no time
  uint32_t submit;  // id of the point on a thread where a device was asked
  uint32_t parent;  // id; the range around it on its row
  uint32_t num_flows;
  size_t first_flow;
} ppi_whatif_range;

typedef struct ppi_whatif_row {
  uint32_t name;  // row of `names`
  bool is_stream;
  uint32_t num_ranges;
} ppi_whatif_row;

typedef struct ppi_whatif_log {
  pprof_sink base;
  ppi_export_names names;
  ppi_map row_numbers, stage_numbers;
  ppi_whatif_row *rows;
  size_t num_rows, rows_capacity;
  ppi_whatif_stage *stages;
  size_t num_stages, stages_capacity;
  ppi_whatif_range *ranges;
  size_t num_ranges, ranges_capacity;
  uint64_t *flows;  // of ranges
  size_t num_flows, flows_capacity;
  uint64_t *cut;  // requests of which something was cut
  size_t num_cut, cut_capacity;
  uint64_t *steps_ns;  // ends of whole ones
  size_t num_steps, steps_capacity;
  size_t num_runs;
  uint64_t num_untimed, num_lost;
  bool too_many;
} ppi_whatif_log;

// The sink is `base`; its `destroy` is NULL, ppi_whatif_log_clear frees. Of
// several runs it takes the first, and counts them.
void ppi_whatif_log_init(ppi_whatif_log *log);
void ppi_whatif_log_clear(ppi_whatif_log *log);
// ppi_whatif_log_settle: all is read. Names of stages are there from then on,
// and numbers in order.
void ppi_whatif_log_settle(ppi_whatif_log *log);
// ppi_whatif_log_point adds a point in time on a row. Answers its id; 0: out of
// memory.
uint32_t ppi_whatif_log_point(ppi_whatif_log *log, uint32_t row,
                              uint64_t time_ns);
static inline ppi_whatif_range *ppi_whatif_range_at(const ppi_whatif_log *log,
                                                    uint32_t id) {
  return &log->ranges[id - 1];
}

#ifdef __cplusplus
}
#endif

#endif  // PPI_WHATIF_LOG_H_
