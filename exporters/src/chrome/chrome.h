// SPDX-License-Identifier: Apache-2.0
//
// The Chrome writer's parts: names by id (chrome_names.c), events as JSON
// (chrome_write.c), the sink that feeds them (chrome.c). One thread, the one
// that calls the sink.
#ifndef PPI_CHROME_H_
#define PPI_CHROME_H_

#include "chrome/chrome_flow.h"
#include "chrome/chrome_text.h"
#include "chrome/chrome_track.h"
#include "event/event.h"
#include "pprof/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_chrome_writer_create_fd writes to `fd`, which stays the caller's and is
// not closed: for a trace that goes to standard output. It is written by the
// thread that calls.
pprof_status ppi_chrome_writer_create_fd(int fd, bool gzip, pprof_sink **out,
                                         pprof_error *error);

// What the file may take; the writer holds a reference. Where there is no room,
// its callbacks answer IO. Before the first begin.
void ppi_chrome_writer_set_disk(pprof_sink *sink, ppi_disk *disk);
// How long finish waits for the disk where `ready` was asked, 10 s, and what
// may wait for it in memory, 32 MiB and what one call adds. Before the first
// begin.
void ppi_chrome_writer_set_bounds(pprof_sink *sink, uint64_t limit_ms,
                                  uint64_t most_bytes);
// Of a writer with a path: what the file is called in the end.
const char *ppi_chrome_writer_path(const pprof_sink *sink);
// Why it failed at its file, as errno; 0: it did not.
int ppi_chrome_writer_error(const pprof_sink *sink);

// A trace of several runs, each of which is a process in it.
typedef struct ppi_chrome_plan {
  size_t num_runs;
  const uint64_t *shifts_ns;  // added to the times of each run
  uint64_t base_ns;           // realtime of the trace's zero; 0: unknown
} ppi_chrome_plan;

// ppi_chrome_writer_expect makes the writer take as many runs, one after the
// other; the file is whole when the last one finished. Before the first begin.
// Without it a second begin is answered BUSY.
pprof_status ppi_chrome_writer_expect(pprof_sink *sink,
                                      const ppi_chrome_plan *plan);

// Devices are processes of their own in a trace, numbered from here; the
// kernel's process ids end far below, and so do thread ids below the second.
// From the third on are ids for processes whose own an earlier run has.
#define PPI_CHROME_FIRST_DEVICE_PID (1u << 30)
#define PPI_CHROME_FIRST_OWN_TID (1u << 24)
#define PPI_CHROME_FIRST_OWN_PID (1u << 24)
// Rows of threads whose lane another one has got bear a number from here on.
#define PPI_CHROME_FIRST_LEFT_LANE (1u << 20)

typedef struct ppi_chrome_name {
  bool known;
  uint32_t parent;
  uint64_t number;
  char *text;     // as defined; NULL for sites and categories
  char *escaped;  // with quotes; sites and categories only
  size_t escaped_len;
  // Of a site: how its slices begin, padded to whole steps of
  // PPI_CHROME_COPY_STEP; NULL: not made yet, or of older categories.
  char *head;
  size_t head_len;
  uint64_t head_version;
} ppi_chrome_name;

typedef struct ppi_chrome_names {
  ppi_chrome_name *items;  // indexed by id
  size_t num_items, capacity;
  uint64_t version;  // how many definitions there were
} ppi_chrome_names;

// ppi_chrome_names_set keeps a copy; the last definition of an id wins.
pprof_status ppi_chrome_names_set(ppi_chrome_names *names,
                                  const pprof_definition *definition);
// NULL when the id was never defined.
const ppi_chrome_name *ppi_chrome_names_get(const ppi_chrome_names *names,
                                            uint32_t id);
void ppi_chrome_names_clear(ppi_chrome_names *names);

#define PPI_CHROME_NUM_NAMES (PPROF_DEFINITION_STREAM + 1)

typedef struct ppi_chrome_groups {
  ppi_chrome_group **items;  // indexed by id
  size_t num_items, capacity;
} ppi_chrome_groups;

typedef struct ppi_chrome_writer {
  pprof_sink base;
  ppi_chrome_out out;
  ppi_part part;  // until `out.io` has it
  char *path;     // of a file of our own
  bool gzip, finished, first_written;
  ppi_disk *disk;
  uint64_t limit_ms, most_bytes;
  // Runs: those the file takes, those begun and finished, where each of them
  // stands and what each is called.
  size_t num_runs, num_begun, num_finished;
  uint64_t *shifts_ns;  // NULL: one run, not shifted
  uint32_t *pids;
  uint64_t base_ns;
  // Of the run that is being written. own_pid: what it says of itself;
  // device_pid: of its device 0.
  uint64_t shift_ns;
  uint32_t pid, own_pid, device_pid, next_tid, process_order;
  char *command;
  ppi_chrome_names names[PPI_CHROME_NUM_NAMES];
  ppi_chrome_groups groups[PPI_CHROME_NUM_KINDS];
  uint64_t num_rows;        // whose thread has left; they are written
  uint32_t num_lanes_left;  // those that they are of
  uint64_t *tids;           // bits: given to rows
  size_t num_tids, tids_capacity;
  ppi_chrome_flows flows;
  uint64_t num_held, next_order, num_not_finite;
  uint64_t told_until_ns;  // the last checkpoint
  bool has_windows;        // of the run, so far
  ppi_text *texts;         // the run info, copied for the end of the file
  size_t num_texts;
} ppi_chrome_writer;

// chrome_write.c. Each writes one event with what separates it from the last.
// The track has its tid.
void ppi_chrome_write_slice(ppi_chrome_writer *writer,
                            const ppi_chrome_slice *slice, uint32_t pid,
                            ppi_chrome_track *track);
void ppi_chrome_write_mark(ppi_chrome_writer *writer, const pprof_event *event,
                           uint32_t tid);
void ppi_chrome_write_counter(ppi_chrome_writer *writer,
                              const pprof_event *event, uint32_t tid);
void ppi_chrome_write_window(ppi_chrome_writer *writer, uint32_t index,
                             bool opens, uint64_t time_ns);
void ppi_chrome_write_head(ppi_chrome_writer *writer);
// Names of the run's processes and threads.
void ppi_chrome_write_names(ppi_chrome_writer *writer);
// The rows of a group whose thread has left, as those of `lane`.
void ppi_chrome_write_left(ppi_chrome_writer *writer,
                           const ppi_chrome_group *group, uint32_t lane);
// Run info and totals: the end of a file of one run, else an event of its own.
void ppi_chrome_write_run(ppi_chrome_writer *writer,
                          const pprof_totals *totals);
void ppi_chrome_write_tail(ppi_chrome_writer *writer,
                           const pprof_totals *totals);
uint32_t ppi_chrome_pid_of(const ppi_chrome_writer *writer,
                           const ppi_chrome_group *group);

#ifdef __cplusplus
}
#endif

#endif  // PPI_CHROME_H_
