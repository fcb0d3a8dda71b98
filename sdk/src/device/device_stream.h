// SPDX-License-Identifier: Apache-2.0
//
// Which stream a handle is, and what it may be used for. On the marking
// threads, unless stated otherwise.
#pragma once

#include "device/device_impl.h"

PPROF_BEGIN_C_

// ppi_stream_ask puts the backend's question; ppi_stream_ask_for does so for a
// marker: what the answer means for the session is kept.
pprof_status ppi_stream_ask(const pprof_device *device, void *stream,
                            pprof_stream_info *out);
pprof_status ppi_stream_ask_for(ppi_device_session *session, void *stream,
                                pprof_stream_info *out);

// ppi_stream_know answers what `thread` knows of the stream, checked with the
// backend; NULL with the reason when it is none. It holds until the next call.
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

PPROF_END_C_
