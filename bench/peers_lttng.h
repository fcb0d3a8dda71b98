// SPDX-License-Identifier: Apache-2.0
//
// The tracepoints of LTTng-UST that do what our markers do: a name and whether
// it begins or ends. Its headers include this file several times.
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER pprof_bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench/peers_lttng.h"

#if !defined(BENCH_PEERS_LTTNG_H_) || \
    defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_PEERS_LTTNG_H_

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(pprof_bench, stage_begin, LTTNG_UST_TP_ARGS(void),
                           LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_EVENT(pprof_bench, stage_end, LTTNG_UST_TP_ARGS(void),
                           LTTNG_UST_TP_FIELDS())

#endif  // BENCH_PEERS_LTTNG_H_

#include <lttng/tracepoint-event.h>
