// SPDX-License-Identifier: Apache-2.0
//
// The log: a sink that writes it, a function that reads it into a sink.
// docs/log-format.md describes the file.
#ifndef PPROF_LOG_H_
#define PPROF_LOG_H_

#include "pprof/base.h"
#include "pprof/event.h"

PPROF_BEGIN_C_

// pprof_log_writer_create makes a sink that writes the log `path`. Until the
// session stops the file is `path`.part. Nothing is replaced. If another run's
// log, its .part or a pipe has one of the names, both get the first free
// number: "x.1.pplog" for "x.pplog". The run's info has the new name. Whatever
// happens to the process, all records can be recovered from the .part and the
// session's spool. A sink that finished one run takes another, which follows it
// in the same file.
//
// Errors: IO: the file cannot be made, or `path` is a device or one of this
//         user's folders; NO_MEMORY.
// Owns:   the caller owns `*out`, until a session takes it.
// Cost:   one thread while the session runs; it alone waits for the disk.
PPROF_API PPROF_NODISCARD pprof_status
pprof_log_writer_create(const char *path, pprof_sink **out, pprof_error *error)
    PPROF_OFF_(pprof_refuse_(error));

// pprof_log_read delivers the log `path`, or its unfinished .part, to `sink` on
// the calling thread: begin to finish, and again for each further run in the
// log. A sink for one run answers BUSY to the second begin, which ends the
// reading. Damage in one run leaves the others as they are. Consecutive
// segments of one run (a rotated log) are one run.
//
// Errors: IO: missing or unreadable; INVALID: not a log; VERSION: written by a
//         newer version, after the runs before that one; CORRUPT: damaged,
//         after all that is readable was delivered and finish was called for
//         each run; whatever a callback answers.
// Owns:   nothing; `sink` is not destroyed.
PPROF_API PPROF_NODISCARD pprof_status pprof_log_read(const char *path,
                                                      pprof_sink *sink,
                                                      pprof_error *error)
    PPROF_OFF_(pprof_refuse_(error));

PPROF_END_C_

#endif  // PPROF_LOG_H_
