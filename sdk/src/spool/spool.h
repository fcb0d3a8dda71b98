// SPDX-License-Identifier: Apache-2.0
//
// The spool: one mapping of 64 KiB chunks that outlives the process. Here is
// its layout, shared by markers, collector and recover; everything in it is
// found by chunk number or offset, never by pointer.
//
//   chunk 0   header: geometry, clock, edges, list of lanes, tables and names
//   then      staging ring of the log writer
//   then      ring of the flight recorder, where there is one
//   then      pool: names (definitions), lanes (eight in a chunk),
//             their rings and deep stacks, device tables
#pragma once

#include <string.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "event/event.h"
#include "spool/cpu_use.h"
#include "spool/staging.h"

PPROF_BEGIN_C_

#define PPI_CHUNK_SIZE 65536u
#define PPI_SPOOL_VERSION 9u
#define PPI_SPOOL_MAGIC "PPSPOOL"
#define PPI_SPOOL_MIN_CHUNKS 32u

typedef struct ppi_record {
  uint64_t start, end;  // ticks; a counter's end is the bits of its value
  uint64_t flow;
  uint32_t site;
  uint16_t depth;  // of an EXT_FLOWS: how many flows it holds
  uint8_t kind;    // pprof_kind, or an extension of the record that follows
  uint8_t flags;   // PPROF_FLAG_*
} ppi_record;

enum {
  PPI_RECORD_TOKENS = 5,       // a mark: `end` tokens of the request in `flow`
  PPI_RECORD_SERVED = 6,       // a mark: that request is served, since `end` ns
  PPI_RECORD_EXT_FLOWS = 16,   // up to three further flows in start, end, flow
  PPI_RECORD_EXT_WORK = 17,    // items, bytes, flops (bits of doubles)
  PPI_RECORD_EXT_PARAMS = 18,  // params
  PPI_RECORD_EXT_CPU = 19,     // ppi_cpu_pack has their layout
  PPI_RECORD_EXT_CPU_MORE = 20,
  // Up to three further numbers of the name in start, end, flow; `depth`: how
  // many; `flags`: pprof_numbers.full_name.
  PPI_RECORD_EXT_NUMBERS = 21
};

#define PPI_SLOTS_PER_CHUNK (PPI_CHUNK_SIZE / sizeof(ppi_record))

// EMITTED: an NVTX tool got its begin (emit.h). LAST: a rule waits for
// its end (capture.h). UNRECORDED: it only keeps the balance. CPU: its CPU use
// is measured (cpu_mark.h). NUMBERS: they are in the deep stack.
enum {
  PPI_FRAME_LOST = 1,
  PPI_FRAME_WORK = 2,
  PPI_FRAME_EMITTED = 4,
  PPI_FRAME_LAST = 8,
  PPI_FRAME_EXCLUDED = 16,
  PPI_FRAME_CPU = 32,
  PPI_FRAME_NUMBERS = 64,
  PPI_FRAME_UNRECORDED = PPI_FRAME_LOST | PPI_FRAME_EXCLUDED
};

// An open range on a lane's stack. Its first flow is here, the further
// num_flows - 1 are the first of the lane's flow stack. A child inherits its
// parent's and adds behind them, so the innermost frame has all that are in
// use. A marker writes `site` to `reserved` in one store, and
// reads `num_flows` to `reserved` in one load (frame.h).
typedef struct ppi_frame {
  uint64_t start;
  uint64_t flow;
  uint32_t site;
  uint16_t num_flows;
  uint8_t flags;
  uint8_t reserved;
  uint16_t reserved3;
  uint8_t cpu_place;  // with PPI_FRAME_CPU; PPI_CPU_NO_PLACE: not measured
  uint8_t reserved2[5];
} ppi_frame;
PPI_STATIC_ASSERT(sizeof(ppi_frame) == 32, "found by a shift");

typedef struct ppi_work {
  double items, bytes, flops, params;
} ppi_work;

#define PPI_CPU_NO_PLACE 255u
#define PPI_MAX_FRAMES 512u
#define PPI_MAX_DEPTH 65535u
#define PPI_MAX_FLOWS 64u
// A lane has its first frames and records in itself; more of either take a
// chunk. Its own slots have the numbers of the last ones of the directory's
// first chunk, so that the next chunk needs no special case.
#define PPI_LANE_SIZE 8192u
#define PPI_LANES_PER_CHUNK (PPI_CHUNK_SIZE / PPI_LANE_SIZE)
#define PPI_LANE_FRAMES 16u
#define PPI_LANE_RECORDS 64u
#define PPI_FIRST_SLOT (PPI_SLOTS_PER_CHUNK - PPI_LANE_RECORDS)
#define PPI_LANE_CHUNKS 1024u
// The unit of directories.
#define PPI_UNIT 2048u
#define PPI_UNITS_PER_CHUNK (PPI_CHUNK_SIZE / PPI_UNIT)
// The bytes of a row's name, with its zero.
#define PPI_LANE_NAME 232u

// FREE: spare. INIT: being laid out. LIVE: a thread has it. LEFT: its thread
// has ended, its records are still to be drained.
enum {
  PPI_LANE_FREE = 0,
  PPI_LANE_LIVE = 1,
  PPI_LANE_LEFT = 2,
  PPI_LANE_INIT = 3
};

// The last finished range of a stream, or of a thread on any stream, for a look
// at a hang. `version` is odd while it is being written, 0 if there is none.
// Streams share places by id.
#define PPI_FINISHED_STREAMS 128u
typedef struct ppi_finished {
  uint64_t version;
  uint64_t start_ns, end_ns;  // the device's times, on the run's clock
  uint32_t stream, device, site;
  uint32_t reserved;
} ppi_finished;

// One thread's row. Another thread may get it once the first one has left and
// all its records are kept. Record numbers continue. `commit` is the one word
// that publishes: head << 16 | depth, stored by the owner (release), read by
// the collector (acquire). Slot s lies in chunk directory[(s /
// PPI_SLOTS_PER_CHUNK) % PPI_LANE_CHUNKS], from PPI_FIRST_SLOT on; a sink's
// number of a record counts from there. Chunks [freed_chunks, capacity /
// PPI_SLOTS_PER_CHUNK) belong to the lane, 0 being its own records.
typedef struct ppi_lane {
  uint64_t commit;
  uint64_t capacity;     // owner: first slot beyond its chunks
  int64_t frames_at;     // owner: where its frames lie, in bytes from here
  uint64_t num_frames;   // owner: room there; read before `frames_at`
  uint32_t stack_epoch;  // the epoch the open frames belong to
  uint32_t edge;  // compare-and-swapped by the thread that cuts the stack
  uint32_t before_left;  // surplus pops that belong to frames cut earlier
  uint32_t too_deep;     // open ranges beyond PPI_MAX_DEPTH
  uint32_t state;
  uint32_t lost_epoch;  // owner: of the pushes behind `lost_left`
  uint64_t lost, unmatched, begun_before, excluded, flows_lost, device_lost;
  uint64_t interrupted;  // markers lost because they interrupted one; atomic
  uint32_t tid;
  uint32_t serial;     // number of its thread, of all that have come
  uint32_t id;         // its place among the header's lanes + 1; it stays
  uint32_t lost_left;  // owner: pops to come of pushes that met a cut
  uint64_t collector_line_[4];
  uint64_t kept;          // collector: records below survive elsewhere
  uint64_t freed_chunks;  // collector: chunks below went back to the pool
  // Collector: how many records below a `kept` are in no log, for the lane's
  // `kept` and for the one that it is about to have (ppi_lane_gone).
  struct {
    uint64_t kept, excluded;
  } gone[2];
  ppi_finished finished;  // collector
  // Collector: records below went with blocks that the flight recorder's ring
  // has dropped, and are counted there.
  uint64_t dropped;
  ppi_frame own_frames[PPI_LANE_FRAMES];
  ppi_work own_work[PPI_LANE_FRAMES];
  uint64_t flow_stack[PPI_MAX_FLOWS];
  uint64_t first_number;  // of the record in slot PPI_FIRST_SLOT
  // Odd while the name is being written. It never falls: a reader with an
  // earlier name, of this thread or of one before it, finds the change.
  uint64_t naming;
  uint64_t reserved;
  uint64_t name[PPI_LANE_NAME / sizeof(uint64_t)];  // words of atomic text
  uint32_t directory[PPI_LANE_CHUNKS];
  ppi_record own_records[PPI_LANE_RECORDS];
} ppi_lane;
PPI_STATIC_ASSERT(sizeof(ppi_lane) == PPI_LANE_SIZE, "found by its number");
PPI_STATIC_ASSERT(offsetof(ppi_lane, own_frames) % 64 == 0, "whole lines");
PPI_STATIC_ASSERT(offsetof(ppi_lane, own_records) % PPI_UNIT == 0,
                  "a directory can say where");

// The chunk of a lane's stack that needs more frames than the lane has, or room
// for folded names' numbers.
typedef struct ppi_deep_stack {
  ppi_frame frames[PPI_MAX_FRAMES];
  ppi_work work[PPI_MAX_FRAMES];
  pprof_numbers numbers[PPI_MAX_FRAMES];  // of the names of folded ones
} ppi_deep_stack;
PPI_STATIC_ASSERT(sizeof(ppi_deep_stack) <= PPI_CHUNK_SIZE, "a chunk");

enum {
  PPI_SLOT_FREE = 0,
  PPI_SLOT_OPEN = 1,
  PPI_SLOT_ENDING = 2,   // somebody is filling in its end
  PPI_SLOT_ENDED = 3,    // the host side is whole
  PPI_SLOT_RESOLVED = 4  // it has its seq (and device times)
};

// The state of a slot's `cpu`. NONE: not asked for. BEGUN: its thread's use
// when it began. KNOWN: from then to its end.
enum { PPI_CPU_SLOT_NONE, PPI_CPU_SLOT_BEGUN, PPI_CPU_SLOT_KNOWN };

// One cross-thread or device range. The table's states[] hold {seq:37, gen:24,
// state:3}; the word's release store publishes what lies here.
typedef struct ppi_slot {
  // The first line has everything that most ranges need: markers write it and
  // the collector reads it. The rest stays in its owner's cache.
  uint64_t start, end;  // ticks
  uint64_t device_start_ns, device_end_ns;
  uint32_t site, lane;
  uint32_t stream, end_lane;
  uint16_t depth;
  uint8_t kind, flags;
  uint32_t num_flows;   // atomic while open
  uint8_t has_work;     // atomic while open; `work` counts only with it
  uint8_t provisional;  // step 0 of a program that never called pprof_step:
                        // open, but no record unless it is ended
  uint8_t cpu_state;    // PPI_CPU_SLOT_...
  uint8_t is_step;      // the open step: no edge cuts it but its own end
  uint32_t is_request;  // PPROF_FLAG_REQUEST
  ppi_work work;        // atomic adds while open; 0 until has_work is set
  double value;         // of a step
  uint64_t device_error_ns;  // of a device range
  uint32_t cut;  // atomic; ranges that edges cut here and nobody ended since
  uint32_t reserved;
  ppi_cpu_use cpu;  // as cpu_state says
  uint64_t flows[PPI_MAX_FLOWS];
} __attribute__((aligned(64))) ppi_slot;

PPI_STATIC_ASSERT(offsetof(ppi_slot, work) == 64, "one line");
// The flags of its event.
static inline uint32_t ppi_slot_flags(const ppi_slot *slot) {
  return slot->flags | (slot->is_request ? (uint32_t)PPROF_FLAG_REQUEST : 0u);
}

// A cross-thread range has numbers of its name where a device range has its
// device's times; `stream` says how many.
static inline void ppi_slot_set_numbers(ppi_slot *slot,
                                        const pprof_numbers *numbers) {
  slot->stream = 1 + numbers->num + (numbers->full_name << 8);
  slot->device_start_ns = numbers->values[0];
  slot->device_end_ns = numbers->values[1];
  slot->device_error_ns = numbers->values[2];
  memcpy(&slot->value, &numbers->values[3], sizeof slot->value);
}
// ppi_slot_numbers answers whether it has any.
static inline bool ppi_slot_numbers(const ppi_slot *slot, pprof_numbers *out) {
  if (slot->kind != PPROF_KIND_RANGE || slot->stream == 0) return false;
  uint32_t num = (slot->stream & 0xffu) - 1;
  *out = (pprof_numbers){
      sizeof *out,
      PPI_MIN(num, PPROF_MOST_NUMBERS),
      slot->stream >> 8 & 0xffu,
      {slot->device_start_ns, slot->device_end_ns, slot->device_error_ns, 0}};
  memcpy(&out->values[3], &slot->value, sizeof slot->value);
  return true;
}
static inline uint32_t ppi_slot_stream(const ppi_slot *slot) {
  return slot->kind == PPROF_KIND_DEVICE_RANGE ? slot->stream : 0;
}

#define PPI_SLOTS_PER_TABLE_CHUNK (PPI_CHUNK_SIZE / sizeof(ppi_slot))
#define PPI_TABLE_CHUNKS 63u
#define PPI_TABLE_SLOTS (PPI_TABLE_CHUNKS * (uint32_t)PPI_SLOTS_PER_TABLE_CHUNK)

typedef struct ppi_table {
  uint32_t lane;       // the lane with seqs from the collector
  uint32_t device;     // definition id, 0 for the process's cross-thread ranges
  uint32_t num_slots;  // in chunks so far; grows (ppi_table_grow)
  uint32_t max_slots;
  uint64_t next_seq;   // collector
  uint64_t kept;       // collector
  uint64_t unmatched;  // atomic
  // Collector: {number:48, index + 1:16}: the number of slots that were freed
  // although no log has them, and the slot now being freed (0: none).
  uint64_t excluded;
  uint64_t dropped;  // collector; as a lane's
  uint32_t chunks[PPI_TABLE_CHUNKS];
  uint16_t next_free[PPI_TABLE_SLOTS] __attribute__((aligned(64)));  // + 1
  uint64_t states[PPI_TABLE_SLOTS] __attribute__((aligned(64)));
} ppi_table;
PPI_STATIC_ASSERT(sizeof(ppi_table) <= PPI_CHUNK_SIZE, "a table is one chunk");

#define PPI_STATE(seq, gen, state) \
  ((uint64_t)(seq) << 27 | (uint64_t)((gen)&0xffffffu) << 3 | (state))
#define PPI_STATE_OF(word) ((uint32_t)((word)&7u))
#define PPI_STATE_GEN(word) ((uint32_t)((word) >> 3 & 0xffffffu))
#define PPI_STATE_SEQ(word) ((word) >> 27)
// Whether the slot's range is neither free nor resolved.
static inline bool ppi_slot_is_pending(uint64_t state) {
  uint32_t kind = PPI_STATE_OF(state);
  return kind == PPI_SLOT_OPEN || kind == PPI_SLOT_ENDING ||
         kind == PPI_SLOT_ENDED;
}

// A slot with what it is sorted by: its range's end, or its number.
typedef struct ppi_slot_order {
  uint64_t order;
  uint32_t index;
} ppi_slot_order;
void ppi_slots_sort(ppi_slot_order *list, size_t num);

enum {
  PPI_EDGE_OPENS = 1,      // a window opens here
  PPI_EDGE_CLOSES = 2,     // a window closes here
  PPI_EDGE_AFTER_OFF = 4,  // nothing recorded just before it
  PPI_EDGE_START = 8,      // the session's start
  PPI_EDGE_STOP = 16       // and its end
};

typedef struct ppi_edge {
  uint64_t ticks;
  uint32_t old_epoch, new_epoch;  // 0: off
  uint32_t flags;
  uint32_t window;  // the one that opens, or else the one that closes
  uint32_t closes;  // the one that closes, when both do
  uint32_t reserved;
} ppi_edge;

#define PPI_MAX_EDGES 512u
#define PPI_MAX_LANES 4096u
#define PPI_MAX_TABLES 16u
#define PPI_NAMES_CHUNKS 1024u

typedef struct ppi_spool_header {
  char magic[8];
  uint32_t version;
  uint32_t pid;
  uint8_t uuid[16];
  uint32_t num_chunks;
  uint32_t crash_safe;
  uint64_t names_size;  // that names may take, whole chunks
  uint64_t staging_offset, staging_size;
  uint64_t ring_offset, ring_size;  // flight recorder; 0, 0: none
  uint32_t pool_first;              // chunk number
  uint32_t clock_mode;
  uint64_t ticks_per_second;
  uint64_t start_ticks;
  uint64_t start_realtime_ns;
  uint64_t last_ticks;      // collector: the process lived at least until then
  uint64_t names_end;       // bytes of names published
  uint64_t names_changes;   // how often one took another's place there
  uint64_t free_list;       // chunks: {gen:32, number:32}; 0 = none
  uint32_t untouched;       // chunks from here on were never handed out
  uint32_t num_lane_slots;  // of lanes[] used so far
  uint32_t num_lanes;       // threads that had one, so far
  uint32_t num_tables;
  uint32_t num_free;     // chunks on the free list; atomic
  uint32_t lane_hint;    // atomic: a spare lane may lie from here on
  uint32_t invalid;      // atomic: calls that made no sense
  uint64_t num_edges;    // appended so far; edge n lies at n % PPI_MAX_EDGES
  uint64_t edges_done;   // collector: edges below need no lane any more
  uint64_t num_namings;  // atomic: how often a lane got a name
  uint64_t names_overflowed;  // atomic
  uint64_t lost;              // atomic: markers lost for want of a lane
  // Collector: the counters of threads gone, in two copies. The word
  // {serial:63, copy:1} says which one counts and which lane it took in last.
  uint64_t retired[2][PPI_NUM_TOTALS];
  uint64_t retired_word;
  uint64_t clamped;         // collector
  uint64_t requests_every;  // one request in so many is kept; 0, 1: all
  uint32_t timer_only;      // 1: no marks, no counters
  // Atomic: chunks from here on have no memory yet, and are not handed out; 0:
  // all have.
  uint32_t num_allocated;
  uint64_t checked_ticks;   // collector: when stacks were last read whole
  uint64_t clock_error_ns;  // collector
  uint64_t own_cost_ns_x1000;
  uint64_t cpu[4];                  // collector: as PPI_TOTAL_CPU_*
  uint32_t tables[PPI_MAX_TABLES];  // chunk numbers
  uint32_t lanes[PPI_MAX_LANES];    // in units of PPI_LANE_SIZE; 0 = none
  // Byte n of the names lies in chunk names[n / PPI_CHUNK_SIZE].
  uint32_t names[PPI_NAMES_CHUNKS];
  ppi_edge edges[PPI_MAX_EDGES];
  ppi_finished finished[PPI_FINISHED_STREAMS];  // collector
} ppi_spool_header;
PPI_STATIC_ASSERT(sizeof(ppi_spool_header) <= PPI_CHUNK_SIZE, "one chunk");

typedef struct ppi_spool {
  uint8_t *base;
  uint64_t size;
  ppi_spool_header *header;
  int fd;           // holds the liveness lock; -1 for anonymous memory
  ppi_fd_id fd_id;  // what it was when it was opened
  bool unnamed;     // until ppi_spool_publish
  // How its memory grows; the collector's.
  uint32_t staging_chunks;    // of the staging ring that have memory
  uint64_t staging_num_full;  // of it, when it was looked at
  uint32_t room;              // that it may still have, in chunks
  uint32_t grow_below;        // of free chunks; 0: never
  uint32_t seen_allocated;
  uint32_t chunks_touched;  // chunks below were faulted in
  bool is_tight;            // others need the room: only the collector takes it
  bool refused;             // until ppi_spool_look_again
  uint32_t most;       // atomic: chunk that nobody may take memory for, nor any
                       // behind it
  const char *limit;   // the name of the limit, and
  uint64_t limit_now;  // what it was
  char path[512];
  char not_crash_safe[400];  // why, or ""
} ppi_spool;

// ppi_spool_create makes a spool of at most `limit_bytes`, with little memory
// at first. `dir` NULL means
// the usual memory-backed folders, "memory" anonymous memory. It falls back to
// anonymous memory, saying why in not_crash_safe; NO_MEMORY when even that
// fails. The mapping lies in the process's one reserved address range.
pprof_status ppi_spool_create(ppi_spool *spool, uint64_t limit_bytes,
                              const char *dir);
// ppi_spool_publish gives the file its name, once recover can read what is in
// it; a process that dies before leaves nothing. Where that fails, the spool is
// not crash-safe and not_crash_safe says why.
void ppi_spool_publish(ppi_spool *spool);
// ppi_spool_destroy removes the file and puts anonymous memory in the
// mapping's place. With `abandon` that address range is never used again.
void ppi_spool_destroy(ppi_spool *spool, bool abandon);
void ppi_spool_in_forked_child(void);
// In a forked child: the mapping becomes private zeroes, the file stays.
void ppi_spool_forget(ppi_spool *spool);

// ppi_spool_layout writes a fresh header into zeroed `base`.
void ppi_spool_layout(ppi_spool *spool, uint32_t num_chunks);

// ppi_spool_add_ring makes room for a flight recorder's ring of about `bytes`,
// at most half of the spool. Before any chunk is taken; false, with nothing
// done, when there is not enough room or `bytes` is 0.
bool ppi_spool_add_ring(ppi_spool *spool, uint64_t bytes);

// ppi_spool_grow gives the spool memory ahead of need, up to its limit
// (spool_limit.h). Without more memory the spool stays as it is, and
// ppi_spool_want has a text (NULL: nothing is missing). ppi_spool_look_again
// allows the next try. Collector.
void ppi_spool_grow(ppi_spool *spool);
void ppi_spool_look_again(ppi_spool *spool);
// ppi_spool_hold checks that `fd` is still the spool's. If the program has
// closed it, the file is opened and locked again; until then, other processes
// take this one for dead. False: the file is gone.
bool ppi_spool_hold(ppi_spool *spool);
const char *ppi_spool_want(void);
// ppi_spool_allocate_for allocates until `chunks` can be taken, and a few more
// for other threads. Collector, or before it runs.
void ppi_spool_allocate_for(ppi_spool *spool, uint32_t chunks);
// ppi_spool_add_chunk gives the next chunk its memory where the collector is
// late: otherwise a record would be lost. Any thread.
bool ppi_spool_add_chunk(ppi_spool *spool);
// The spool's memory so far.
uint64_t ppi_spool_bytes(const ppi_spool *spool);
// The same as text, with the limit and its name.
void ppi_spool_memory(const ppi_spool *spool, char *out, size_t size);
// Whether that limit is the configured one.
bool ppi_spool_has_its_limit(const ppi_spool *spool);

// A lane's counters: one writer at a time, read by others at any time.
static inline void ppi_count(uint64_t *counter, uint64_t more) {
  __atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}
static inline uint64_t ppi_counted(const uint64_t *counter) {
  return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

// Records of the lane that are freed and in no log.
static inline uint64_t ppi_lane_gone(const ppi_lane *lane) {
  return lane->gone[lane->gone[1].kept == lane->kept].excluded;
}
#define PPI_TABLE_GONE(table) ((table)->excluded >> 16)
#define PPI_TABLE_GOING(table) ((uint32_t)((table)->excluded & 0xffffu))

// Chunks below have memory.
static inline uint32_t ppi_spool_num_allocated(const ppi_spool_header *header) {
  uint32_t num = __atomic_load_n(&header->num_allocated, __ATOMIC_RELAXED);
  return num ? num : header->num_chunks;
}
static inline void *ppi_spool_chunk(const ppi_spool *spool, uint32_t chunk) {
  return spool->base + (uint64_t)chunk * PPI_CHUNK_SIZE;
}
static inline ppi_staging *ppi_spool_staging(const ppi_spool *spool) {
  return (ppi_staging *)(void *)(spool->base + spool->header->staging_offset);
}
// The lane at a place of the header's list; NULL: none.
static inline ppi_lane *ppi_spool_lane(const ppi_spool *spool, uint32_t place) {
  uint64_t lane =
      __atomic_load_n(&spool->header->lanes[place], __ATOMIC_ACQUIRE);
  return lane ? (ppi_lane *)(void *)(spool->base + lane * PPI_LANE_SIZE) : NULL;
}
// Has records; false without a lane.
static inline bool ppi_lane_is_used(const ppi_lane *lane) {
  if (!lane) return false;
  uint32_t state = __atomic_load_n(&lane->state, __ATOMIC_ACQUIRE);
  return state == PPI_LANE_LIVE || state == PPI_LANE_LEFT;
}
static inline uint32_t ppi_spool_num_lanes(const ppi_spool *spool) {
  uint32_t num =
      __atomic_load_n(&spool->header->num_lane_slots, __ATOMIC_ACQUIRE);
  return PPI_MIN(num, PPI_MAX_LANES);
}
static inline ppi_record *ppi_lane_slot(const uint8_t *base,
                                        const ppi_lane *lane, uint64_t slot) {
  uint64_t unit = lane->directory[slot / PPI_SLOTS_PER_CHUNK % PPI_LANE_CHUNKS];
  uint64_t in_chunk = slot * sizeof(ppi_record) % PPI_CHUNK_SIZE;
  PPI_COMPUTED(in_chunk);
  return (ppi_record *)(void *)(base + unit * PPI_UNIT + in_chunk);
}
// The number of the record in a slot, as sinks know it.
static inline uint64_t ppi_lane_number(const ppi_lane *lane, uint64_t slot) {
  return slot - PPI_FIRST_SLOT + lane->first_number;
}
// The directory's entry for the lane's own records.
static inline uint32_t ppi_lane_first_unit(const uint8_t *base,
                                           const ppi_lane *lane) {
  const uint8_t *own = (const uint8_t *)lane->own_records;
  uint64_t before = PPI_FIRST_SLOT * sizeof(ppi_record);
  return (uint32_t)(((uint64_t)(own - base) - before) / PPI_UNIT);
}
#define PPI_OWN_FRAMES_AT ((int64_t)offsetof(ppi_lane, own_frames))
static inline ppi_frame *ppi_lane_frames(const ppi_lane *lane) {
  return (ppi_frame *)(void *)((char *)lane + lane->frames_at);
}
// Their owner may move them meanwhile.
static inline const ppi_frame *ppi_lane_frames_now(const ppi_lane *lane) {
  int64_t at = __atomic_load_n(&lane->frames_at, __ATOMIC_ACQUIRE);
  return (const ppi_frame *)(const void *)((const char *)lane + at);
}
static inline ppi_work *ppi_lane_work(ppi_lane *lane) {
  if (lane->frames_at == PPI_OWN_FRAMES_AT) return lane->own_work;
  return (ppi_work *)(void *)(ppi_lane_frames(lane) + PPI_MAX_FRAMES);
}
// NULL: there is no room for any.
static inline pprof_numbers *ppi_lane_numbers(const ppi_lane *lane) {
  if (lane->frames_at == PPI_OWN_FRAMES_AT) return NULL;
  return ((ppi_deep_stack *)(void *)ppi_lane_frames(lane))->numbers;
}
// Open ranges that have a frame, of those that `commit` counts.
static inline uint32_t ppi_lane_num_open(const ppi_lane *lane,
                                         uint64_t commit) {
  uint64_t num = __atomic_load_n(&lane->num_frames, __ATOMIC_ACQUIRE);
  return (uint32_t)PPI_MIN(commit & 0xffffu, num);
}
// Pairs with the release in ppi_table_grow.
static inline uint32_t ppi_table_num_slots(const ppi_table *table) {
  return __atomic_load_n(&table->num_slots, __ATOMIC_ACQUIRE);
}
static inline ppi_slot *ppi_table_slot(const uint8_t *base,
                                       const ppi_table *table, uint32_t index) {
  // Relaxed for the thread sanitizer: the loser of the race to put the chunk
  // there counts as a writer.
  uint32_t chunk = __atomic_load_n(
      &table->chunks[index / PPI_SLOTS_PER_TABLE_CHUNK], __ATOMIC_RELAXED);
  return (ppi_slot *)(void *)(base + (uint64_t)chunk * PPI_CHUNK_SIZE) +
         index % PPI_SLOTS_PER_TABLE_CHUNK;
}

PPROF_END_C_
