// SPDX-License-Identifier: Apache-2.0
//
// What ranges use and wait for: devices, the processor, energy, and a possible
// rate.
#pragma once

#include "pprof/event.h"
#include "report/figures/histogram.h"

PPROF_BEGIN_C_

// ---- device time of what one path launched ----

// Why the device ran nothing of a call between its first and last work.
typedef enum ppi_gap {
  PPI_GAP_NOT_LAUNCHED = 0,  // until the launch call of the next work
  PPI_GAP_LAUNCH,            // from that call on
  PPI_GAP_QUEUED,            // the next work was already launched
  PPI_NUM_GAPS
} ppi_gap;

typedef struct ppi_device_use {
  uint64_t kernels, copies;  // copies and sets
  uint64_t launches;         // calls; a graph's is one
  uint64_t by_wait;  // of these, launched by a thread that a range waited for
  uint64_t copied_bytes, copy_ns;
  uint64_t busy_ns;  // the union
  // For calls with device work. A span lasts from the first start to the last
  // end. host_ns is the ranges' host time, gap_ns the gaps in spans.
  uint64_t host_ns, gap_ns[PPI_NUM_GAPS];
  ppi_spread spans;
  ppi_histogram span_times;
  ppi_histogram delays;  // from each launch to the first start
} ppi_device_use;

static inline uint64_t ppi_device_use_idle(const ppi_device_use *use) {
  uint64_t sum_ns = 0;
  for (int i = 0; i < PPI_NUM_GAPS; i++) sum_ns += use->gap_ns[i];
  return sum_ns;
}

// ---- waits of device ranges, from submission to start on the device ----

// All zero is the empty queue.
typedef struct ppi_queue {
  uint64_t calls;           // device ranges, also those without a time
  uint64_t device_ns;       // sum of device times
  uint64_t error_ns;        // sum of the stated clock errors
  uint64_t num_unresolved;  // delays below their own clock error
  ppi_spread delay;         // device start - submission
  ppi_histogram delays;
} ppi_queue;

// ppi_queue_add takes a device range with a time; the caller counts `calls`.
bool ppi_queue_add(ppi_queue *queue, const pprof_event *event);

// A mean delay is known if it is not below the mean clock error. A quantile is
// known if its rank is above the number of unresolved delays.
bool ppi_queue_knows_mean(const ppi_queue *queue);
bool ppi_queue_knows_quantile(const ppi_queue *queue, unsigned percent);

// ---- CPU use of one name's host ranges ----

// All zero is the empty one. Sums cover the ranges in `num_known`. All fields
// are sums: fields.h adds them up as words.
typedef struct ppi_cpu_sums {
  uint64_t num_asked;   // ranges for which `cpu` was on
  uint64_t num_known;   // of those, ranges with times
  uint64_t num_queued;  // of these, ranges with the run-queue time
  uint64_t real_ns, user_ns, sys_ns, inner_ns, run_queue_ns;
  uint64_t voluntary, involuntary, minor_faults, major_faults;
  // Sums over `num_queued`: recorded waits, blocked time without a recorded
  // wait, recorded waits on a processor.
  uint64_t waits_ns, unrecorded_ns, on_processor_ns;
} ppi_cpu_sums;

void ppi_cpu_sums_add(ppi_cpu_sums *sums, const pprof_cpu_use *use,
                      uint64_t real_ns, uint64_t waits_ns);

// Waits of one lane that an outer range has not counted yet. All zero is the
// empty one; the caller frees `items`.
typedef struct ppi_wait_inside {
  uint64_t start_ns, length_ns;
} ppi_wait_inside;
typedef struct ppi_waits_inside {
  ppi_wait_inside *items;
  size_t num, capacity;
} ppi_waits_inside;

// False: out of memory.
bool ppi_waits_inside_add(ppi_waits_inside *waits, uint64_t start_ns,
                          uint64_t length_ns);
// ppi_waits_inside_of sums up the waits since `start_ns`, a range's begin.
// Outer ranges count these waits, too.
uint64_t ppi_waits_inside_of(ppi_waits_inside *waits, uint64_t start_ns);

// ---- energy by stage, and idle ----

typedef enum ppi_energy_kind {
  PPI_ENERGY_STAGE,
  PPI_ENERGY_SHORT,  // stages too short for the sampling, together
  PPI_ENERGY_IDLE,
  PPI_ENERGY_TOTAL
} ppi_energy_kind;

typedef struct ppi_energy_row {
  ppi_energy_kind kind;
  char device[16];
  char name[96];
  bool is_unresolved;  // its energy is in the row of short stages
  double joules, error_joules;
  uint64_t calls, busy_ns;
} ppi_energy_row;

// ---- a stage under its device's roofline ----

typedef struct ppi_roofline {
  const char *stage;
  const char *model;           // file with the count; NULL: the program's count
  const char *type;            // number type of the peak; "": unknown
  bool at_least;               // some FLOPs are unknown
  bool on_device;              // own_s is the time of its device ranges
  double calls, flops, bytes;  // of steady calls; 0: unknown
  double own_s, wall_s;        // own time of steady calls; time of the windows
  double peak_flops, peak_bytes;  // a second; 0: unknown
} ppi_roofline;

// A field is 0 if it is unknown.
typedef struct ppi_roofline_reported {
  double rate;           // FLOPs / second of own time
  double mfu, wall_mfu;  // %, of the peak
  double intensity;      // FLOPs a byte
  double ridge;          // from this intensity on, arithmetic is the bound
  double reach;          // %, of the roof at this intensity
} ppi_roofline_reported;

ppi_roofline_reported ppi_roofline_tell(const ppi_roofline *roofline);

PPROF_END_C_
