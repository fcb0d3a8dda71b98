// SPDX-License-Identifier: Apache-2.0
//
// Opens the spool of a dead process (or, to inspect it, of a living one),
// converts it by the collector's own code, and delivers it to a sink.
#pragma once

#include <sys/stat.h>

#include "event/event.h"
#include "spool/staging.h"

PPROF_BEGIN_C_

typedef struct ppi_salvage ppi_salvage;

// ppi_salvage_open reads the spool at `path` into memory of its own: header,
// names, and the content of lanes, tables and rings not yet freed, without the
// file's holes. That takes less memory than the file. Errors: IO (missing,
// unreadable), INVALID (not a spool), VERSION, CORRUPT, BUSY (its process is
// alive), NO_MEMORY.
pprof_status ppi_salvage_open(const char *path, ppi_salvage **out,
                              pprof_error *error);
// ppi_salvage_open_live also accepts a living process; some parts of its copy
// may be older than others.
pprof_status ppi_salvage_open_live(const char *path, ppi_salvage **out,
                                   pprof_error *error);
void ppi_salvage_close(ppi_salvage *salvage);
// Whether the file is this user's own: paths in another user's spool are not
// trusted.
bool ppi_salvage_is_own(const ppi_salvage *salvage);
// ppi_salvage_is_unused: a process died while it made this spool, which has no
// content.
bool ppi_salvage_is_unused(const char *path);
// ppi_salvage_is_in_use: the spool of this process's session. Nothing is
// opened: closing a file drops the process's locks on it.
bool ppi_salvage_is_in_use(const char *path);
// ppi_salvage_is_left: a spool of this user's, of whatever version, of a
// process that is gone; `out` is its file.
bool ppi_salvage_is_left(const char *path, struct stat *out);
// ppi_salvage_claim: until it is closed, no other process claims this spool.
// False: another has claimed it, or has removed it.
bool ppi_salvage_claim(const ppi_salvage *salvage);
const pprof_run_info *ppi_salvage_run_info(const ppi_salvage *salvage);
// NULL: no log writer had claimed it.
const ppi_staging *ppi_salvage_staging(const ppi_salvage *salvage);
// The flight recorder's ring; NULL when there was none.
const ppi_ring *ppi_salvage_ring(const ppi_salvage *salvage);

// ppi_salvage_deliver calls sink->define, window and events (not begin, not
// finish) for what the log does not hold: for each lane the records with a seq
// of kept(user, lane) or more (kept NULL: all). Ranges open at death end as
// CLIPPED at the last known time; device ranges without times are delivered
// with NO_DEVICE_TIME. Definitions are delivered all, windows only when
// `windows` says so, those still open being closed at the last known time.
pprof_status ppi_salvage_deliver(ppi_salvage *salvage,
                                 uint64_t (*kept)(void *user, uint32_t lane),
                                 void *user, bool windows, pprof_sink *sink);
// Counters that only the spool has (lost, unmatched, begun_before, ...) and
// notes. Borrowed until close.
const pprof_totals *ppi_salvage_totals(const ppi_salvage *salvage);
// Records of `lane` below this went from the flight recorder's ring and are
// counted in it.
uint64_t ppi_salvage_dropped(const ppi_salvage *salvage, uint32_t lane);
// Records of `lane` below this are of threads that had it before.
uint64_t ppi_salvage_first(const ppi_salvage *salvage, uint32_t lane);
uint64_t ppi_salvage_last_time_ns(const ppi_salvage *salvage);

// ppi_salvage_open_file opens the spool at `path` for reading. Errors: BUSY (it
// is this process's own), IO, INVALID.
pprof_status ppi_salvage_open_file(const char *path, int *out_fd,
                                   uint64_t *out_size, pprof_error *error);
// ppi_salvage_writer answers the process that writes to an open spool; 0: none.
// `unknown` stands for one of another PID namespace.
uint32_t ppi_salvage_writer(int fd, uint32_t unknown);

PPROF_END_C_
