// SPDX-License-Identifier: Apache-2.0
//
// The data of logs for the page's pictures. Its size is bounded: a log is read
// twice and never kept in memory. The first reading counts (survey.h). The plan
// selects the events that the page lists (plan.h). The second reading fills
// events, bins and sums over time (detail.h).
#pragma once

#include "html/picture.h"
#include "report/machine/series.h"

enum {
  PPI_PICTURE_ROWS = 512,      // later rows are only counted
  PPI_PICTURE_STAGES = 2048,   // later stages share the last one
  PPI_PICTURE_DEPTH = 8,       // deeper ranges are in no bin
  PPI_PICTURE_SLOW = 8,        // the slowest calls of a stage are always exact
  PPI_PICTURE_MOMENTS = 512,   // bins of a series
  PPI_PICTURE_SERIES = 256,    // later series are left out
  PPI_PICTURE_COUNTERS = 24,   // later counters are left out
  PPI_PICTURE_REQUESTS = 3,    // shown in full
  PPI_PICTURE_WINDOWS = 256,   // the first; the rest is counted
  PPI_PICTURE_BANDS = 2048,    // the longest; the rest is counted
  PPI_PICTURE_EVENTS = 60000,  // long ones, in all rows
  PPI_PICTURE_AROUND = 20000,  // those beside the slowest request
  PPI_PICTURE_BINS = 1 << 18,  // in all rows and depths
  PPI_PICTURE_LENGTHS = 128    // classes of lengths, two to an octave
};

// A row of the timeline: a thread, the cross-thread ranges of a name, or a
// stream.
typedef enum ppi_picture_kind {
  PPI_ROW_THREAD = 0,
  PPI_ROW_ASYNC,
  PPI_ROW_STREAM
} ppi_picture_kind;

typedef struct ppi_picture_row {
  ppi_picture_kind kind;
  uint32_t run;
  uint32_t lane;    // or stream, or stage before it is folded
  uint32_t device;  // of a stream, among `devices`
  uint64_t number;  // thread's, or stream's
  char *name;
  uint64_t num;
  uint64_t counts[PPI_PICTURE_LENGTHS];
  uint32_t depth;      // number of levels
  uint64_t exact_ns;   // ranges of this length or more are listed
  size_t first_track;  // of its bins; SIZE_MAX: it has none
} ppi_picture_row;

typedef struct ppi_picture_stage {
  char *name, *category;
  uint32_t into;  // the number of the stage that it folds into, + 1; 0: none
  // The longest calls on the host and on devices, the shortest of them first;
  // `num_slow` of them were kept.
  uint64_t slow_ns[2][PPI_PICTURE_SLOW];
  uint32_t num_slow[2];
} ppi_picture_stage;

typedef struct ppi_picture_run {
  char uuid[33];
  char *host, *pid;
  uint64_t base_ns;            // 0: unknown
  uint64_t first_ns, last_ns;  // of its events; first > last: there are none
  uint64_t shift_ns;           // to the time of the page
} ppi_picture_run;

// An event that the page lists; a device range has both sides. `by` is the OS
// thread that ended a wait, `in` that thread's stage, + 1. 0: unknown.
typedef struct ppi_picture_event {
  uint32_t row, stage, depth, flags, kind;
  uint32_t stream_row;  // + 1; 0: none
  uint64_t start_ns, end_ns, device_start_ns, device_end_ns, error_ns;
  uint64_t flow;      // the first flow; 0: none
  double value;       // of a counter, of a step
  uint32_t requests;  // bits: the chosen requests it serves
  uint64_t by;
  uint32_t in;
} ppi_picture_event;

// Ranges of one row, depth and bin that the page does not list.
typedef struct ppi_picture_bin {
  uint64_t covered_ns;
  uint32_t num, stage;  // the stage with most time, by majority vote
  uint64_t vote_ns;
  int64_t change;  // in the number of long ranges, from this bin on
} ppi_picture_bin;

// A sum over time: each bin gets its part of a span.
typedef enum ppi_series_kind {
  PPI_SERIES_BUSY = 0,  // a stage's ranges on a device
  PPI_SERIES_WAIT,      // a stage's submitted ranges that have not begun
  PPI_SERIES_REQUESTS,  // requests under way
  PPI_SERIES_STATE      // a device busy or idle; `stage` is the course's kind
} ppi_series_kind;

typedef struct ppi_picture_series {
  ppi_series_kind kind;
  uint32_t device, stage;
  uint64_t part_ns[PPI_PICTURE_MOMENTS];    // spans that fill a moment in part
  int64_t change[PPI_PICTURE_MOMENTS + 1];  // spans that fill whole moments
} ppi_picture_series;

typedef struct ppi_picture_counter {
  char *name;
  uint64_t num[PPI_PICTURE_MOMENTS];
  double last[PPI_PICTURE_MOMENTS], least[PPI_PICTURE_MOMENTS],
      most[PPI_PICTURE_MOMENTS];
} ppi_picture_counter;

// A request that the page shows in full.
typedef struct ppi_picture_request {
  const char *what;  // "p50", "p99", "max"
  uint32_t run;
  const ppi_request_run *of;
  const ppi_request_row *row;
  uint32_t num_parts;
} ppi_picture_request;

typedef struct ppi_picture_window {
  uint32_t run, index;
  bool opens;
  uint64_t time_ns;
} ppi_picture_window;

// A stretch of time with a trouble of the machine.
typedef struct ppi_picture_band {
  uint32_t run, cause, device;  // cause: ppi_machine_cause
  uint64_t start_ns, end_ns;
} ppi_picture_band;

// The numbers of ids in the run that is being read.
typedef struct ppi_picture_ids {
  uint32_t *items;  // by id: a number + 1; 0: none
  size_t num, capacity;
} ppi_picture_ids;

struct ppi_picture {
  pprof_sink survey, detail;
  ppi_picture_run *runs;
  size_t num_runs, runs_capacity;
  size_t at_run;  // the run that is being read, from 1
  ppi_picture_row *rows;
  size_t num_rows, rows_capacity;
  ppi_picture_stage *stages;
  size_t num_stages, stages_capacity;
  char **devices;
  size_t num_devices, devices_capacity;
  ppi_map row_numbers, stage_numbers, device_numbers;
  uint64_t num_rows_left_out, num_events, num_odd;
  // These belong to the run that is being read.
  char **categories;
  size_t num_categories, categories_capacity;
  ppi_picture_ids sites, folds, run_devices;
  struct ppi_picture_lane {
    uint64_t number;
    uint32_t life;  // how many threads have had it
    char *name;
  } * lane_names;
  size_t num_lane_names, lane_names_capacity;
  struct ppi_picture_stream {
    uint64_t number;
    uint32_t device;
    char *name;
  } * stream_names;
  size_t num_stream_names, stream_names_capacity;
  // Set by the plan and the second reading.
  uint64_t start_ns, end_ns, bin_ns, moment_ns;
  size_t bins_a_track, num_tracks;
  ppi_picture_bin *bins;
  ppi_picture_event *events;
  size_t num_kept, events_capacity, num_long, num_around;
  ppi_picture_series *series;
  size_t num_series, series_capacity;
  ppi_map series_numbers;
  bool series_left_out;
  ppi_picture_counter *counters;
  size_t num_counters, counters_capacity;
  ppi_picture_window *windows;
  size_t num_windows, windows_capacity, num_windows_all;
  ppi_machine_run machine;  // of the run that is being read
  ppi_picture_band *bands;
  size_t num_bands, bands_capacity;
  uint64_t num_bands_left_out;
  ppi_picture_request requests[PPI_PICTURE_REQUESTS];
  size_t num_requests;
};

// Times beyond this are invalid: JavaScript counts exactly up to 2^53.
#define PPI_PICTURE_LAST_NS (UINT64_C(1) << 53)
