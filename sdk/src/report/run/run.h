// SPDX-License-Identifier: Apache-2.0
//
// A report while its run is being delivered: everything by id, plus what is
// held until a checkpoint or the end decides it. Sink thread only.
#ifndef PPI_REPORT_RUN_H_
#define PPI_REPORT_RUN_H_

#include "base/map.h"
#include "report/figures/figures.h"
#include "report/run/distribution.h"
#include "report/run/hold.h"
#include "report/run/identity.h"
#include "report/run/interference.h"
#include "report/run/memory.h"
#include "report/run/nest.h"
#include "report/run/perf.h"
#include "report/run/requests.h"
#include "report/run/scope.h"
#include "report/run/sites.h"

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
  // Of other categories' ranges, by flag; in the end all.
  uint64_t host_calls, host_cut;
  uint64_t host_ns;  // the union of host ranges, as far as it is settled
  uint64_t low_ns;   // of a sweep: the lowest time that is in it
  uint64_t device_calls;
  ppi_union host;  // of steps only
  ppi_union device;
} ppi_run_category;

// What a category means to the tables.
enum {
  PPI_TRAIT_PHASE = 1,  // of the Model table, steps aside
  PPI_TRAIT_STEP = 2,
  PPI_TRAIT_DATALOADER = 4,
  PPI_TRAIT_COMMUNICATION = 8,
  PPI_TRAIT_RUNTIME = 16,
  PPI_TRAIT_OPERATOR = 32,
  PPI_TRAIT_OWNS_MEMORY = 64,
  PPI_TRAIT_PADDLE_COMMUNICATION = 128
};

// The ranges of one site, or of one site on one thread.
typedef struct ppi_run_row {
  ppi_spread host;
  uint64_t self_ns;
  ppi_histogram host_times;
  ppi_spread submit;  // host sides of device ranges
  ppi_spread own;     // their device times
  bool has_pairs;     // `own` is what its host ranges took, too
  bool is_sum;        // of threads: with `inside` of those without pairs
  ppi_device_spreads inside;  // of host ranges, as far as anything is
} ppi_run_row;

// What the sweep needs of each site, close together.
typedef struct ppi_run_mark {
  ppi_run_category *place;
  uint32_t traits;
} ppi_run_mark;

// What every range needs comes first.
typedef struct ppi_run_site {
  ppi_run_category *place;  // of its category; NULL: not looked up yet
  uint32_t category, traits;
  ppi_run_row row;
  uint64_t num_async;
  ppi_device_sums innermost;  // submitted in no range nested in these
  char *name;
  bool is_defined;
  ppi_spread device;
  ppi_histogram device_times;
  ppi_messages messages;  // of Communication
  // With details.stages; device_early also where ranges can interfere.
  ppi_early host_early, device_early;
  const ppi_early *cold;  // whose device calls are split for all of this name
  ppi_cpu_sums cpu;
} ppi_run_site;

// Where the sweep found a point, over the lanes of its thread.
typedef struct ppi_around {
  uint64_t start_ns;  // of the range that owns it
  uint32_t site;
  bool is_known, any_communicates;
} ppi_around;

typedef struct ppi_run_thread {
  uint64_t number;
  uint32_t index;  // of all threads that came
  // Lanes that it has, and those that it had with ranges still to be swept.
  uint32_t num_lanes, num_left;
  // It is one of PPI_REPORT_LEFT_THREADS, and no more of it is to come.
  bool is_summed, is_swept;
  ppi_scopes scopes;
  // Of a sweep: the next one with submissions; points that need to know what is
  // around them; where phases are, and where those are that end later than the
  // last one met.
  struct ppi_run_thread *next_submitter;
  ppi_around *around;
  uint64_t cover_ns, later_cover_ns, level_ns;
} ppi_run_thread;

// A range of a lane that the sweep is in. The others are numbers of frames
// below it or of its own, PPI_NO_FRAME if there is none.
#define PPI_NO_FRAME UINT32_MAX
typedef struct ppi_frame_around {
  uint64_t start_ns;
  uint32_t site;
  uint32_t real, real_around;  // no Runtime range; the one around that
  uint32_t owner;              // can own memory
  bool communicates;           // it, or any around it
} ppi_frame_around;

typedef struct ppi_run_lane {
  uint32_t id;
  bool is_defined;
  uint64_t number;         // of the thread
  ppi_run_thread *thread;  // NULL: not looked up yet
  ppi_hold nested, loose;
  ppi_nest nest;
  // Of a sweep:
  ppi_frame_around *frames;
  size_t num_frames, frames_capacity;
  size_t num_points;  // of the thread's that are still to come
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

typedef struct ppi_run_thread_row {
  ppi_run_thread *thread;
  uint32_t site;
  ppi_run_row row;
} ppi_run_thread_row;

typedef struct ppi_run_part {
  ppi_run_thread *thread;      // NULL unless by thread
  uint32_t op, child, launch;  // sites; 0: none
  ppi_spread host;
  ppi_device_spreads device;
} ppi_run_part;

// A host range that a checkpoint listed as open.
typedef struct ppi_run_listed {
  uint64_t start_ns, end_ns;
  size_t index;  // in the list
  uint32_t lane, site;
  uint16_t depth;
  bool is_stale;
} ppi_run_listed;

typedef struct ppi_held_list {
  ppi_held *items;
  size_t num, capacity;
} ppi_held_list;

typedef struct ppi_run {
  ppi_report_details details;
  ppi_report_input input;
  ppi_run_table categories, sites, lanes, devices, streams;
  ppi_run_mark *marks;  // of sites, by id
  size_t marks_capacity;
  ppi_run_labels labels;
  ppi_hold_pool pool;  // of all lanes
  ppi_map thread_numbers;
  ppi_run_thread **threads;
  size_t num_threads, threads_capacity;
  ppi_run_lane **left;  // lanes that are other threads' now, until swept
  size_t num_left, left_capacity;
  ppi_run_thread **summed;  // threads that are summed up, until swept
  size_t num_summed, summed_capacity;
  uint32_t num_indexes;  // of threads
  size_t sum_up_at;      // num_threads
  ppi_run_thread *left_threads;
  uint64_t num_summed_threads;  // ever
  ppi_run_work *work;           // sorted by site, then lane
  size_t num_work, work_capacity;
  ppi_run_queue *queues;  // sorted by site, then device
  size_t num_queues, queues_capacity;
  ppi_run_pairs *pairs;  // sorted by lane, then stream
  size_t num_pairs, pairs_capacity;
  ppi_map thread_row_numbers, part_numbers;
  ppi_run_thread_row *thread_rows;
  size_t num_thread_rows, thread_rows_capacity;
  ppi_run_part *parts;
  size_t num_parts, parts_capacity;
  ppi_distribution distribution;
  ppi_interference interference;
  ppi_requests requests;
  ppi_memory memory;
  ppi_perf perf;
  ppi_spread phase_times[PPI_NUM_PHASES];
  ppi_device_spreads phase_devices[PPI_NUM_PHASES];  // as far as anything is
  ppi_held_list held_steps;  // for their device time, of all threads
  ppi_windows windows;
  uint32_t *window_indexes;  // of windows.items
  size_t window_indexes_capacity;
  // Steps that a device defined later may still need to know.
  ppi_identity steps;
  uint64_t num_steps;
  ppi_device_sums device_sums;
  uint64_t last_ns;        // the greatest time seen
  uint64_t checkpoint_ns;  // of the last checkpoint
  // Of the last checkpoint, those that are believed; by lane, start, site.
  ppi_run_listed *listed;
  size_t num_listed;
  uint64_t num_disbelieved;
  uint64_t swept_ns;     // how far ranges are settled
  uint64_t identity_ns;  // how far the next one may settle identities
  bool has_kernels, lost_device;
  // Of a sweep:
  bool any_points;  // in any thread
  ppi_run_thread *first_submitter;
  ppi_borders borders;  // of ranges that have what all threads submit
} ppi_run;

pprof_status ppi_run_begin(ppi_run *run, const pprof_run_info *info);
pprof_status ppi_run_define(ppi_run *run, const pprof_definition *definition);
pprof_status ppi_run_events(ppi_run *run, const pprof_batch *batch);
pprof_status ppi_run_checkpoint(ppi_run *run,
                                const pprof_checkpoint *checkpoint);
pprof_status ppi_run_window(ppi_run *run, uint32_t index, bool opens,
                            uint64_t time_ns);
pprof_status ppi_run_finish(ppi_run *run, const pprof_totals *totals,
                            ppi_figures *out);
void ppi_run_clear(ppi_run *run);

// ppi_run_doubt_open says of each range of a checkpoint whether it is a host
// range that has come already, and counts those.
pprof_status ppi_run_doubt_open(ppi_run *run,
                                const pprof_checkpoint *checkpoint,
                                bool *out_stale);

// ppi_run_open_step tells of a step that a checkpoint lists as open.
pprof_status ppi_run_open_step(ppi_run *run, const pprof_event *event);

// ppi_run_settle_devices settles the devices and the steps' time before
// `horizon_ns`, together, as ppi_identity_settle says.
pprof_status ppi_run_settle_devices(ppi_run *run, uint64_t horizon_ns);

// A range that is open at a checkpoint, for the sweep without an end.
typedef struct ppi_run_open {
  ppi_held held;
  ppi_run_lane *lane;
} ppi_run_open;

// ppi_run_sweep settles what lies before `horizon_ns`: all that ends by it has
// come, all else that begins before it has, too, or is in `open`, and so has
// all that was submitted before it. The order of `open` is changed.
pprof_status ppi_run_sweep(ppi_run *run, uint64_t horizon_ns,
                           ppi_run_open *open, size_t num_open);

// Lookups; they add what is missing, and answer NULL when out of memory or
// for an id beyond the bound.
ppi_run_category *ppi_run_category_at(ppi_run *run, uint32_t id);
ppi_run_site *ppi_run_site_at(ppi_run *run, uint32_t id);
// ppi_run_new_site adds one behind all that there are.
ppi_run_site *ppi_run_new_site(ppi_run *run, uint32_t number, uint32_t category,
                               const char *name);
ppi_run_device *ppi_run_device_at(ppi_run *run, uint32_t id);
uint32_t ppi_run_device_id(const ppi_run *run, uint32_t stream);  // 0: none
ppi_run_device *ppi_run_device_of(ppi_run *run, uint32_t stream);
ppi_run_category *ppi_run_communication(ppi_run *run);
// A lane has its thread.
ppi_run_lane *ppi_run_lane_at(ppi_run *run, uint32_t id);
ppi_run_lane *ppi_run_lane_slot(ppi_run *run, uint32_t id);  // may have none
ppi_run_thread *ppi_run_process(ppi_run *run);

// report_threads.c. With more than twice so many threads, those that have left
// are summed up, as one of the number below. When that is, definitions and
// events alone decide, so that a log tells it as its run did.
#define PPI_RUN_MAX_THREADS ((size_t)4096)
ppi_run_thread *ppi_run_thread_at(ppi_run *run, uint64_t number);
// ppi_run_lane_defined names a lane's thread; ranges of the one before, which
// wait for their checkpoint, stay that one's.
pprof_status ppi_run_lane_defined(ppi_run *run, uint32_t id, uint64_t number);
// ppi_run_forget_swept frees what left and has nothing more to come.
pprof_status ppi_run_forget_swept(ppi_run *run);
void ppi_run_clear_threads(ppi_run *run);
// All of the run's lanes and threads, those that have left included; NULL:
// there is none of that id.
static inline size_t ppi_run_num_lanes(const ppi_run *run) {
  return run->lanes.num + run->num_left;
}
static inline ppi_run_lane *ppi_run_any_lane(const ppi_run *run, size_t i) {
  return i < run->lanes.num ? (ppi_run_lane *)run->lanes.items[i]
                            : run->left[i - run->lanes.num];
}
static inline size_t ppi_run_num_threads(const ppi_run *run) {
  return run->num_threads + run->num_summed;
}
static inline ppi_run_thread *ppi_run_any_thread(const ppi_run *run, size_t i) {
  return i < run->num_threads ? run->threads[i]
                              : run->summed[i - run->num_threads];
}
// With details: valid until the next call; `thread` of a part counts by thread
// only.
ppi_run_row *ppi_run_thread_row_of(ppi_run *run, ppi_run_thread *thread,
                                   uint32_t site);
ppi_run_part *ppi_run_part_of(ppi_run *run, ppi_run_thread *thread,
                              const ppi_run_part *key);
// ppi_run_sum_details adds what threads counted that are summed up and swept
// to one row each.
pprof_status ppi_run_sum_details(ppi_run *run);
pprof_status ppi_run_fill_details(ppi_run *run, ppi_figures *out);
void ppi_run_clear_details(ppi_run *run);

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

int ppi_phase_of(uint32_t category);  // a ppi_phase_kind, or -1
// What of a choice of spreads names and details show.
const ppi_spread *ppi_run_for_names(const ppi_run *run,
                                    const ppi_device_spreads *spreads);
// The number that names a registered category outside of its process.
uint32_t ppi_portable_category(uint32_t category);

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_RUN_H_
