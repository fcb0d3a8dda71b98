// SPDX-License-Identifier: Apache-2.0
//
// The interface of a session for config/, beyond the public calls.
#pragma once

#include "session/state/settings.h"

PPROF_BEGIN_C_

// The first six before start (BUSY afterwards); texts are copied.
pprof_status ppi_session_set_device_mode(pprof_session *session,
                                         ppi_device_mode mode);
// With `external`, a device range of a stream that captures a graph becomes
// event nodes of that graph, and each launch that is found a range.
pprof_status ppi_session_set_graph_nodes(pprof_session *session, bool external);
// Each piece of work that `source` reports becomes an event, too; while not on,
// a note says whether nothing has timed such work. NULL: none.
pprof_status ppi_session_set_kernels(pprof_session *session,
                                     const ppi_kernel_source *source,
                                     bool are_on);
// Kernels of graphs also report the ranges in which they were captured.
pprof_status ppi_session_set_graph_kernels(pprof_session *session,
                                           bool by_capture);
// Where they are traced, all calls of the device's API are ranges; else those
// that wait for it, inside of others.
pprof_status ppi_session_set_device_calls(pprof_session *session, bool all);
// ppi_session_trace_kernels traces kernels of a running session for `ns`, and
// has begun when it returns. BUSY: a trace runs; INVALID: the session does not
// run; UNAVAILABLE: it cannot, with a message. One thread, not while it stops.
pprof_status ppi_session_trace_kernels(pprof_session *session, uint64_t ns,
                                       pprof_error *error);
// ppi_session_end_kernels ends that trace before its time.
void ppi_session_end_kernels(pprof_session *session);
// ppi_session_kernels_traced answers whether that trace is over: OK, or
// UNAVAILABLE with a message if it got no kernels. The same thread, after the
// stop, too.
bool ppi_session_kernels_traced(const pprof_session *session, pprof_status *out,
                                pprof_error *why);
// Takes `bytes` of the spool, at most half of it, for a flight recorder's ring.
pprof_status ppi_session_set_ring(pprof_session *session, uint64_t bytes);
// Adds a text to the answers of pprof_run_info_text, e.g. "config".
pprof_status ppi_session_set_info(pprof_session *session, const char *key,
                                  const char *value);
// Adds to the run's notes (trust). Any thread; notes after the totals are
// dropped.
void ppi_session_note(pprof_session *session, const char *key,
                      const char *text);

PPROF_END_C_
