// SPDX-License-Identifier: Apache-2.0
//
// A log in segments: what each segment has to begin with so that it stands
// alone, what it has counted when it ends, and what its file is called. The log
// writer feeds it on the collector's thread.
#pragma once

#include "event/tally.h"
#include "log/format/log_block.h"

PPROF_BEGIN_C_

// The key of the run info that numbers segments from 1, and of the note in the
// totals of each segment that another one follows; and of the run info that
// says how many records are in the segments before.
#define PPI_SEGMENT_KEY "segment"
#define PPI_RECORDS_BEFORE_KEY "records_before"

typedef struct ppi_rotate_window {
  uint32_t index;
  uint64_t time_ns;
} ppi_rotate_window;

// The newest definition of an id, and the segment that has it already.
typedef struct ppi_rotate_name {
  pprof_definition definition;  // its name owned; NULL: there is none
  uint32_t reported;
} ppi_rotate_name;

typedef struct ppi_rotate_lane {
  uint64_t end;      // records below it were delivered
  uint64_t seen;     // the last look in which the spool had it
  uint32_t counted;  // the last segment with events of it
  bool is_live;      // among those that the spool may have
} ppi_rotate_lane;

typedef struct ppi_rotate_list {
  uint32_t *lanes;
  size_t num, capacity;
} ppi_rotate_list;

typedef struct ppi_rotate {
  uint32_t segment;  // the one that is being written, from 1
  ppi_text *texts;
  size_t num_texts;
  ppi_rotate_name *names[PPROF_DEFINITION_ATTRIBUTES + 1];  // by id
  size_t num_names[PPROF_DEFINITION_ATTRIBUTES + 1];
  ppi_rotate_window *windows;  // open
  size_t num_windows, windows_capacity;
  ppi_rotate_lane *lanes;
  size_t num_lanes;
  ppi_rotate_list live, counted;  // lanes of the spool, and of the segment
  uint64_t looks;                 // at what is kept of all of the spool's lanes
  bool is_looking;
  ppi_tally tally;       // of the segment's events
  ppi_tally earlier;     // of what the run's other segments hold
  uint64_t num_earlier;  // records
  bool crash_safe;
} ppi_rotate;

pprof_status ppi_rotate_begin(ppi_rotate *rotate, const pprof_run_info *info);
pprof_status ppi_rotate_window_edge(ppi_rotate *rotate, uint32_t index,
                                    bool opens, uint64_t time_ns);
// Keeps a definition. A segment has those that its events use, and each device:
// *now says whether this one has to be in it, or in it again.
pprof_status ppi_rotate_define(ppi_rotate *rotate,
                               const pprof_definition *definition, bool *now);
// Before the events are in the segment: what it does not define of them yet.
pprof_status ppi_rotate_notify_events(ppi_rotate *rotate,
                                      const pprof_batch *batch,
                                      ppi_log_assembler *assembler);
// A site, and what it folds into.
pprof_status ppi_rotate_notify_site(ppi_rotate *rotate, uint64_t id,
                                    ppi_log_assembler *assembler);
pprof_status ppi_rotate_notify_open(ppi_rotate *rotate,
                                    const pprof_checkpoint *checkpoint,
                                    ppi_log_assembler *assembler);
// Before the totals: lanes that only those name.
pprof_status ppi_rotate_notify_lanes(ppi_rotate *rotate,
                                     const pprof_totals *totals,
                                     ppi_log_assembler *assembler);
// Where the batch's lane stands, and what the segment holds with it.
pprof_status ppi_rotate_deliver(ppi_rotate *rotate, const pprof_batch *batch);
pprof_status ppi_rotate_count(ppi_rotate *rotate, const pprof_batch *batch);
// The spool still has the lane: whoever frees it asks for each of them what is
// kept, again and again, and between two such looks delivers events.
void ppi_rotate_see(ppi_rotate *rotate, uint32_t lane);
uint64_t ppi_rotate_lane_end(const ppi_rotate *rotate, uint32_t lane);
// The info of the first segment.
pprof_status ppi_rotate_info(ppi_rotate *rotate, ppi_log_assembler *assembler);
// A turn, after a flush: the segment's totals; the next one's info and where
// the spool's lanes stand, one group with them, so that recover finds all or
// nothing; and what else must be known there.
pprof_status ppi_rotate_end(ppi_rotate *rotate, ppi_log_assembler *assembler);
pprof_status ppi_rotate_start(ppi_rotate *rotate, ppi_log_assembler *assembler);
pprof_status ppi_rotate_notify(ppi_rotate *rotate,
                               ppi_log_assembler *assembler);
// The run's totals without what other segments hold; what was dropped counts as
// lost (ppi_free).
pprof_status ppi_rotate_totals(const ppi_rotate *rotate,
                               const ppi_tally *dropped,
                               const pprof_totals *totals, ppi_total **out,
                               size_t *out_num);
void ppi_rotate_clear(ppi_rotate *rotate);

// "runs/x.pplog" and 3 give "runs/x.0003.pplog". NULL: no memory.
char *ppi_segment_path(const char *path, uint32_t segment);
// Shows each file that is called as a segment of `path` is, in no order.
typedef void (*ppi_segment_visit)(void *user, const char *path,
                                  uint32_t segment);
void ppi_segments_each(const char *path, ppi_segment_visit visit, void *user);
// Whether a file is called `path`, or as a segment of it.
bool ppi_segments_are_there(const char *path);
// Removes the file if it is a log of the run `uuid`.
void ppi_log_remove_own(const char *path, const char *uuid);

// The latest segment of `path` that is of this run; 0: none.
uint32_t ppi_segments_last(const char *path, const char *uuid);

// The number in the run's texts; 0: its log has no segments.
uint32_t ppi_segment_of(const pprof_run_info *info);
// How many records are in the segments before this one; 0: none, or unknown.
uint64_t ppi_segment_records_before(const pprof_run_info *info);
bool ppi_segment_goes_on(const ppi_text *notes, size_t num_notes);

PPROF_END_C_
