// SPDX-License-Identifier: Apache-2.0
//
// The categories, sites, devices, streams, lanes and threads of a run by id,
// with their counts. It uses no other part of the report. Sink thread only.
#pragma once

#include "base/map.h"
#include "event/event.h"
#include "report/figures/figures.h"
#include "report/spans/hold.h"
#include "report/spans/identity.h"
#include "report/spans/nest.h"
#include "report/spans/scope.h"
#include "report/spans/union.h"

PPROF_BEGIN_C_

// Items by id.
#define PPI_RUN_MAX_ID PPI_MAX_ID
typedef struct ppi_run_table {
  void **items;
  size_t num, capacity;
} ppi_run_table;

typedef struct ppi_run_category {
  char *name;
  // Ranges of other categories with this one's flag; at the end all ranges.
  uint64_t host_calls, host_cut;
  uint64_t host_ns;  // the settled union of host ranges
  uint64_t low_ns;   // of a sweep: the lowest time in the union
  uint64_t device_calls;
  ppi_union host;  // of steps only
  ppi_union device;
} ppi_run_category;

// The roles of a site in the tables.
enum {
  PPI_TRAIT_PHASE = 1,  // of the Model table, except steps
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
  bool has_pairs;     // `own` is also the device time of host ranges
  bool is_sum;        // a sum of threads; `inside`: of those without pairs
  ppi_device_spreads inside;  // of host ranges with device work
} ppi_run_row;

// The site data that the sweep needs, close together in memory.
typedef struct ppi_run_mark {
  ppi_run_category *place;
  uint32_t traits, category;
} ppi_run_mark;

// The fields that every range needs come first.
typedef struct ppi_run_site {
  ppi_run_category *place;  // of its category; NULL: not looked up yet
  uint32_t category, traits;
  uint32_t fold;      // the site that its name folds into; 0: none
  uint32_t waits_as;  // of a wait with its ender: the site without; 0: none
  ppi_run_row row;
  uint64_t num_async;
  ppi_device_sums innermost;  // of work with these ranges innermost
  char *name;
  bool is_defined;
  ppi_spread device;
  ppi_histogram device_times;
  ppi_messages messages;  // of Communication
  ppi_numbers numbers;    // in the names of its host ranges
  ppi_spread bytes;       // of copies and sets with a known size
  ppi_histogram sizes;    // the same
  ppi_first_calls host_first_calls, device_first_calls;
  const ppi_first_calls *cold;  // first device calls of all sites of this name
  ppi_cpu_sums cpu;
  ppi_net_bytes memory, own_memory;  // with details.allocations
} ppi_run_site;

// ppi_run_site_waits: in its ranges a thread waits for others.
static inline bool ppi_run_site_waits(const ppi_run_site *site) {
  return site->traits & PPI_TRAIT_COMMUNICATION ||
         site->category == PPROF_CATEGORY_IDLE;
}

// The ranges around a point, over all lanes of its thread.
typedef struct ppi_around {
  uint64_t start_ns;  // of the range that owns it
  uint32_t site;
  bool is_known, any_communicates;
  bool has_frames;  // Runtime calls count, too
  uint32_t path;    // the innermost one around it; 0: none
  uint64_t path_start_ns;
} ppi_around;

typedef struct ppi_run_thread {
  uint64_t number;
  char *name;         // from its first lane with a name; NULL: none
  uint32_t named_by;  // that lane
  uint32_t index;     // in the order of first use
  // Its lanes, and its former lanes that still have ranges to sweep.
  uint32_t num_lanes, num_left;
  // is_summed: part of PPI_REPORT_LEFT_THREADS. is_swept: no more will come.
  bool is_summed, is_swept;
  ppi_scopes scopes;
  // Of a sweep: the next thread with submissions; the ranges around its points;
  // the lowest start of phases, of phases that end after `level_ns`, and the
  // lowest end of phases.
  struct ppi_run_thread *next_submitter;
  ppi_around *around;
  uint32_t copy;  // of a stretch that is handed over, + 1; 0: none
  uint64_t cover_ns, later_cover_ns, level_ns;
} ppi_run_thread;

// An open range of a lane in a sweep. `real` to `owner` are numbers of frames
// up to its own; PPI_NO_FRAME: none.
#define PPI_NO_FRAME UINT32_MAX
typedef struct ppi_frame_around {
  uint64_t start_ns;
  uint32_t site;
  uint32_t real, real_around;  // the innermost but Runtime; the one around it
  uint32_t owner;              // can own memory
  uint32_t path;               // with details.paths
  uint32_t call;               // of ppi_device_calls; 0: not looked up
  uint64_t end_ns;             // of the range; 0: it is open
  bool communicates;           // it, or any around it
} ppi_frame_around;

typedef struct ppi_run_lane {
  uint32_t id;
  bool is_defined;
  uint64_t number;         // of the thread
  char *name;              // of the thread, until that is looked up
  ppi_run_thread *thread;  // NULL: not looked up yet
  ppi_hold nested, loose;
  ppi_nest nest;
  // Of a sweep:
  ppi_frame_around *frames;
  size_t num_frames, frames_capacity;
  ppi_waits_inside waits;
  size_t num_points;  // points of the thread still to come
  uint32_t copy;      // as in ppi_run_thread
  bool serves;        // marks of served requests wait for a range
} ppi_run_lane;

typedef struct ppi_run_device {
  char *name;
  uint64_t ranges, untimed;
  // Timed kernels, copies and sets; with details.kernels also those in ranges
  // and those outside.
  uint64_t num_work, num_inside, num_outside;
  bool has_kernels, incomplete;
  ppi_identity identity;
} ppi_run_device;

typedef struct ppi_run_stream {
  uint32_t device;
} ppi_run_stream;

// The lookups that all parts of a report share.
typedef struct ppi_run_ids {
  ppi_report_input input;
  ppi_run_table categories, sites, lanes, devices, streams;
  ppi_run_mark *marks;  // of sites, by id
  size_t marks_capacity;
  uint64_t num_marked;  // marks that were written so far
  ppi_hold_pool pool;   // for all lanes
  ppi_map thread_numbers;
  ppi_run_thread **threads;
  size_t num_threads, threads_capacity;
  ppi_run_lane **left;  // lanes that moved to another thread, until swept
  size_t num_left, left_capacity;
  ppi_run_thread **summed;  // threads that are summed up, until swept
  size_t num_summed, summed_capacity;
  uint32_t num_indexes;  // of threads
  size_t sum_up_at;      // num_threads
  ppi_run_thread *left_threads;
  uint64_t num_summed_threads;  // ever
  // Steps, for devices that are defined later.
  ppi_identity steps;
  bool has_kernels;  // any device
} ppi_run_ids;

// Lookups add a missing item. They answer NULL without memory, or for an id
// beyond the bound.
ppi_run_category *ppi_run_category_at(ppi_run_ids *ids, uint32_t id);
ppi_run_site *ppi_run_site_at(ppi_run_ids *ids, uint32_t id);
// ppi_run_new_site adds a site with a number after all others.
ppi_run_site *ppi_run_new_site(ppi_run_ids *ids, uint32_t number,
                               uint32_t category, const char *name);
ppi_run_device *ppi_run_device_at(ppi_run_ids *ids, uint32_t id);
uint32_t ppi_run_device_id(const ppi_run_ids *ids, uint32_t stream);  // 0: none
ppi_run_device *ppi_run_device_of(ppi_run_ids *ids, uint32_t stream);
ppi_run_category *ppi_run_communication(ppi_run_ids *ids);

// ppi_run_item_at is the lookup that gives undefined items no name.
void *ppi_run_item_at(ppi_run_table *table, uint32_t id, size_t item_size);

int ppi_phase_of(uint32_t category);  // a ppi_phase_kind, or -1
bool ppi_memory_can_own(uint32_t category);
// The spread that names and details show.
const ppi_spread *ppi_run_for_names(const ppi_run_ids *ids,
                                    const ppi_device_spreads *spreads);
// The device time of each host range and each own device range of the row.
ppi_spread ppi_run_inside(const ppi_run_ids *ids, ppi_run_row *row);
// The number that names a registered category outside of its process.
uint32_t ppi_portable_category(uint32_t category);
// ppi_run_clear_ids comes after ppi_run_clear_threads.
void ppi_run_clear_ids(ppi_run_ids *ids);

PPROF_END_C_
