// SPDX-License-Identifier: Apache-2.0
//
// Lists what is open in a spool of a dead or running process: by lane the
// stack, cross-thread ranges, device ranges that were not found finished, and
// the last finished range of each stream. Reads the file, maps and changes
// nothing.
#pragma once

#include "names/names.h"
#include "spool/spool.h"

PPROF_BEGIN_C_

// In the order of the items: lanes first, each with its ranges from the outside
// in.
typedef enum ppi_open_kind {
  PPI_OPEN_RANGE,      // on its thread's stack
  PPI_OPEN_NOTHING,    // a thread with no open range
  PPI_OPEN_CHANGING,   // the thread's inner ranges change too fast to be read
  PPI_OPEN_LANE_LAST,  // the last device range that the thread began and that
                       // was found finished
  PPI_OPEN_CROSS_THREAD,  // may end on any thread
  PPI_OPEN_DEVICE,        // begun, or submitted and not found finished
  PPI_OPEN_FINISHED       // the last one of its stream that was found finished
} ppi_open_kind;

typedef struct ppi_open_item {
  ppi_open_kind kind;
  bool submitted;  // of DEVICE: its host side is whole
  uint32_t lane;   // where it began; 0: unknown
  uint32_t tid;
  uint32_t site;            // 0: none
  uint32_t stream, device;  // ids of definitions; 0: none
  uint32_t depth;
  uint64_t flow;       // the first one; 0: none
  uint32_t waits_for;  // of a wait: the OS thread that it waits for; 0: unknown
  uint32_t waits_how;  // of a wait: its kind, PPI_WAIT_KIND
  // On the run's clock. FINISHED and LANE_LAST have the device's own times, the
  // others only a start.
  uint64_t start_ns, end_ns;
} ppi_open_item;

typedef struct ppi_forensics {
  uint32_t pid;
  bool alive;
  uint64_t start_realtime_ns;  // wall clock at 0 ns of the run
  uint64_t until_ns;           // now, or when the process last showed life
  ppi_open_item *items;
  size_t num_items, capacity;
  uint64_t num_torn;     // changed faster than it could be read
  uint64_t num_damaged;  // made no sense and were left out
  ppi_spool names;       // definitions: of lanes, and a copy of the names area
} ppi_forensics;

// ppi_forensics_read reads the spool at `path`; clear it in any case. Errors:
// IO, INVALID (not a spool), VERSION, CORRUPT, BUSY (this process's own),
// NO_MEMORY.
pprof_status ppi_forensics_read(const char *path, ppi_forensics *out,
                                pprof_error *error);
void ppi_forensics_clear(ppi_forensics *forensics);
// ppi_forensics_owner answers the process that writes to the spool; 0: none, or
// no spool. Cheap.
uint32_t ppi_forensics_owner(const char *path);

PPROF_END_C_
