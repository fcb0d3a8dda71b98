// SPDX-License-Identifier: Apache-2.0
//
// Tracks of a Perfetto trace, and the names that its packets refer to by
// number: each told when it is first needed. One thread.
#pragma once

#include "export/lanes.h"
#include "export/names.h"
#include "export/perfetto_out.h"

// All packets are of one sequence, whose numbers stay.
enum { PPI_PERFETTO_SEQUENCE = 1 };

typedef enum ppi_perfetto_kind {
  PPI_PERFETTO_THREAD,   // by lane: what nests
  PPI_PERFETTO_LOOSE,    // by lane: what ends anywhere
  PPI_PERFETTO_SUBMIT,   // by lane: submissions of device ranges
  PPI_PERFETTO_DEVICE,   // by device: what its streams are below
  PPI_PERFETTO_STREAM,   // by stream
  PPI_PERFETTO_COUNTER,  // by site
  PPI_PERFETTO_NUM_KINDS
} ppi_perfetto_kind;

// What debug annotations are called.
#define PPI_PERFETTO_WORDS(X)  \
  X(ITEMS, "items")            \
  X(BYTES, "bytes")            \
  X(FLOPS, "flops")            \
  X(PARAMS, "params")          \
  X(STEP, "step")              \
  X(USER, "user_ns")           \
  X(SYS, "sys_ns")             \
  X(RUN_QUEUE, "run_queue_ns") \
  X(ERROR, "device_error_ns")  \
  X(FLAGS, "flags")            \
  X(ATTRIBUTES, "attributes")
typedef enum ppi_perfetto_word {
#define PPI_PERFETTO_ENUM_(name, text) PPI_PERFETTO_##name##_WORD,
  PPI_PERFETTO_WORDS(PPI_PERFETTO_ENUM_)
#undef PPI_PERFETTO_ENUM_
      PPI_PERFETTO_NUM_WORDS
} ppi_perfetto_word;

typedef struct ppi_perfetto_group {
  ppi_export_lanes lanes;
  uint64_t *uuids;  // of its rows, by lane
  size_t num_uuids, capacity;
} ppi_perfetto_group;

typedef struct ppi_perfetto_tracks {
  ppi_perfetto_out *out;
  ppi_export_names *names;
  ppi_map numbers;  // of groups, by kind and row
  ppi_map threads;  // that have a track, by process and number
  ppi_perfetto_group *groups;
  size_t num_groups, capacity;
  uint64_t num_uuids;
  uint64_t process;  // the run's track
  int32_t pid;       // what it is called in the trace
  int32_t *pids;     // of all runs
  size_t pids_capacity;
  unsigned char *reported[2];  // sites, categories: by row
  size_t reported_capacity[2], num_reported[2];
} ppi_perfetto_tracks;

// ppi_perfetto_run tells of the run that the names have just begun. These
// answer NO_MEMORY.
pprof_status ppi_perfetto_run(ppi_perfetto_tracks *tracks);
// ppi_perfetto_group_of finds the group of a row. It is valid until the next
// one is looked for.
pprof_status ppi_perfetto_group_of(ppi_perfetto_tracks *tracks,
                                   ppi_perfetto_kind kind, uint32_t row,
                                   ppi_perfetto_group **out);
// ppi_perfetto_track answers the track of a group's lane, which is told if it
// is new.
pprof_status ppi_perfetto_track(ppi_perfetto_tracks *tracks,
                                ppi_perfetto_kind kind, uint32_t row,
                                size_t lane, uint64_t *out_uuid);
// ppi_perfetto_tell tells the name of a site and that of its category, of which
// it answers the row.
pprof_status ppi_perfetto_tell(ppi_perfetto_tracks *tracks, uint32_t site,
                               uint32_t *out_category);
void ppi_perfetto_tracks_clear(ppi_perfetto_tracks *tracks);
