// SPDX-License-Identifier: Apache-2.0
//
// A log in segments: the beginning that lets each segment stand alone, its
// counts at its end, and the name of its file. The log writer feeds it on the
// collector's thread.
#pragma once

#include "event/tally.h"
#include "event/texts.h"
#include "file/part.h"
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

// The newest definition of an id, and the latest segment with it.
typedef struct ppi_rotate_name {
  pprof_definition definition;  // its name is owned; NULL: none
  uint32_t reported;
} ppi_rotate_name;

typedef struct ppi_rotate_lane {
  uint64_t end;      // records below it were delivered
  uint64_t seen;     // the latest look in which the spool had it
  uint32_t counted;  // the last segment with events of it
  bool is_live;      // among the lanes that the spool may have
} ppi_rotate_lane;

typedef struct ppi_rotate_list {
  uint32_t *lanes;
  size_t num, capacity;
} ppi_rotate_list;

typedef struct ppi_rotate {
  uint32_t segment;  // the current one, from 1
  ppi_texts texts;
  ppi_rotate_name *names[PPROF_DEFINITION_ATTRIBUTES + 1];  // by id
  size_t num_names[PPROF_DEFINITION_ATTRIBUTES + 1];
  size_t names_capacity[PPROF_DEFINITION_ATTRIBUTES + 1];
  ppi_rotate_window *windows;  // open
  size_t num_windows, windows_capacity;
  ppi_rotate_lane *lanes;
  size_t num_lanes, lanes_capacity;
  ppi_rotate_list live, counted;  // lanes of the spool, and of the segment
  uint64_t looks;                 // the position in a look at the spool's lanes
  bool is_looking;
  ppi_tally tally;       // of the segment's events
  ppi_tally earlier;     // of the run's other segments
  uint64_t num_earlier;  // records
  bool crash_safe;
} ppi_rotate;

pprof_status ppi_rotate_begin(ppi_rotate *rotate, const pprof_run_info *info);
pprof_status ppi_rotate_window_edge(ppi_rotate *rotate, uint32_t index,
                                    bool opens, uint64_t time_ns);
// Keeps a definition. A segment has those that its events use, and each device.
// *now: this one has to be in the current segment (again).
pprof_status ppi_rotate_define(ppi_rotate *rotate,
                               const pprof_definition *definition, bool *now);
// Before events go into the segment: definitions of theirs that it lacks.
pprof_status ppi_rotate_notify_events(ppi_rotate *rotate,
                                      const pprof_batch *batch,
                                      ppi_log_assembler *assembler);
// A site, and the shape into which it folds.
pprof_status ppi_rotate_notify_site(ppi_rotate *rotate, uint64_t id,
                                    ppi_log_assembler *assembler);
pprof_status ppi_rotate_notify_open(ppi_rotate *rotate,
                                    const pprof_checkpoint *checkpoint,
                                    ppi_log_assembler *assembler);
// Before the totals: lanes that only the totals name.
pprof_status ppi_rotate_notify_lanes(ppi_rotate *rotate,
                                     const pprof_totals *totals,
                                     ppi_log_assembler *assembler);
// The position of the batch's lane, and the segment's content with it.
pprof_status ppi_rotate_deliver(ppi_rotate *rotate, const pprof_batch *batch);
pprof_status ppi_rotate_count(ppi_rotate *rotate, const pprof_batch *batch);
// The spool still has the lane. The code that frees lanes asks for all of them
// repeatedly, and delivers events in between.
void ppi_rotate_see(ppi_rotate *rotate, uint32_t lane);
uint64_t ppi_rotate_lane_end(const ppi_rotate *rotate, uint32_t lane);
// The info of the first segment.
pprof_status ppi_rotate_info(ppi_rotate *rotate, ppi_log_assembler *assembler);
// Begins a segment, after a flush. It writes the old segment's totals, the next
// one's info and the positions of the spool's lanes as one group, so that
// recover finds all or nothing; then other required definitions.
pprof_status ppi_rotate_end(ppi_rotate *rotate, ppi_log_assembler *assembler);
pprof_status ppi_rotate_start(ppi_rotate *rotate, ppi_log_assembler *assembler);
pprof_status ppi_rotate_notify(ppi_rotate *rotate,
                               ppi_log_assembler *assembler);
// The run's totals without other segments' content; dropped records count as
// lost (ppi_free).
pprof_status ppi_rotate_totals(const ppi_rotate *rotate,
                               const ppi_tally *dropped,
                               const pprof_totals *totals, ppi_total **out,
                               size_t *out_num);
void ppi_rotate_clear(ppi_rotate *rotate);

// "runs/x.pplog" and 3 give "runs/x.0003.pplog"; 0: the path itself.
ppi_path ppi_segment_path(const char *path, uint32_t segment);
// Shows each file with the name of a segment of `path`, in no order.
typedef void (*ppi_segment_visit)(void *user, const char *path,
                                  uint32_t segment);
void ppi_segments_each(const char *path, ppi_segment_visit visit, void *user);
// Whether a file has the name `path`, or that of a segment of it.
bool ppi_segments_are_there(const char *path);
// Removes the file if it is a log of the run `uuid`.
void ppi_log_remove_own(const char *path, const char *uuid);

// The latest segment of `path` from this run; 0: none.
uint32_t ppi_segments_last(const char *path, const char *uuid);

// The number in the run's texts; 0: a log without segments.
uint32_t ppi_segment_of(const pprof_run_info *info);
// The number of records in earlier segments; 0: none, or unknown.
uint64_t ppi_segment_records_before(const pprof_run_info *info);
bool ppi_segment_goes_on(const ppi_text *notes, size_t num_notes);

PPROF_END_C_
