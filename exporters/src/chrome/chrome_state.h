// SPDX-License-Identifier: Apache-2.0
//
// The state of the Chrome writer. Its parts, from below: chrome_text.h, names
// by id (chrome_names.h), events as JSON (chrome_write.h), rows of slices
// (chrome_rows.h), the sink (chrome.h).
#pragma once

#include "chrome/chrome_flow.h"
#include "chrome/chrome_names.h"
#include "event/texts.h"
#include "pprof/export.h"

// Devices are processes of their own in a trace, numbered from here. The
// kernel's process ids end far below, as do thread ids below the second number.
// From the third on are ids for processes with an id that an earlier run has.
#define PPI_CHROME_FIRST_DEVICE_PID (1u << 30)
#define PPI_CHROME_FIRST_OWN_TID (1u << 24)
#define PPI_CHROME_FIRST_OWN_PID (1u << 24)
// The rows of threads that left their lane are numbered from here on.
#define PPI_CHROME_FIRST_LEFT_LANE (1u << 20)

#define PPI_CHROME_NUM_NAMES (PPROF_DEFINITION_ATTRIBUTES + 1)

// ---- rows ----

// Rows of a Chrome trace. Viewers drop slices that overlap partly on one row.
// Each slice is therefore put on the first row of its group where it nests or
// is separate.
//
// Slices come in order of their ends (a parent after its children). A row
// therefore keeps its roots: the slices not inside another, sorted and
// disjoint.
//
//   row 0   [-- root --]  [root] [------ root ------]
//             ^ slices inside a root are dropped

// More roots than this are thinned out. Neighbours of one depth become one, as
// nothing can begin between siblings any more. If that is not enough, the older
// half is closed to slices that begin before its end.
#define PPI_CHROME_MAX_ROOTS 1024

// A slice that fits on none of so many rows gets a new one.
#define PPI_CHROME_ROWS_TRIED 1024

typedef struct ppi_chrome_root {
  uint64_t start_ns, end_ns;
  uint32_t depth;
} ppi_chrome_root;

// Three numbers of ten digits and the words between them take 62.
#define PPI_CHROME_PLACE_LEN 64

typedef struct ppi_chrome_track {
  uint32_t tid;
  // The JSON of the row's place, in this process and window; length 0: not made
  // yet.
  uint32_t place_pid, place_window, place_len;
  char place[PPI_CHROME_PLACE_LEN + PPI_DIGITS_MOST];
  uint64_t floor_ns;  // nothing may begin before it
  ppi_chrome_root *roots;
  size_t num_roots, capacity;
} ppi_chrome_track;

// The contents of a slice, kept by value until it is placed.
typedef struct ppi_chrome_slice {
  uint64_t start_ns, end_ns;  // of the side shown
  uint64_t queue_ns, device_error_ns;
  // For the submission of a timed device range: its device side.
  uint64_t device_start_ns, device_end_ns;
  const uint64_t *flows;
  size_t num_flows;
  const pprof_cpu_use *cpu;      // NULL: none
  const pprof_numbers *numbers;  // NULL: none
  uint32_t woken_by;             // of a wait: an OS thread; 0: unknown
  pprof_work_amount work;        // size 0: none
  uint64_t step;
  uint32_t site, flags, window, depth;
  uint32_t stream;      // of a submission
  uint32_t lane;        // of has_arrow
  uint32_t attributes;  // of a device side: how it was launched; 0: not known
  bool is_step, has_queue, has_device_error, is_timed, is_async, is_submission;
  bool has_arrow;  // from the range that launched it
  bool is_made;    // of a shape
} ppi_chrome_slice;

typedef enum ppi_chrome_kind {
  PPI_CHROME_THREAD = 0,  // by lane: what nests on its thread
  PPI_CHROME_SUBMIT,      // by lane: host sides of device ranges
  PPI_CHROME_ASYNC,       // by lane: ranges that wander
  PPI_CHROME_STREAM,      // by stream: device sides
  PPI_CHROME_NUM_KINDS
} ppi_chrome_kind;

typedef struct ppi_chrome_buffered {
  ppi_chrome_slice slice;
  uint64_t end_ns;  // of the slice and of what is inside it
  uint64_t order;   // of arrival
} ppi_chrome_buffered;

typedef struct ppi_chrome_group {
  ppi_chrome_kind kind;
  uint32_t id;
  uint64_t horizon_ns;  // buffered slices that end by then may be placed
  ppi_chrome_track *tracks;
  size_t num_tracks, tracks_capacity;
  ppi_chrome_buffered *buffered;
  size_t num_buffered, buffered_capacity;
} ppi_chrome_group;

typedef struct ppi_chrome_groups {
  ppi_chrome_group **items;  // indexed by id
  size_t num_items, capacity;
} ppi_chrome_groups;

typedef struct ppi_chrome_writer {
  pprof_sink base;
  ppi_chrome_out out;
  ppi_part part;  // until `out.io` has it
  char *path;     // of a file of our own
  bool gzip, finished, first_written;
  ppi_disk *disk;
  uint64_t limit_ms, most_bytes;
  // The runs of the file: all, begun and finished ones, their time shifts,
  // labels and process ids.
  size_t num_runs, num_begun, num_finished;
  uint64_t *shifts_ns;        // NULL: one run, not shifted
  const char *const *labels;  // of the runs, as the plan has them
  const char *label;          // of this one; NULL: none
  uint32_t *pids;
  uint64_t base_ns;
  // Of the run that is being written. own_pid: the run's own id; device_pid:
  // the id of its device 0.
  uint64_t shift_ns;
  uint32_t pid, own_pid, device_pid, next_tid, process_order;
  char *program;
  ppi_chrome_names names[PPI_CHROME_NUM_NAMES];
  ppi_chrome_groups groups[PPI_CHROME_NUM_KINDS];
  uint64_t num_rows;        // rows of threads that left; they are written
  uint32_t num_lanes_left;  // the lanes of these rows
  uint64_t *tids;           // bits: given to rows
  size_t num_tids, tids_capacity;
  ppi_chrome_slice *of_shapes;  // of the batch of columns, made when met
  size_t of_shapes_capacity;
  ppi_chrome_flows flows;
  uint64_t num_buffered, next_order, num_not_finite;
  uint64_t num_too_much;       // names that were asked for in full, and are not
  uint64_t reported_until_ns;  // the last checkpoint
  bool is_checked;             // it is not written yet
  bool has_windows;            // of the run, so far
  ppi_texts texts;             // the run info, copied for the end of the file
} ppi_chrome_writer;
