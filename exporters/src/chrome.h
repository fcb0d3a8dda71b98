// SPDX-License-Identifier: Apache-2.0
//
// The Chrome writer's parts: names by id (chrome_names.c), events as JSON
// (chrome_write.c), the sink that feeds them (chrome.c). One thread, the one
// that calls the sink.
#ifndef PPI_CHROME_H_
#define PPI_CHROME_H_

#include "chrome_flow.h"
#include "chrome_text.h"
#include "chrome_track.h"
#include "event_impl.h"
#include "pprof/export.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_chrome_writer_create_fd writes to `fd`, which stays the caller's and is
// not closed: for a trace that goes to standard output.
pprof_status ppi_chrome_writer_create_fd(int fd, bool gzip, pprof_sink **out,
                                         pprof_error *error);

// Devices are processes of their own in a trace, numbered from here; the
// kernel's process ids end far below, and so do thread ids below the second.
#define PPI_CHROME_FIRST_DEVICE_PID (1u << 30)
#define PPI_CHROME_FIRST_OWN_TID (1u << 24)

typedef struct ppi_chrome_name {
  bool known;
  uint32_t parent;
  uint64_t number;
  char *text;     // as defined; NULL for sites and categories
  char *escaped;  // with quotes; sites and categories only
  size_t escaped_len;
} ppi_chrome_name;

typedef struct ppi_chrome_names {
  ppi_chrome_name *items;  // indexed by id
  size_t num_items, capacity;
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
  char *path, *part_path;  // NULL: written in place
  bool owns_fd, begun, finished, first_written;
  uint32_t pid, next_tid;
  char *command;
  ppi_chrome_names names[PPI_CHROME_NUM_NAMES];
  ppi_chrome_groups groups[PPI_CHROME_NUM_KINDS];
  ppi_chrome_flows flows;
  uint64_t num_held, next_order, num_not_finite;
  ppi_text *texts;  // the run info, copied for the end of the file
  size_t num_texts;
} ppi_chrome_writer;

// chrome_write.c. Each writes one event with what separates it from the last.
void ppi_chrome_write_slice(ppi_chrome_writer *writer,
                            const ppi_chrome_slice *slice, uint32_t pid,
                            uint32_t tid);
void ppi_chrome_write_mark(ppi_chrome_writer *writer, const pprof_event *event,
                           uint32_t tid);
void ppi_chrome_write_counter(ppi_chrome_writer *writer,
                              const pprof_event *event, uint32_t tid);
void ppi_chrome_write_window(ppi_chrome_writer *writer, uint32_t index,
                             bool opens, uint64_t time_ns);
void ppi_chrome_write_head(ppi_chrome_writer *writer);
// Names of processes and threads, run info, totals: the end of the file.
void ppi_chrome_write_tail(ppi_chrome_writer *writer,
                           const pprof_totals *totals);
uint32_t ppi_chrome_pid_of(const ppi_chrome_writer *writer,
                           const ppi_chrome_group *group);

#ifdef __cplusplus
}
#endif

#endif  // PPI_CHROME_H_
