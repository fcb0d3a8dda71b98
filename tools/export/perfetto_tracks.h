// SPDX-License-Identifier: Apache-2.0
//
// Defines tracks of a Perfetto trace, and the names that packets refer to by
// number, each at its first use. One thread.
#pragma once

#include "export/export.h"
#include "export/perfetto.pb-c.h"
#include "file/buffer.h"

typedef struct ppi_perfetto_out {
  FILE *file;
  ppi_buffer raw, packed;  // `failed`: out of memory
} ppi_perfetto_out;

// ppi_perfetto_encode appends a packet to any bytes, as a trace has it.
void ppi_perfetto_encode(ppi_buffer *into, const PpiPerfetto__Packet *packet);
// ppi_perfetto_move appends the encoded packets of `from` and empties it.
void ppi_perfetto_move(ppi_perfetto_out *out, ppi_buffer *from);
// ppi_perfetto_flush writes the gathered packets; the caller checks the file at
// its end.
void ppi_perfetto_flush(ppi_perfetto_out *out);

// All packets are of one sequence, so numbers stay valid.
enum { PPI_PERFETTO_SEQUENCE = 1 };

typedef enum ppi_perfetto_kind {
  PPI_PERFETTO_THREAD,   // by lane: nested ranges
  PPI_PERFETTO_LOOSE,    // by lane: ranges that end anywhere
  PPI_PERFETTO_SUBMIT,   // by lane: submissions of device ranges
  PPI_PERFETTO_DEVICE,   // by device: the parent of its streams
  PPI_PERFETTO_STREAM,   // by stream
  PPI_PERFETTO_COUNTER,  // by site
  PPI_PERFETTO_NUM_KINDS
} ppi_perfetto_kind;

// The names of debug annotations.
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

// Begins at one depth of a lane, which the range around may share.
typedef struct ppi_perfetto_waiting {
  ppi_buffer packets;
  uint64_t start_ns;
} ppi_perfetto_waiting;

typedef struct ppi_perfetto_group {
  ppi_export_lanes lanes;
  uint64_t *uuids;  // of its rows, by lane
  size_t num_uuids, capacity;
  ppi_perfetto_waiting *depths;  // of nested ranges
  size_t num_depths, depths_capacity;
} ppi_perfetto_group;

typedef struct ppi_perfetto_tracks {
  ppi_perfetto_out *out;
  ppi_export_names *names;
  ppi_map numbers;  // of groups, by kind and row
  ppi_map threads;  // with a track, by process and number
  ppi_map pids;     // of all runs
  ppi_map told;     // sites, categories: by row
  ppi_perfetto_group *groups;
  size_t num_groups, capacity;
  uint64_t num_uuids;
  uint64_t process;  // the run's track
  int32_t pid;       // its number in the trace
} ppi_perfetto_tracks;

// ppi_perfetto_run defines the process of the run that the names have just
// begun.
void ppi_perfetto_run(ppi_perfetto_tracks *tracks);
// ppi_perfetto_group_of finds the group of a row. It is valid until the next
// call.
ppi_perfetto_group *ppi_perfetto_group_of(ppi_perfetto_tracks *tracks,
                                          ppi_perfetto_kind kind, uint32_t row);
// ppi_perfetto_track answers the track of a group's lane, and defines a new
// one.
uint64_t ppi_perfetto_track(ppi_perfetto_tracks *tracks, ppi_perfetto_kind kind,
                            uint32_t row, size_t lane);
// ppi_perfetto_tell defines the names of a site and its category, if new, and
// answers the category's row; UINT32_MAX: it has none.
uint32_t ppi_perfetto_tell(ppi_perfetto_tracks *tracks, uint32_t site);
void ppi_perfetto_tracks_clear(ppi_perfetto_tracks *tracks);
