// SPDX-License-Identifier: Apache-2.0
//
// The contents of a finished report: names and integers. Without ids and paths,
// reports of several processes add up.
#pragma once

#include "base/map.h"
#include "event/event.h"
#include "event/launch_shape.h"
#include "report/figures/answer_rows.h"
#include "report/figures/course.h"
#include "report/figures/first_calls.h"
#include "report/figures/limit.h"
#include "report/figures/low_water.h"
#include "report/figures/machine.h"
#include "report/figures/messages.h"
#include "report/figures/numbers.h"
#include "report/figures/serving.h"
#include "report/figures/use.h"

// A registered category's number means nothing outside its process: its name
// alone identifies it.
#define PPI_CATEGORY_REGISTERED UINT32_MAX

// Changes of memory while no host range of the run was open.
typedef struct ppi_report_outside {
  uint64_t num;
  ppi_net_bytes sums;
} ppi_report_outside;

// One named thing: all sites of one name and category.
typedef struct ppi_report_name {
  char *name, *category_name;
  uint32_t category;
  ppi_spread host;    // host ranges
  ppi_spread submit;  // host sides of device ranges
  ppi_spread device;  // device sides
  ppi_spread inside;  // device time per range: submitted in it, or its own
  ppi_spread bytes;   // of copies and sets that state their bytes
  ppi_histogram host_times, device_times;
  ppi_histogram sizes;     // as `bytes`
  ppi_messages messages;   // of Communication
  ppi_numbers numbers;     // in the names of its host ranges
  uint64_t self_ns;        // host time without nested ranges
  uint64_t own_device_ns;  // device time not submitted in nested ranges
  uint64_t num_async;      // host ranges outside of nesting
  ppi_phases host_phases, device_phases;
  ppi_cpu_sums cpu;  // of host ranges
  // With details.allocations: changes while ranges ran; own_memory leaves out
  // changes in nested ranges.
  ppi_net_bytes memory, own_memory;
} ppi_report_name;

// Optional details, set before the first run; each costs memory and time for
// every event. Those that figures depend on are in ppi_report_details_carry;
// reports add up if they have the same parts, up to no_iterations.
typedef struct ppi_report_details {
  bool by_thread;            // each name by thread
  bool operator_parts;       // the parts of operators
  bool paddle_distribution;  // communication as in Paddle's profiler
  bool requests;             // each request's time by stage
  bool answer;               // time by stage and place; goes with `requests`
  bool answer_of_steps;      // of steps, even if the run has requests
  bool paths;                // ranges by the names around them
  bool flat_paths;           // the same, but each name is a path
  bool kernels;              // device work of each path; goes with `paths`
  bool allocations;          // memory by the names of ranges
  bool courses;              // busy and idle time of devices over time
  bool no_iterations;        // the report searches for none
  const char *iteration;     // the range that begins one; NULL: found
  bool one_way;              // tests: without shortcuts to the answer
  bool joins;                // other runs may serve the same requests
  struct ppi_jobs *jobs;     // NULL: none; used until the run ends
  // From this number of pages of host ranges on, a stretch is a job.
  uint32_t much_pages;
  ppi_slo slo;  // of requests that are served
  long warmup;  // cold calls and requests of a run; < 0: found
} ppi_report_details;

// The number of the row that all ended threads share.
#define PPI_REPORT_LEFT_THREADS ((uint64_t)1 << 62)

// One named thing on one thread.
typedef struct ppi_report_thread_name {
  char *process;  // "HOST PID"
  uint64_t thread;
  char *name, *category_name;
  char *called;  // the thread; "": only by its number
  uint32_t category;
  ppi_spread host, submit, inside;
  ppi_histogram host_times;
  uint64_t self_ns;
} ppi_report_thread_name;

// A part of the operators of one name. `child` is a range directly inside that
// is no operator. `launch` is a device range of the child or of the operator
// itself.
typedef struct ppi_report_part {
  char *process;    // "" unless by thread
  uint64_t thread;  // 0 unless by thread
  char *op;
  char *child;        // "": the operator itself
  char *launch;       // "": the child itself
  ppi_spread host;    // of children
  ppi_spread device;  // per child: submitted in it; per launch: its own
} ppi_report_part;

// A log's nesting limit. Ranges beyond it count on this level, too.
#define PPI_PATH_LEVELS 1024u

// The ranges of one name with the same names around them, or the device ranges
// of one name submitted there.
typedef struct ppi_report_path {
  const char *name, *category_name;  // texts in path_texts
  uint32_t up;                       // index of the parent's row, + 1; 0: none
  uint32_t level;                    // from 1
  bool on_device;
  ppi_spread spread;
  ppi_histogram times;
  uint64_t num_untimed;  // device ranges without a time
  uint64_t self_ns;      // without ranges directly inside
  uint64_t wall_ns;      // the union
  uint64_t device_ns;    // sum: submitted inside, or its own
  uint64_t events_ns;    // sum between events, in a run with kernels
  ppi_device_use use;    // with details.kernels
} ppi_report_path;

typedef struct ppi_path_texts {
  ppi_map numbers;
  char **items;
  size_t num, capacity;
} ppi_path_texts;

// Timed kernels of one name and launch shape.
typedef struct ppi_report_shape {
  char *name;
  ppi_launch_shape shape;
  ppi_spread spread;
  ppi_histogram times;
} ppi_report_shape;

// The reason why a piece of work belongs to no range.
typedef enum ppi_stray {
  PPI_STRAY_NO_RANGE = 0,  // no range was open at its launch
  PPI_STRAY_GRAPH,         // nor at the launch of its graph
  PPI_STRAY_RANGE,         // the range that was open is not in the log
  PPI_STRAY_LAUNCH,        // its launch is unknown
  PPI_NUM_STRAYS
} ppi_stray;

// Timed kernels, copies and sets; those that belong to no range by reason. With
// details.kernels.
typedef struct ppi_report_kernels {
  uint64_t num;
  uint64_t num_stray[PPI_NUM_STRAYS], stray_ns[PPI_NUM_STRAYS];
} ppi_report_kernels;

// Communication is host and device ranges, computation device ranges.
typedef struct ppi_report_distribution {
  uint64_t host_calls, device_calls, computation_calls;
  uint64_t communication_ns, computation_ns, overlap_ns;
  uint64_t device_communication_ns, device_overlap_ns;  // device ranges alone
} ppi_report_distribution;

// The first PPI_REPORT_PLACES places by name have rows of their own; the others
// share the row PPI_OTHER_PLACES.
#define PPI_REPORT_PLACES 64
#define PPI_OTHER_PLACES "<other>"

// Memory events of one place by the range around them ("": none).
typedef struct ppi_report_memory {
  char *place, *name;
  bool is_reserved;
  uint64_t allocations, frees, allocated_bytes, freed_bytes;
} ppi_report_memory;

typedef struct ppi_report_place {
  char *name;
  bool is_known[2];  // [1]: reserved memory
  uint64_t peak_bytes[2];
  ppi_growth growth[2];
} ppi_report_place;

// Whole steps after the first PPI_PERF_WARM_UP of each run.
#define PPI_PERF_WARM_UP 10
#define PPI_PERF_ITEM (1 << 20)  // the unit of `items`
typedef struct ppi_report_perf {
  uint64_t num_steps;  // whole ones, warm-up included
  ppi_spread batch;
  ppi_spread reader;    // Dataloader ranges that began in those steps
  uint64_t num_stated;  // batches that state items
  unsigned __int128 items;
  double speed_max, speed_min;  // items a second of one batch
} ppi_report_perf;

typedef struct ppi_report_category {
  char *name;
  uint32_t category;
  uint64_t host_calls, host_ns;      // ranges, and their union
  uint64_t host_cut;                 // ranges cut at an edge
  uint64_t device_calls, device_ns;  // timed device ranges, and their union
} ppi_report_category;

// The types of the Model table, in the order of its rows.
typedef enum ppi_phase_kind {
  PPI_PHASE_PROFILE_STEP = 0,
  PPI_PHASE_DATALOADER,
  PPI_PHASE_FORWARD,
  PPI_PHASE_BACKWARD,
  PPI_PHASE_OPTIMIZATION,
  PPI_PHASE_PREPROCESS,
  PPI_PHASE_INFERENCE,
  PPI_PHASE_POSTPROCESS,
  PPI_PHASE_CPU_TASK,
  PPI_NUM_PHASES
} ppi_phase_kind;

typedef struct ppi_report_phase {
  ppi_spread host;    // outermost ranges
  ppi_spread device;  // device time submitted in each
} ppi_report_phase;

typedef struct ppi_report_device {
  char *name;
  uint64_t ranges, untimed;   // timed device ranges; those without a time
  uint64_t used_ns;           // the Device table's busy time, within the base
  uint64_t active_ns;         // the same, with copies and sets
  uint64_t not_submitted_ns;  // within the base
  uint64_t base_ns;           // sum over its runs, and over the devices of
                              // this name in a run
  uint64_t runs_with_kernels;
  uint64_t wall_ns, busy_ns, idle_ns[PPI_NUM_IDLE];
  uint64_t first_calls_ns;  // not submitted before each run's first range
  uint64_t steps_checked, steps_failed;
  // With details.kernels: timed kernels, copies and sets, in all, inside of
  // ranges and outside.
  uint64_t work, num_inside, num_outside;
  bool failed, incomplete;
} ppi_report_device;

// The device ranges of one name and category on one device.
typedef struct ppi_report_queue {
  char *name, *category_name, *device;
  ppi_queue sums;
} ppi_report_queue;

// The requests of one class that were served.
typedef struct ppi_report_serving {
  char *name, *category_name;
  ppi_serving sums;
} ppi_report_serving;

// A stage's device ranges on one device that overlapped `other`, a stage on
// another stream. "": all ranges.
typedef struct ppi_report_interference {
  char *device, *name, *other;
  uint64_t num_calls;  // all calls; only in the row of ""
  uint64_t shared_ns;  // while both ran; for "", the union of the stage's own
  // Steady calls, and their time: they overlapped `other` for half of their
  // time and no third stage. For "", they overlapped no other stage.
  uint64_t num_measured, measured_ns;
  unsigned __int128 measured_squares;  // sum of each call's time squared
} ppi_report_interference;

// Sums of a lane's work amounts and counter values, added in the lane's order.
// Each lane has its own sums, so that floating-point sums have one order.
typedef struct ppi_report_work {
  char *run, *name, *category_name;
  uint32_t lane;
  ppi_gauge gauge;  // of a counter
  double items, bytes, flops, params;
  ppi_amounts cold;  // of cold calls on all lanes; with lane 0
} ppi_report_work;

typedef struct ppi_report_note {
  char *key, *text;
} ppi_report_note;

typedef struct ppi_report_input {
  char *uuid, *host, *pid, *command, *rank;
  char *config;       // in force, as YAML; "": unknown
  uint64_t began_ns;  // of real time; 0: unknown
  uint64_t wall_ns;   // its windows
  uint32_t kind;      // number of its kind of processes; 0: busiest
  ppi_answer answers[PPI_NUM_BASES];  // its own, with details.answer
} ppi_report_input;

// One stage's time for one request.
typedef struct ppi_request_cell {
  uint32_t stage, calls;
  uint64_t time_ns;       // of its ranges
  uint64_t wait_ns;       // from their submission to their start on the device
  uint64_t own_ns;        // nothing of higher priority ran for the request
  uint64_t contended_ns;  // as own_ns, but the device served others, too
  uint64_t hop_ns;        // nothing ran before this stage began
  uint64_t critical_ns;   // on the longest path
} ppi_request_cell;

// A request's time is its cells' own and contended times, its wait for devices
// and its time without work.
typedef struct ppi_request_row {
  uint64_t flow;
  uint64_t start_ns, length_ns, queue_ns, hop_ns;
  size_t first_cell, num_cells;
} ppi_request_row;

typedef struct ppi_request_stage {
  char *name, *category_name;
  bool on_device, is_whole;  // is_whole: the request itself
} ppi_request_stage;

// The requests of one run, in the order of their flows. Figures share it.
typedef struct ppi_request_run {
  int num_owners;
  char *uuid, *host, *pid;
  ppi_request_stage *stages;
  size_t num_stages;
  ppi_request_row *rows;
  size_t num_rows;
  ppi_request_cell *cells;
  size_t num_cells;
  // Requests without a row: cut, in several windows, with too many parts.
  // num_reused: requests with the number of an earlier one.
  uint64_t num_cut, num_crossing, num_long, num_reused;
  unsigned thinning;    // one request in 2^thinning has a row
  bool others_unknown;  // too many device ranges without a request
  ppi_limit limit;      // of this run alone
} ppi_request_run;

// The loop of the iterations; several runs must share it.
typedef struct ppi_figures_loop {
  char stages[160], thread[64];  // "": none, or the runs differ
  bool is_unlike;                // the runs' loops differ, or some have none
  // The stage with most of the time before the first iteration.
  char start_stage[64];
  uint64_t start_stage_ns;
} ppi_figures_loop;

// What is known of the clocks of hosts that requests go between.
typedef enum ppi_host_clocks {
  PPI_CLOCKS_ONE,  // no request goes from host to host
  PPI_CLOCKS_UNKNOWN,
  PPI_CLOCKS_BOUND,
  PPI_CLOCKS_CONTRADICT  // no difference of two clocks fits all requests
} ppi_host_clocks;

// Tables that are sorted by the keys in rows.c. Two inputs may have one key.
// clang-format off
#define PPI_FIGURES_TABLES(each) \
  each(names, ppi_report_name) each(categories, ppi_report_category) \
  each(devices, ppi_report_device) each(queues, ppi_report_queue) \
  each(serving, ppi_report_serving) each(work, ppi_report_work) \
  each(interference, ppi_report_interference) each(notes, ppi_report_note) \
  each(inputs, ppi_report_input) each(threads, ppi_report_thread_name) \
  each(parts, ppi_report_part) each(shapes, ppi_report_shape) \
  each(memory, ppi_report_memory) each(places, ppi_report_place) \
  each(energy, ppi_energy_row)
// clang-format on
#define PPI_FIGURES_ITEMS(field, row) \
  row *field;                         \
  size_t num_##field, field##_capacity;

typedef struct ppi_figures {
  PPI_FIGURES_TABLES(PPI_FIGURES_ITEMS)
  ppi_report_path *paths;  // see path_rows.h
  size_t num_paths;
  ppi_path_texts path_texts;
  ppi_request_run **request_runs;  // by uuid, host, pid; may repeat
  size_t num_request_runs, request_runs_capacity;
  ppi_kept_run **kept_runs;  // with details.joins
  size_t num_kept_runs, kept_runs_capacity;
  ppi_report_courses courses;  // with details.courses
  ppi_answer answers[PPI_NUM_BASES];
  ppi_machine_figures machine;
  ppi_interpreter_figures interpreter;
  ppi_figures_loop loop;
  ppi_limit limit;  // of one run; see add_limit in sum.c
  ppi_report_distribution distribution;
  ppi_report_outside outside;  // with details.allocations
  ppi_report_kernels kernels;
  ppi_report_perf perf;
  ppi_report_details details;
  ppi_report_phase phases[PPI_NUM_PHASES];
  uint64_t base_ns;  // for ratios: union of steps, or else the windows
  uint64_t wall_ns;  // the windows
  uint64_t runs_with_steps, runs_without_steps, runs_with_kernels;
  uint64_t runs_unopened;  // no event came, and no window opened
  // Bases of device ratios: device time in steps, or else all of it.
  uint64_t model_device_ns, general_device_ns;
  uint64_t num_disbelieved;  // checkpoints listed them as open after their end
  // Kinds of processes have no stage in common; 0: there is one kind. `answers`
  // belongs to the busiest kind, kinds[1] and on to the others.
  uint32_t num_kinds;
  ppi_answer *kinds;
  bool are_joined;  // requests are joined from several processes
  ppi_host_clocks host_clocks;
  uint64_t clock_bound_ns;  // two hosts' clocks differ by at most this
  uint64_t totals[PPI_NUM_TOTALS];
} ppi_figures;

// A whole run of this profiler states its recording cost; an imported trace
// does not.
static inline bool ppi_figures_are_imported(const ppi_figures *figures) {
  return !figures->totals[PPI_TOTAL_OWN_COST] &&
         !figures->totals[PPI_TOTAL_INCOMPLETE];
}
