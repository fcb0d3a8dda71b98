// SPDX-License-Identifier: Apache-2.0
//
// Events, names and totals as JSON. Each call writes one event and its
// separator.
#pragma once

#include "chrome/chrome_state.h"

// The track must have its tid.
void ppi_chrome_write_slice(ppi_chrome_writer *writer,
                            const ppi_chrome_slice *slice, uint32_t pid,
                            ppi_chrome_track *track);
// ppi_chrome_write_launch draws an arrow to the slice from row `from_tid` of
// the process that launched it.
void ppi_chrome_write_launch(ppi_chrome_writer *writer,
                             const ppi_chrome_slice *slice, uint32_t from_tid,
                             uint32_t pid, uint32_t tid);
// ppi_chrome_write_wake draws an arrow from the thread that ended the wait
// `slice`.
void ppi_chrome_write_wake(ppi_chrome_writer *writer,
                           const ppi_chrome_slice *slice, uint32_t pid,
                           uint32_t tid);
void ppi_chrome_write_mark(ppi_chrome_writer *writer, const pprof_event *event,
                           uint32_t tid);
void ppi_chrome_write_counter(ppi_chrome_writer *writer,
                              const pprof_event *event, uint32_t tid);
void ppi_chrome_write_window(ppi_chrome_writer *writer, uint32_t index,
                             bool opens, uint64_t time_ns);
// ppi_chrome_write_checkpoint: an import may take all events from before this
// time as read, but those that end later.
void ppi_chrome_write_checkpoint(ppi_chrome_writer *writer);
void ppi_chrome_write_head(ppi_chrome_writer *writer);
// Names of the run's processes and threads.
void ppi_chrome_write_names(ppi_chrome_writer *writer);
// ppi_chrome_write_fold writes the fold of a site, if it has one.
void ppi_chrome_write_fold(ppi_chrome_writer *writer, uint32_t site);
// Writes the rows of a thread that has left, as those of `lane`.
void ppi_chrome_write_left(ppi_chrome_writer *writer,
                           const ppi_chrome_group *group, uint32_t lane);
// Run info and totals: the end of a file of one run, else an event of its own.
void ppi_chrome_write_run(ppi_chrome_writer *writer,
                          const pprof_totals *totals);
void ppi_chrome_write_tail(ppi_chrome_writer *writer,
                           const pprof_totals *totals);
uint32_t ppi_chrome_pid_of(const ppi_chrome_writer *writer,
                           const ppi_chrome_group *group);
