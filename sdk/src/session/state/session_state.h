// SPDX-License-Identifier: Apache-2.0
//
// The session's insides, shared by session.c (the owner's calls), windows.c
// (rules, steps, edges) and collector.c (the thread between lanes and sinks).
#ifndef PPI_SESSION_STATE_H_
#define PPI_SESSION_STATE_H_

#include <pthread.h>

#include "deliver/drain.h"
#include "deliver/run_info.h"
#include "device/resolve.h"
#include "event/tee.h"
#include "mark/thread.h"
#include "rules/capture.h"
#include "session/state/session_impl.h"
#include "session/state/wakeup.h"

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
  uint32_t serial;         // of the thread that has the lane
  uint64_t next;           // first slot not delivered
  uint64_t delivered_end;  // as sinks count, of the last record they got
  uint64_t snapshot;       // head to drain to in this cycle
} ppi_cursor;

typedef struct ppi_open_list {
  pprof_event *events;
  size_t num, capacity;
  bool failed;  // out of memory
} ppi_open_list;

// What a capture rule has come to.
typedef struct ppi_rule_state {
  int64_t from_ns;   // time: what it counts from
  bool is_fixed;     // ... while its window is open
  bool is_open;      // marker: it wants a window
  bool has_last;     // ... until the end of an occurrence that has begun
  bool is_over;      // ... and nothing more
  uint64_t seen;     // marker: occurrences, counted anew after each window
  uint64_t windows;  // the first one that is not over
} ppi_rule_state;

typedef enum ppi_demand_state {
  PPI_DEMAND_NONE = 0,
  PPI_DEMAND_WAITS = 1,  // for a step, or for somebody else's window
  PPI_DEMAND_OPEN = 2
} ppi_demand_state;
typedef struct ppi_demanded {
  ppi_demand_state state;
  uint64_t steps;  // 0: by time
  uint64_t end_step;
  int64_t end_ns;
  uint64_t number;  // of demands so far
} ppi_demanded;

typedef enum ppi_notes_state {
  PPI_NOTES_EARLY = 0,  // before the start
  PPI_NOTES_OPEN = 1,
  PPI_NOTES_CLOSED = 2  // the totals are being told
} ppi_notes_state;

// Steps and windows are process-wide; whoever moves them takes this lock.
typedef struct ppi_steps {
  pthread_mutex_t mutex;
  bool is_live;          // between the start's publication and the stop
  bool was_live;         // that has been
  uint64_t number;       // the step that is open
  uint64_t start_ticks;  // of it
  uint64_t range;        // its open range, 0: none
  bool is_cut;           // that range began later than the step
  uint32_t site;
  bool called;
  ppi_step_phase phase;
  uint32_t epoch;  // in force, 0: off
  uint32_t next_window;
  bool had_none;  // at the stop: no window had opened
  ppi_capture capture;
  ppi_rule_state rules[PPI_SCHEDULE_MAX_RULES];
  ppi_demanded demand;
  bool wants_renewal;  // a new epoch that waits for the collector
  int64_t next_ns;     // when to look again, as last found
  int64_t due_ns;      // atomic: the same
  bool watches;        // atomic: markers are counted
} ppi_steps;

// What a session was told last of what is wanted; NULL: everything is.
typedef struct ppi_choice_state ppi_choice_state;

struct pprof_session {
  pprof_options options;
  ppi_device_mode device_mode;
  bool graph_nodes;
  uint64_t ring_bytes;
  ppi_choice_state *choice;
  ppi_texts extra_info;
  ppi_session_phase phase;
  uint32_t pid;
  ppi_tee tee;
  ppi_drain drain;
  // Notes come from any thread until the totals are told.
  pthread_mutex_t notes_mutex;
  ppi_notes_state notes_state;
  ppi_texts info, extra_notes, notes;
  ppi_steps steps;
  ppi_wakeup wakeup;
  pthread_t collector;
  ppi_cursor *cursors;   // by lane slot
  uint32_t *range_seqs;  // wandering: slots by seq, until kept
  ppi_open_list open;    // of the checkpoint being taken
  ppi_clock_sample first_sample;
  uint64_t checkpoint_ticks;  // of the last such look that was whole
  uint64_t last_second_ticks;
  uint32_t num_left;  // lanes whose thread is gone, and not their records
  uint64_t edges_followed;
  uint64_t cut_before;  // wandering ranges begun before this are cut
  uint64_t stop_ticks;
  ppi_resolve_stats resolve_stats;
  uint64_t cpu_open[4];
  bool cpu_is_open, clock_jumped, open_failed;
  bool is_whole;  // the last look of a checkpoint at lanes
  bool is_idle;   // the last cycle left nothing that could change by itself
  bool stuck;     // a thread never left its marker
  pprof_status result;
  pprof_stats stats;
};

#ifdef __cplusplus
}
#endif

#endif  // PPI_SESSION_STATE_H_
