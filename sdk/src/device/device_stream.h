// SPDX-License-Identifier: Apache-2.0
//
// Finds the stream of a handle, and its possible uses. On the marking threads,
// unless stated otherwise.
#pragma once

#include "device/device_impl.h"

// ppi_stream_ask asks the backend. ppi_stream_ask_for does so for a marker, and
// keeps what the answer means for the session.
pprof_status ppi_stream_ask(const pprof_device *device, void *stream,
                            pprof_stream_info *out);
pprof_status ppi_stream_ask_for(ppi_device_session *session, void *stream,
                                pprof_stream_info *out);

// ppi_stream_know answers the thread's entry of the stream, checked with the
// backend; NULL with the reason if it is no stream. It is valid until the next
// call.
const ppi_known_stream *ppi_stream_know(ppi_thread *thread,
                                        ppi_device_session *session,
                                        void *stream, pprof_status *out_status);

// Places in the session's table are indices + 1; 0: there are too many.
// ppi_stream_find_last finds that of a stream that cannot be asked any more.
uint32_t ppi_stream_find_last(ppi_device_session *session, const void *handle);
uint32_t ppi_stream_id_at(const ppi_device_session *session, uint32_t place);

// ppi_streams_look finds, where places run out, those of streams that were not
// used for long: another one may have them. The collector.
void ppi_streams_look(ppi_device_session *session);

// ppi_stream_define begins a row of its own for a stream that no marker has
// used; answers the definition's id, 0: there is no room. Any thread.
uint32_t ppi_stream_define(uint32_t device, uint64_t stable_id);

// ppi_stream_set_name names a stream, now or when it is first used. `session`
// may be NULL.
void ppi_stream_set_name(pprof_device *device, ppi_device_session *session,
                         const pprof_stream_info *info, const char *name);
