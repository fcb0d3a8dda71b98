// SPDX-License-Identifier: Apache-2.0
//
// A sink's callbacks, which it may lack: a caller built against an older header
// lacks the last of them.
#pragma once

#include "pprof/event.h"

#define PPI_SINK_HAS(sink, callback)                                \
  ((sink)->size >=                                                  \
       offsetof(pprof_sink, callback) + sizeof((sink)->callback) && \
   (sink)->callback)

static inline pprof_status ppi_call_define(pprof_sink *sink,
                                           const pprof_definition *definition) {
  return PPI_SINK_HAS(sink, define) ? sink->define(sink, definition)
                                    : PPROF_STATUS_OK;
}

static inline pprof_status ppi_call_window(pprof_sink *sink, uint32_t index,
                                           bool opens, uint64_t time_ns) {
  return PPI_SINK_HAS(sink, window) ? sink->window(sink, index, opens, time_ns)
                                    : PPROF_STATUS_OK;
}

static inline pprof_status ppi_call_events(pprof_sink *sink,
                                           const pprof_batch *batch) {
  return PPI_SINK_HAS(sink, events) ? sink->events(sink, batch)
                                    : PPROF_STATUS_OK;
}
