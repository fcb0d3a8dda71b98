// SPDX-License-Identifier: Apache-2.0
//
// A report while its run is being delivered: everything by id, plus what is
// held until a checkpoint or the end decides it. Sink thread only.
#ifndef PPI_REPORT_RUN_H_
#define PPI_REPORT_RUN_H_

#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

// Items by id; a damaged log may claim any id, so they have a bound.
#define PPI_RUN_MAX_ID (1u << 22)
typedef struct ppi_run_table {
  void **items;
  size_t num, capacity;
} ppi_run_table;

typedef struct ppi_run_category {
  char *name;
  uint64_t host_calls, device_calls;
  ppi_union host, device;
} ppi_run_category;

typedef struct ppi_run_site {
  char *name;
  uint32_t category;
  ppi_spread host, submit, device;
  ppi_histogram host_times, device_times;
  ppi_scope_row row;      // of UserDefined host ranges
  ppi_spread own;         // of UserDefined device ranges
  bool has_pairs;         // `own` is what its host ranges took, too
  ppi_messages messages;  // of Communication
} ppi_run_site;

typedef struct ppi_run_lane {
  uint64_t thread;
} ppi_run_lane;

typedef struct ppi_run_device {
  char *name;
  uint64_t ranges, untimed;
  bool has_kernels, incomplete;
  ppi_identity identity;
} ppi_run_device;

typedef struct ppi_run_stream {
  uint32_t device;
} ppi_run_stream;

// The lane is the batch's: its order is the order of adding.
typedef struct ppi_run_work {
  uint32_t site, lane;
  uint64_t num_values;
  double items, bytes, flops, params, value;
} ppi_run_work;

typedef struct ppi_run_queue {
  uint32_t site, device;
  ppi_queue sums;
} ppi_run_queue;

// Inner paired ranges of one lane and stream whose outer one is still to come,
// by start. Where no range is left that might begin between two, they are one.
typedef struct ppi_run_pairs {
  uint32_t lane, stream;
  struct {
    uint64_t start_ns, sum_ns;
  } * items;
  size_t num, capacity;
} ppi_run_pairs;

typedef struct ppi_run_thread {
  uint64_t number;
  ppi_scopes scopes;
} ppi_run_thread;

typedef struct ppi_run {
  ppi_report_input input;
  ppi_run_table categories, sites, lanes, devices, streams;
  ppi_run_thread *threads;  // sorted by number; 0 is the process
  size_t num_threads, threads_capacity;
  ppi_run_work *work;  // sorted by site, then lane
  size_t num_work, work_capacity;
  ppi_run_queue *queues;  // sorted by site, then device
  size_t num_queues, queues_capacity;
  ppi_run_pairs *pairs;  // sorted by lane, then stream
  size_t num_pairs, pairs_capacity;
  ppi_scope_row phases[PPI_NUM_PHASES];
  ppi_windows windows;
  uint32_t *window_indexes;  // of windows.items
  size_t window_indexes_capacity;
  // Steps that a device defined later may still need to know.
  ppi_identity steps;
  uint64_t num_steps;
  ppi_device_sums device_sums;
  uint64_t last_ns;        // the greatest time seen
  uint64_t checkpoint_ns;  // of the last checkpoint
  uint64_t identity_ns;    // how far the next one may settle identities
  bool has_kernels, lost_device;
} ppi_run;

pprof_status ppi_run_begin(ppi_run *run, const pprof_run_info *info);
pprof_status ppi_run_define(ppi_run *run, const pprof_definition *definition);
pprof_status ppi_run_events(ppi_run *run, const pprof_batch *batch);
pprof_status ppi_run_checkpoint(ppi_run *run,
                                const pprof_checkpoint *checkpoint);
// ppi_run_settle_devices settles the devices and the steps' time before
// `horizon_ns`, together, as ppi_identity_settle says.
pprof_status ppi_run_settle_devices(ppi_run *run, uint64_t horizon_ns);
pprof_status ppi_run_window(ppi_run *run, uint32_t index, bool opens,
                            uint64_t time_ns);
pprof_status ppi_run_finish(ppi_run *run, const pprof_totals *totals,
                            ppi_figures *out);
void ppi_run_clear(ppi_run *run);

// Lookups; they add what is missing, and answer NULL when out of memory or
// for an id beyond the bound.
ppi_run_category *ppi_run_category_at(ppi_run *run, uint32_t id);
ppi_run_site *ppi_run_site_at(ppi_run *run, uint32_t id);
ppi_run_device *ppi_run_device_at(ppi_run *run, uint32_t id);
uint32_t ppi_run_device_id(const ppi_run *run, uint32_t stream);  // 0: none
ppi_run_device *ppi_run_device_of(ppi_run *run, uint32_t stream);
// ppi_run_queue_of finds the queue of a device range; valid until the next
// call.
ppi_queue *ppi_run_queue_of(ppi_run *run, const pprof_event *event);
ppi_run_thread *ppi_run_thread_of(ppi_run *run, uint32_t lane);
ppi_run_thread *ppi_run_process(ppi_run *run);

// ppi_run_pair_time turns the device time of a timed paired range into what it
// adds to the host ranges around it: that without the paired ranges inside it,
// which add theirs. So any host range has the time of the outermost in it. The
// inner ones come first: they end first on their stream.
pprof_status ppi_run_pair_time(ppi_run *run, const pprof_event *event,
                               uint64_t *length_ns);
// ppi_run_settle_pairs forgets what no range still to come can hold.
pprof_status ppi_run_settle_pairs(ppi_run *run,
                                  const pprof_checkpoint *checkpoint);
void ppi_run_clear_pairs(ppi_run *run);

// What a category means to the tables.
int ppi_phase_of(uint32_t category);  // a ppi_phase_kind, or -1
bool ppi_is_user_defined(uint32_t category);
uint32_t ppi_category_of_phase(int phase);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_RUN_H_
