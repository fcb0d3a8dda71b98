// SPDX-License-Identifier: Apache-2.0
//
// The structures behind the sinks' getters: run info, definitions, checkpoints
// and totals. Made by the collector, by the log reader and by recover;
// everything is borrowed for the call.
#pragma once

#include "pprof/event.h"

PPROF_BEGIN_C_

struct ppi_staging;

typedef struct ppi_text {
  const char *key;
  const char *value;
} ppi_text;

struct pprof_run_info {
  const ppi_text *texts;
  size_t num_texts;
  // A log writer's place for closed blocks that survive the process; NULL
  // without a live spool (reading, recovering). One writer takes it
  // (ppi_staging_claim), further writers use memory of their own.
  struct ppi_staging *staging;
};

// A sink's usual calls, all of them: PREFIXbegin and so on.
#define PPI_SINK_CALLBACKS(prefix)                                            \
  .begin = prefix##begin, .define = prefix##define, .events = prefix##events, \
  .window = prefix##window, .checkpoint = prefix##checkpoint,                 \
  .finish = prefix##finish

// A damaged log may claim any id, and readers have arrays by id: they accept no
// id or parent from here on.
#define PPI_MAX_ID (1u << 22)

// ppi_definition_is_known answers false for a kind of a later version. Sinks
// have tables by kind: no reader delivers such a definition.
static inline bool ppi_definition_is_known(uint32_t kind) {
  return kind >= PPROF_DEFINITION_SITE && kind <= PPROF_DEFINITION_ATTRIBUTES;
}

// ppi_definition_keep copies `from` and its name, which `kept` owns then, to be
// freed; false, with `kept` as it was: no memory.
bool ppi_definition_keep(pprof_definition *kept, const pprof_definition *from);

// ppi_definition_text answers the name that people read: a site may be named
// "".
#define PPI_NO_NAME "(no name)"
static inline const char *ppi_definition_text(uint32_t kind, const char *name) {
  if (!name) name = "";
  return *name || kind != PPROF_DEFINITION_SITE ? name : PPI_NO_NAME;
}

struct pprof_definition {
  pprof_definition_kind kind;
  uint32_t id;
  uint32_t parent;
  uint32_t color;
  uint64_t number;
  const char *name;
};

// `open` lists ranges that will end as events later. An open host range lasts
// at least until end_ns: the checkpoint's time, or the closing edge of its
// window. So it covers [start_ns, end_ns]. A pending device range has kind
// DEVICE_RANGE, start_ns = submit, and stream set: its device part begins at
// start_ns or later. No event that starts before time_ns and is not listed is
// delivered later. One exception to "will end": step 0 is listed from the
// start, and is no event if the program never calls pprof_step; a reader
// without a step at finish forgets it.
struct pprof_checkpoint {
  uint64_t time_ns;
  const pprof_event *open;
  size_t num_open;
};

// One list gives the keys of the `trust` object and of pprof_totals_value.
// PER_LANE ones exist for each lane and, summed, for PPROF_ALL_LANES; the
// others for PPROF_ALL_LANES only.
#define PPI_TOTAL_LIST(X)                              \
  X(RECORDED, "recorded", 1)                           \
  X(LOST, "lost", 1)                                   \
  X(EXCLUDED, "excluded", 1)                           \
  X(UNMATCHED, "unmatched", 1)                         \
  X(BEGUN_BEFORE, "begun_before", 1)                   \
  X(ABANDONED, "abandoned", 1)                         \
  X(CLIPPED, "clipped", 1)                             \
  X(LATE, "late", 1)                                   \
  X(INVALID, "invalid", 1)                             \
  X(DEVICE_LOST, "device_lost", 1)                     \
  X(FLOWS_LOST, "flows_lost", 1)                       \
  X(NO_DEVICE_TIME, "no_device_time", 1)               \
  X(NAMES_OVERFLOWED, "names_overflowed", 0)           \
  X(CLAMPED, "device_times_clamped", 0)                \
  X(CLOCK_ERROR_NS, "clock_error_ns", 0)               \
  X(OWN_COST, "own_cost_ns_per_marker_x1000", 0)       \
  X(OWN_COST_TOTAL_NS, "own_cost_total_ns", 0)         \
  X(CRASH_SAFE, "crash_safe", 0)                       \
  X(CPU_PROCESS_NS, "cpu_process_ns", 0)               \
  X(CPU_ELAPSED_NS, "cpu_elapsed_ns", 0)               \
  X(CPU_SYSTEM_BUSY_TICKS, "cpu_system_busy_ticks", 0) \
  X(CPU_SYSTEM_IDLE_TICKS, "cpu_system_idle_ticks", 0) \
  X(INCOMPLETE, "ended_without_stop", 0)
typedef enum ppi_total_key {
#define PPI_TOTAL_ENUM_(name, key, per_lane) PPI_TOTAL_##name,
  PPI_TOTAL_LIST(PPI_TOTAL_ENUM_)
#undef PPI_TOTAL_ENUM_
      PPI_NUM_TOTALS
} ppi_total_key;
const char *ppi_total_name(ppi_total_key key);
bool ppi_total_is_per_lane(ppi_total_key key);

typedef struct ppi_total {
  uint32_t lane;  // PPROF_ALL_LANES: the whole run
  uint32_t key;
  uint64_t value;
} ppi_total;

// Keys of notes that a report looks for. OVERLAPS: work of a stream lasts over
// later work of it. CLOCKS: times of different clocks, or impossible ones.
#define PPI_NOTE_OVERLAPS "overlaps"
#define PPI_NOTE_CLOCKS "clocks"

// `items` are sorted by lane, then key; zero values may be left out. `notes`
// are texts beside the numbers, e.g. {"not_crash_safe", "no room in /dev/shm"},
// {"device", "opencl 0: no platform found"}, {"clock", "..."}.
struct pprof_totals {
  const ppi_total *items;
  size_t num_items;
  const ppi_text *notes;
  size_t num_notes;
};
uint64_t ppi_totals_get(const pprof_totals *totals, uint32_t lane,
                        ppi_total_key key);

PPROF_END_C_
