// SPDX-License-Identifier: Apache-2.0
//
// Events and sinks, for people who write their own sink. A live session and the
// log reader make the same calls, so a sink does not know where events come
// from.
//
// Example:
//   struct counter {
//     pprof_sink sink;  // first, so that a pointer to it is one to the counter
//     uint64_t num_events;
//   };
//   static pprof_status count(pprof_sink *sink, const pprof_batch *batch) {
//     ((struct counter *)sink)->num_events += batch->num_events;
//     return PPROF_STATUS_OK;
//   }
//   static void count_log(const char *path) {
//     struct counter all;
//     memset(&all, 0, sizeof all);
//     all.sink.size = sizeof all.sink;
//     all.sink.events = count;
//     if (pprof_log_read(path, &all.sink, NULL) == PPROF_STATUS_OK)
//       printf("%llu events\n", (unsigned long long)all.num_events);
//   }
#ifndef PPROF_EVENT_H_
#define PPROF_EVENT_H_

#include "pprof/base.h"
#include "pprof/mark.h"

PPROF_BEGIN_C_

typedef enum pprof_kind {
  PPROF_KIND_RANGE = 1,
  PPROF_KIND_DEVICE_RANGE = 2,
  PPROF_KIND_MARK = 3,
  PPROF_KIND_COUNTER = 4
} pprof_kind;

enum {
  PPROF_FLAG_CLIPPED = 1,    // cut at the end of a capture window or of the
                             // process; it went on. Of a step also: its window
                             // began inside it
  PPROF_FLAG_ABANDONED = 2,  // never ended by its own code; it ends with what
                             // was around it
  PPROF_FLAG_LATE = 4,       // its device times came too late
  PPROF_FLAG_IN_GRAPH = 8,   // captured into a graph; with device times, a
                             // launch of that graph (its host side a point)
  PPROF_FLAG_NO_DEVICE_TIME = 16,  // its device time is unknown
  PPROF_FLAG_ASYNC = 32,           // takes no part in its lane's nesting
  PPROF_FLAG_PAIRED = 64,  // the device side of the host range of the same name
                           // that began with it on its thread: that is the call
  PPROF_FLAG_INNER = 128,  // paired, and begun inside another paired one on the
                           // same stream of its thread
  PPROF_FLAG_COMMUNICATION = 256,  // moves data between devices or processes,
                                   // whatever its category
  PPROF_FLAG_RESERVED = 512,    // of category Memory: what an allocator holds,
                                // not what it has handed out
  PPROF_FLAG_PROJECTED = 1024,  // on the device, from the first to the last
                                // work of a host range: no work of its own;
                                // of tokens: when each came is not known
  PPROF_FLAG_BY_WAIT = 2048,  // a thread without ranges launched it, while this
                              // lane's waited in the one that it lies in
  PPROF_FLAG_REQUEST = 4096   // a range: the request in its flows, from arrival
                              // to end; work->items: the tokens it came with.
                              // A mark: the request got work->items tokens; or,
                              // without work, the range around serves it,
                              // since `value` ns
};

// pprof_cpu_use is what the thread of a host range took between its begin and
// its end, where the configuration asks for it (`cpu`). Its own, and that of
// all ranges inside. User and system time together are exact; how they divide
// is as exact as the kernel is, often to its tick.
enum {
  PPROF_CPU_TIMES = 1,     // all below but the next one
  PPROF_CPU_RUN_QUEUE = 2  // run_queue_ns; goes with PPROF_CPU_TIMES
};
typedef struct pprof_cpu_use {
  size_t size;  // sizeof(pprof_cpu_use) of the sender
  uint32_t
      known;  // PPROF_CPU_... values; what is not known is 0. None: another
              // thread ended the range, or an edge, or there was no room
  uint32_t reserved_;
  uint64_t user_ns, sys_ns;
  uint64_t inner_ns;      // of these two, what measured ranges inside took
  uint64_t run_queue_ns;  // ready to run, waiting for a CPU
  uint64_t voluntary_switches, involuntary_switches;
  uint64_t minor_faults, major_faults;
} pprof_cpu_use;

// pprof_numbers is what stood in the name of a range or a mark where its site's
// name has `{}`: the first four, in their order, a list's one by one.
#define PPROF_MOST_NUMBERS 4u
enum {
  PPROF_NAME_FOLDED = 0,   // the configuration asks for no more
  PPROF_NAME_IN_FULL = 1,  // asked for: the site's with a number for each `{}`
  PPROF_NAME_TOO_MUCH = 2  // asked for, but these numbers do not make it up
};
typedef struct pprof_numbers {
  size_t size;         // sizeof(pprof_numbers) of the sender
  uint32_t num;        // of `values`
  uint32_t full_name;  // PPROF_NAME_...
  // UINT64_MAX: a UUID, or what does not fit.
  uint64_t values[PPROF_MOST_NUMBERS];
} pprof_numbers;

// pprof_event is one finished range, mark or counter sample. All times are ns
// since the run's base, the start of the session; self times are the reader's
// to derive. Steps are events too: category PROFILE_STEP, lane 0, flag ASYNC,
// `value` the number of the step, `work->items` what it completed. A step of an
// imported trace may lie on a thread's lane, nested. A counter of category
// Memory named after a place ("gpu:0") is the memory in use there, in bytes;
// `work->bytes`, when stated, is the change that led to it.
typedef struct pprof_event {
  // Host side; equal for marks and counters.
  uint64_t start_ns, end_ns;
  // Device side of a device range, and by how much its place may be off; its
  // duration is much better known. All 0: none.
  uint64_t device_start_ns, device_end_ns, device_error_ns;
  // Requests served; borrowed for the call.
  const uint64_t *flows;
  size_t num_flows;
  const pprof_work_amount *work;  // borrowed for the call; NULL: none stated
  double value;  // of a counter, of a step, of PPROF_FLAG_REQUEST; else 0
  // Ids of definitions. `lane` is where it began; site and stream 0: none.
  uint32_t site, lane, stream;
  uint32_t depth;       // open ranges around it on its lane; 0: outermost
  uint32_t kind;        // pprof_kind
  uint32_t flags;       // PPROF_FLAG_... values
  uint32_t window;      // the capture window it began in
  uint32_t attributes;  // id of a definition; 0: none
  // Borrowed for the call; NULL: the configuration asks for none.
  const pprof_cpu_use *cpu;
  const pprof_numbers *numbers;  // borrowed for the call; NULL: none given
} pprof_event;

// pprof_batch is a run of events of one lane, in the order of their numbers.
// Results must not depend on where one batch ends and the next begins.
// Windows may interleave.
typedef struct pprof_batch {
  size_t size;                // sizeof(pprof_batch) of the sender
  size_t stride;              // bytes from one event to the next
  const pprof_event *events;  // take them through pprof_batch_at
  size_t num_events;
  // [first_seq, end_seq) of the lane's numbers; may be more than num_events.
  // The lane's next batch begins at end_seq; a gap is records that were not
  // delivered to this sink.
  uint64_t first_seq, end_seq;
  uint32_t lane;  // that ended them; event.lane is where they began
  uint32_t reserved_;
} pprof_batch;

// pprof_batch_at is event `i` of `batch`, whatever size the sender's events
// have.
//
// Example:
//   uint64_t host_ns = 0;
//   for (size_t i = 0; i < batch->num_events; i++) {
//     const pprof_event *event = pprof_batch_at(batch, i);
//     if (event->kind == PPROF_KIND_RANGE)
//       host_ns += event->end_ns - event->start_ns;
//   }
//   printf("%llu ns\n", (unsigned long long)host_ns);
static inline const pprof_event *pprof_batch_at(const pprof_batch *batch,
                                                size_t i) {
  const void *at = PPROF_CAST_(const char *, batch->events) + i * batch->stride;
  return PPROF_CAST_(const pprof_event *, at);
}

// What a sink is given beside events; each is borrowed for the call, and so is
// all that its getters return.
typedef struct pprof_run_info pprof_run_info;
typedef struct pprof_definition pprof_definition;
typedef struct pprof_checkpoint pprof_checkpoint;
typedef struct pprof_totals pprof_totals;

// pprof_run_info_text is what is known about the run under `key`: "uuid",
// "host", "pid", "rank", "version", "time_base_realtime_ns", "clock",
// "ticks_per_second", "command", "cpu", "num_cpus", "kernel", "container",
// "config", "spool", "flows" ("links": those of an import join ranges and are
// no requests).
//
// Result: NULL when unknown.
PPROF_API const char *pprof_run_info_text(const pprof_run_info *info,
                                          const char *key)
    PPROF_OFF_(PPROF_NULL_);

// Definitions give ids a meaning. Each kind counts on its own. An id may be
// defined again with another name (a thread was renamed): the latest counts. A
// lane with another number from there on is another thread's, and the events
// before it were those of the thread that has left. A site with another name or
// category is another one from there on: those before it were of the former. A
// site with another site's id as its number folds into that one: their names
// differ in numbers alone. Both are one row of a table, with the events before
// it, too.
typedef enum pprof_definition_kind {
  PPROF_DEFINITION_SITE = 1,
  PPROF_DEFINITION_CATEGORY,
  PPROF_DEFINITION_LANE,
  PPROF_DEFINITION_DEVICE,
  PPROF_DEFINITION_STREAM,
  PPROF_DEFINITION_ATTRIBUTES  // its name is a JSON object: an imported trace's
                               // attributes of events, e.g. input shapes
} pprof_definition_kind;

// pprof_definition_get_kind is what `definition` defines.
PPROF_API pprof_definition_kind pprof_definition_get_kind(
    const pprof_definition *definition) PPROF_OFF_(PPROF_DEFINITION_SITE);

// pprof_definition_id is the id that events carry. Sites, devices, streams and
// attributes count from 1; lane 0 is the process.
PPROF_API uint32_t pprof_definition_id(const pprof_definition *definition)
    PPROF_OFF_(0);

// pprof_definition_name is never NULL; "" when there is none, of a site
// "(no name)".
PPROF_API const char *pprof_definition_name(const pprof_definition *definition)
    PPROF_OFF_("");

// pprof_definition_parent is a site's category, a stream's device; else 0.
PPROF_API uint32_t pprof_definition_parent(const pprof_definition *definition)
    PPROF_OFF_(0);

// pprof_definition_color is 0xRRGGBB of a site; 0 = derived from the name.
PPROF_API uint32_t pprof_definition_color(const pprof_definition *definition)
    PPROF_OFF_(0);

// pprof_definition_number is a lane's OS thread id (0: not a thread), a
// device's index, the backend's number of a stream, the id of the site that a
// site folds into (which may be defined later); else 0.
PPROF_API uint64_t pprof_definition_number(const pprof_definition *definition)
    PPROF_OFF_(0);

// pprof_checkpoint_time_ns: every event that starts before it was delivered or
// is listed in the checkpoint, never both. 0: not known, and the checkpoint
// lists nothing.
PPROF_API uint64_t pprof_checkpoint_time_ns(const pprof_checkpoint *checkpoint)
    PPROF_OFF_(0);

// pprof_checkpoint_num_open is how many ranges are open.
//
// Example:
//   static pprof_status look(pprof_sink *sink, const pprof_checkpoint *at) {
//     pprof_event open;
//     (void)sink;
//     for (size_t i = 0; i < pprof_checkpoint_num_open(at); i++) {
//       pprof_checkpoint_open(at, i, &open);
//       printf("site %u is open since %llu ns\n", open.site,
//              (unsigned long long)open.start_ns);
//     }
//     return PPROF_STATUS_OK;  // as pprof_sink.checkpoint
//   }
PPROF_API size_t pprof_checkpoint_num_open(const pprof_checkpoint *checkpoint)
    PPROF_OFF_(0);

// pprof_checkpoint_open gives open range `i`; it is delivered as an event
// later. `end_ns` is a time it lasts until at least. Of a pending device range
// start_ns is the submit, before which its device side cannot begin.
PPROF_API void pprof_checkpoint_open(const pprof_checkpoint *checkpoint,
                                     size_t i, pprof_event *out) PPROF_OFF_();

// pprof_totals_value is a figure of the trust block for one lane, or for
// PPROF_ALL_LANES. Keys are those of the JSON report's `trust` object, e.g.
// "recorded", "lost".
//
// Result: 0 for a key that is not known, too.
//
// Example:
//   static pprof_status say_lost(pprof_sink *sink, const pprof_totals *totals)
//   {
//     (void)sink;
//     uint64_t lost = pprof_totals_value(totals, PPROF_ALL_LANES, "lost");
//     printf("%llu lost\n", (unsigned long long)lost);
//     return PPROF_STATUS_OK;  // as pprof_sink.finish
//   }
#define PPROF_ALL_LANES UINT32_MAX
PPROF_API uint64_t pprof_totals_value(const pprof_totals *totals, uint32_t lane,
                                      const char *key) PPROF_OFF_(0);

// pprof_sink is a consumer of events; embed it first in a structure of your
// own. Calls come in the order of the fields below, one at a time, from one
// thread: the collector's, or that of the reader of a log, which does not ask
// `ready`. A callback may be NULL. One that answers anything but OK detaches
// the sink: only `finish` and `destroy` follow, the run goes on for the others,
// and pprof_session_stop (or the reader) returns that status.
typedef struct pprof_sink pprof_sink;
struct pprof_sink {
  size_t size;  // sizeof(pprof_sink)

  // begin is the first call of a run.
  pprof_status (*begin)(pprof_sink *sink, const pprof_run_info *info);

  // define comes before the first event that carries the id.
  pprof_status (*define)(pprof_sink *sink, const pprof_definition *definition);

  // events delivers a batch; batches of one lane come in order.
  pprof_status (*events)(pprof_sink *sink, const pprof_batch *batch);

  // checkpoint comes at least once a second while a session runs.
  pprof_status (*checkpoint)(pprof_sink *sink,
                             const pprof_checkpoint *checkpoint);

  // window: capture window `index` opened or closed at `time_ns`. Without a
  // schedule window 0 lasts from start to stop.
  pprof_status (*window)(pprof_sink *sink, uint32_t index, bool opens,
                         uint64_t time_ns);

  // finish is the last call of a run. A log of several runs, and the trace of
  // several processes, go on with `begin`; who takes one run answers BUSY.
  pprof_status (*finish)(pprof_sink *sink, const pprof_totals *totals);

  // kept (optional) answers up to which number of `lane` records survive the
  // process. Until then their memory is not reused. A sink without it keeps
  // records in no such way; they count as kept when `events` returned.
  //
  // Result: false: nothing of that lane yet.
  bool (*kept)(pprof_sink *sink, uint32_t lane, uint64_t *out_seq);

  // destroy frees the sink.
  void (*destroy)(pprof_sink *sink);

  // ready (optional) answers false while there is no room (say, the disk is
  // blocked). Until it answers true this sink gets no events and checkpoints;
  // all others get theirs. 16 MiB of events are buffered for it meanwhile, and
  // come then. It misses what is more, and what is left when the stop has
  // waited stop_wait_ms. The gap shows in its batches, as `lost` in its totals,
  // as a note under its name in the totals of all sinks, and as `missed` in
  // pprof_stats. pprof_session_stop then answers IO.
  bool (*ready)(pprof_sink *sink);

  // name (optional): the sink's name in messages, e.g. the path of its file.
  // Lives as long as the sink.
  const char *name;
};

PPROF_END_C_

#endif  // PPROF_EVENT_H_
