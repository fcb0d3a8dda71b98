// SPDX-License-Identifier: Apache-2.0
//
// A log in segments: what each segment has to begin with so that it stands
// alone, what it has counted when it ends, and what its file is called. The log
// writer feeds it on the collector's thread.
#ifndef PPI_ROTATE_H_
#define PPI_ROTATE_H_

#include "log_block.h"
#include "tally.h"

#ifdef __cplusplus
extern "C" {
#endif

// The key of the run info that numbers segments from 1, and of the note in the
// totals of each segment that another one follows.
#define PPI_SEGMENT_KEY "segment"

typedef struct ppi_rotate_window {
  uint32_t index;
  uint64_t time_ns;
} ppi_rotate_window;

typedef struct ppi_rotate {
  uint32_t segment;  // the one that is being written, from 1
  ppi_text *texts;
  size_t num_texts;
  pprof_definition *definitions;  // names owned
  size_t num_definitions, definitions_capacity;
  uint32_t *places[PPROF_DEFINITION_ATTRIBUTES + 1];  // by id: index + 1
  size_t places_capacity[PPROF_DEFINITION_ATTRIBUTES + 1];
  ppi_rotate_window *windows;  // open
  size_t num_windows, windows_capacity;
  uint64_t *ends;  // by lane: records below it were delivered
  size_t num_ends, ends_capacity;
  ppi_tally tally;    // of the segment's events
  ppi_tally earlier;  // of what the run's other segments hold
  bool crash_safe;
} ppi_rotate;

// What the writer is told, before it goes into blocks. Errors: NO_MEMORY.
pprof_status ppi_rotate_begin(ppi_rotate *rotate, const pprof_run_info *info);
pprof_status ppi_rotate_define(ppi_rotate *rotate,
                               const pprof_definition *definition);
pprof_status ppi_rotate_events(ppi_rotate *rotate, const pprof_batch *batch);
pprof_status ppi_rotate_window_edge(ppi_rotate *rotate, uint32_t index,
                                    bool opens, uint64_t time_ns);
// The info of the first segment.
pprof_status ppi_rotate_info(ppi_rotate *rotate, ppi_log_assembler *assembler);
// A turn, after a flush: the segment's totals; the next one's info and where
// each lane stands, one group with them, so that recover finds all or nothing;
// and what else must be known there.
pprof_status ppi_rotate_end(ppi_rotate *rotate, ppi_log_assembler *assembler);
pprof_status ppi_rotate_start(ppi_rotate *rotate, ppi_log_assembler *assembler);
pprof_status ppi_rotate_tell(const ppi_rotate *rotate,
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
bool ppi_segment_goes_on(const ppi_text *notes, size_t num_notes);

#ifdef __cplusplus
}
#endif

#endif  // PPI_ROTATE_H_
