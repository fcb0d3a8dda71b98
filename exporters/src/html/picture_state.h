// SPDX-License-Identifier: Apache-2.0
//
// What is gathered of logs for the page's pictures. Its size is bounded,
// whatever the logs hold: a log is read twice and never held. The first reading
// counts (survey.h); then it is decided what is told exactly (plan.h); the
// second one fills in events, bins and sums over time (detail.h).
#pragma once

#include "base/map.h"
#include "html/picture.h"
#include "report/machine/series.h"
#include "report/report.h"

PPROF_BEGIN_C_

enum {
  PPI_PICTURE_ROWS = 512,      // those that come later are only counted
  PPI_PICTURE_STAGES = 2048,   // those that come later are one
  PPI_PICTURE_DEPTH = 8,       // deeper ranges are in no bin
  PPI_PICTURE_SLOW = 8,        // the slowest calls of a stage are always exact
  PPI_PICTURE_MOMENTS = 512,   // bins of a series
  PPI_PICTURE_SERIES = 256,    // those that come later are left out
  PPI_PICTURE_COUNTERS = 24,   // the same
  PPI_PICTURE_REQUESTS = 3,    // told whole
  PPI_PICTURE_WINDOWS = 256,   // told; the rest is counted
  PPI_PICTURE_BANDS = 2048,    // the longest; the rest is counted
  PPI_PICTURE_EVENTS = 60000,  // told exactly for being long, over all rows
  PPI_PICTURE_AROUND = 20000,  // for being beside the slowest request
  PPI_PICTURE_BINS = 1 << 18,  // over all rows and depths
  PPI_PICTURE_LENGTHS = 128    // classes of lengths, two to an octave
};

// A row of the timeline: a thread's stack, the ranges of a name that nest in
// nothing, or a stream.
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
  uint32_t depth;      // most levels
  uint64_t exact_ns;   // as long as this, a range is told exactly
  size_t first_track;  // of its bins; SIZE_MAX: all of it is exact
} ppi_picture_row;

typedef struct ppi_picture_stage {
  char *name, *category;
  uint32_t into;  // the number of the stage that it folds into, + 1; 0: none
  // The longest calls on the host and on devices, the least of them first; how
  // many were told.
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

// An event printed exactly. On a device: with both sides. Of a wait: which OS
// thread ended it, and the stage in which that one was, + 1; 0: unknown.
typedef struct ppi_picture_event {
  uint32_t row, stage, depth, flags, kind;
  uint32_t stream_row;  // + 1; 0: none
  uint64_t start_ns, end_ns, device_start_ns, device_end_ns, error_ns;
  uint64_t flow;      // the first; 0: none
  double value;       // of a counter, of a step
  uint32_t requests;  // bits: it serves a chosen one
  uint64_t by;
  uint32_t in;
} ppi_picture_event;

// Ranges of one row and depth that are not told exactly, in one bin.
typedef struct ppi_picture_bin {
  uint64_t covered_ns;
  uint32_t num, stage;  // the stage that has most of it, by majority vote
  uint64_t vote_ns;
  int64_t change;  // of how many that overlap fill it, and those behind it
} ppi_picture_bin;

// A sum over time: of a span each bin gets its part.
typedef enum ppi_series_kind {
  PPI_SERIES_BUSY = 0,  // a stage's ranges on a device
  PPI_SERIES_WAIT,      // a stage's submitted ranges that have not begun
  PPI_SERIES_REQUESTS,  // requests under way
  PPI_SERIES_STATE      // a device busy or idle; `stage` is the course's kind
} ppi_series_kind;

typedef struct ppi_picture_series {
  ppi_series_kind kind;
  uint32_t device, stage;
  uint64_t part_ns[PPI_PICTURE_MOMENTS];    // of bins that it fills in part
  int64_t change[PPI_PICTURE_MOMENTS + 1];  // of whole ones
} ppi_picture_series;

typedef struct ppi_picture_counter {
  char *name;
  uint64_t num[PPI_PICTURE_MOMENTS];
  double last[PPI_PICTURE_MOMENTS], least[PPI_PICTURE_MOMENTS],
      most[PPI_PICTURE_MOMENTS];
} ppi_picture_counter;

// One that the page tells whole.
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

// A stretch in which a cause of the machine was there.
typedef struct ppi_picture_band {
  uint32_t run, cause, device;  // cause: ppi_machine_cause
  uint64_t start_ns, end_ns;
} ppi_picture_band;

// What ids mean in the run that is being read.
typedef struct ppi_picture_ids {
  uint32_t *items;  // by id: a number + 1; 0: none
  size_t num, capacity;
} ppi_picture_ids;

struct ppi_picture {
  pprof_sink survey, detail;
  ppi_picture_run *runs;
  size_t num_runs, runs_capacity;
  size_t at_run;  // of the reading, + 1
  ppi_picture_row *rows;
  size_t num_rows, rows_capacity;
  ppi_picture_stage *stages;
  size_t num_stages, stages_capacity;
  char **devices;
  size_t num_devices, devices_capacity;
  ppi_map row_numbers, stage_numbers, device_numbers;
  uint64_t num_rows_left_out, num_events, num_odd;
  // Of the run that is being read.
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
  // Of the plan and the second reading.
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

// Times beyond are no event's: scripts count exactly up to there.
#define PPI_PICTURE_LAST_NS (UINT64_C(1) << 53)

PPROF_END_C_
