// SPDX-License-Identifier: Apache-2.0
//
// The session's insides, shared by session.c (the owner's calls, steps) and
// collector.c (the thread between lanes and sinks).
#ifndef PPI_SESSION_STATE_H_
#define PPI_SESSION_STATE_H_

#include <pthread.h>

#include "drain.h"
#include "resolve.h"
#include "run_info.h"
#include "session_impl.h"
#include "tee.h"
#include "thread.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ppi_session_phase {
  PPI_SESSION_CREATED = 0,
  PPI_SESSION_RUNNING = 1,
  PPI_SESSION_STOPPED = 2
} ppi_session_phase;

// Where the collector stands in one lane.
typedef struct ppi_cursor {
  uint32_t lane_id;        // the lane the cursor belongs to
  uint64_t next;           // first slot not delivered
  uint64_t delivered_end;  // end of the last record that went to sinks
  uint64_t snapshot;       // head to drain to in this cycle
} ppi_cursor;

typedef struct ppi_open_list {
  pprof_event *events;
  size_t num, capacity;
  bool failed;  // out of memory
} ppi_open_list;

// Steps are process-wide; whoever calls pprof_step takes this lock.
typedef struct ppi_steps {
  pthread_mutex_t mutex;
  uint64_t number;       // the step that is open
  uint64_t start_ticks;  // of it
  uint64_t range;        // its open range, 0: none
  uint32_t site;
  bool called;
  ppi_step_phase phase;
  uint32_t epoch;  // in force, 0: off
  uint32_t next_window;
} ppi_steps;

// Filled by whoever wakes the collector, under `mutex`.
typedef struct ppi_wakeup {
  pthread_mutex_t mutex;
  pthread_cond_t to_collector, from_collector;
  uint64_t asked, done;  // full cycles (drain, checkpoint)
  bool stop;
} ppi_wakeup;

struct pprof_session {
  pprof_options options;
  ppi_schedule schedule;
  ppi_device_mode device_mode;
  bool graph_nodes;
  ppi_texts extra_info;
  ppi_session_phase phase;
  uint32_t pid;
  ppi_tee tee;
  ppi_drain drain;
  ppi_texts info, notes;
  ppi_steps steps;
  ppi_wakeup wakeup;
  pthread_t collector;
  ppi_cursor *cursors;   // by lane slot
  uint32_t *range_seqs;  // wandering: slots by seq, until kept
  // Of the last whole checkpoint, and of the one being taken.
  ppi_open_list open, taking;
  ppi_clock_sample first_sample;
  uint64_t checkpoint_ticks, last_second_ticks;
  uint64_t cut_before;  // wandering ranges begun before this are cut
  uint64_t stop_ticks;
  ppi_resolve_stats resolve_stats;
  uint64_t cpu_open[4];
  bool cpu_is_open, clock_jumped, open_failed;
  bool stuck;  // a thread never left its marker
  pprof_status result;
  pprof_stats stats;
};

// ppi_collector_keep_error remembers the first error that is no sink's.
void ppi_collector_keep_error(pprof_session *session, pprof_status status);
// ppi_collector_see_edges takes in new edges; whoever reads records calls it
// after it has read how many there are.
void ppi_collector_see_edges(pprof_session *session);
// ppi_collector_start makes the thread and waits for its first cycle.
pprof_status ppi_collector_start(pprof_session *session);
// ppi_collector_stop makes it deliver the rest, then joins it.
void ppi_collector_stop(pprof_session *session);
// ppi_collector_ask wants a whole cycle with a checkpoint and waits for it;
// BUSY when the sinks do not take it within `wait_ms`.
pprof_status ppi_collector_ask(pprof_session *session, uint32_t wait_ms);

#ifdef __cplusplus
}
#endif

#endif  // PPI_SESSION_STATE_H_
