// SPDX-License-Identifier: Apache-2.0
//
// The state of the Chrome writer. Its parts, from below: chrome_text.h, names
// by id (chrome_names.h), events as JSON (chrome_write.h), rows of slices
// (chrome_rows.h), the sink (chrome.h).
#pragma once

#include "chrome/chrome_flow.h"
#include "chrome/chrome_names.h"
#include "chrome/chrome_text.h"
#include "chrome/chrome_track.h"
#include "pprof/export.h"

PPROF_BEGIN_C_

// Devices are processes of their own in a trace, numbered from here. The
// kernel's process ids end far below, as do thread ids below the second number.
// From the third on are ids for processes with an id that an earlier run has.
#define PPI_CHROME_FIRST_DEVICE_PID (1u << 30)
#define PPI_CHROME_FIRST_OWN_TID (1u << 24)
#define PPI_CHROME_FIRST_OWN_PID (1u << 24)
// The rows of threads that left their lane are numbered from here on.
#define PPI_CHROME_FIRST_LEFT_LANE (1u << 20)

#define PPI_CHROME_NUM_NAMES (PPROF_DEFINITION_ATTRIBUTES + 1)

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
  ppi_chrome_flows flows;
  uint64_t num_buffered, next_order, num_not_finite;
  uint64_t num_too_much;       // names that were asked for in full, and are not
  uint64_t reported_until_ns;  // the last checkpoint
  uint64_t num_unchecked;      // events since one that was written
  bool has_windows;            // of the run, so far
  ppi_text *texts;             // the run info, copied for the end of the file
  size_t num_texts;
} ppi_chrome_writer;

PPROF_END_C_
