// SPDX-License-Identifier: Apache-2.0
//
// The parts of the session in force that markers use, and the epoch that
// switches all markers.
#pragma once

#include "names/names.h"
#include "pprof/mark.h"

PPROF_BEGIN_C_

// The part of the session in force that markers use. Changed only while the
// epoch is 0 and no thread is busy.
typedef struct ppi_recorder {
  ppi_spool spool;
  ppi_names *names;
  ppi_table *ranges;  // cross-thread ranges
  uint32_t serial;    // of the session, never 0, never reused
  uint32_t emits;     // PPI_SITE_EMITS while there is an NVTX tool, else 0
  // Atomic: an epoch in which nothing is recorded and only watched sites matter
  // (rules by markers), 0: none yet. Set before that epoch is published.
  uint32_t watch_epoch;
  // Markers of a watched name (ppi_names_watch) call the first before they
  // record the begin of a range, or a mark; while the thread is busy and
  // outside of any commit. It answers PPI_CAPTURE_... (capture.h). With LAST,
  // the second gets the end of this very occurrence, whichever thread
  // ends it (a mark: right after it); not where an edge has cut it, which ends
  // it as far as the rules are concerned.
  uint32_t (*watched_begun)(uint32_t site);
  void (*watched_ended)(uint32_t site);
} ppi_recorder;
extern PPI_HIDDEN ppi_recorder ppi_recorder_in_force;

// ppi_recorder_count_lost counts a marker for which there is no lane.
void ppi_recorder_count_lost(void);

// On a page that a child of fork or clone finds wiped: [0] the second copy of
// the epoch, which markers read after busy = 1; [1] the serial of the session
// that lives, also while no window is open; [2] 1, but 0 in such a child; [3]
// for the usual way of markers, the epoch again if the clock is the processor's
// counter, else 0.
extern PPI_HIDDEN uint32_t *ppi_epoch_page;
static inline uint32_t ppi_epoch_usual(void) {
  return __atomic_load_n(ppi_epoch_page + 3, __ATOMIC_ACQUIRE);
}
// A copy of pprof_epoch_ for markers' first test: pprof_epoch_ itself may lie
// in the program, behind the table of addresses.
extern PPI_HIDDEN uint32_t ppi_epoch_near;

// No epoch, and not 0 either.
#define PPI_NO_EPOCH UINT32_MAX

// ppi_epoch_init prepares the page, once; false: no memory.
bool ppi_epoch_init(void);
// ppi_epoch_publish sets all copies.
void ppi_epoch_publish(uint32_t epoch);
// ppi_epoch_wake has markers check their thread although nothing records, until
// the next epoch is published. That finds a marker that a jump has left.
void ppi_epoch_wake(void);
// ppi_epoch_next answers an epoch that this process never used.
uint32_t ppi_epoch_next(void);
// ppi_epoch_replace puts `to` in place of `from` for markers' first test.
void ppi_epoch_replace(uint32_t from, uint32_t to);
// In a forked child nothing records.
void ppi_epoch_in_forked_child(void);

// Marked unlikely so that the recording path follows in line.
static inline bool ppi_is_off(void) {
  return PPI_UNLIKELY(__atomic_load_n(&ppi_epoch_near, __ATOMIC_RELAXED) == 0);
}

PPROF_END_C_
