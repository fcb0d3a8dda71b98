// SPDX-License-Identifier: Apache-2.0
//
// Every callback goes to every attached sink, in the order they were added.
#include "tee.h"

#include <stddef.h>
#include <string.h>

#define HAS(sink, callback)                                         \
  ((sink)->size >=                                                  \
       offsetof(pprof_sink, callback) + sizeof((sink)->callback) && \
   (sink)->callback)

#define FOR_ATTACHED(tee, sink, callback, ...)              \
  do {                                                      \
    for (size_t i_ = 0; i_ < (tee)->num_sinks; i_++) {      \
      pprof_sink *sink = (tee)->sinks[i_];                  \
      if (!(tee)->detached[i_] && HAS(sink, callback))      \
        settle(tee, i_, sink->callback(sink, __VA_ARGS__)); \
    }                                                       \
    return PPROF_STATUS_OK;                                 \
  } while (0)

static void settle(ppi_tee *tee, size_t i, pprof_status status) {
  if (status == PPROF_STATUS_OK) return;
  tee->detached[i] = true;
  if (tee->errors[i] == PPROF_STATUS_OK) tee->errors[i] = status;
  if (tee->first_error == PPROF_STATUS_OK)
    __atomic_store_n(&tee->first_error, status, __ATOMIC_RELEASE);
}

static pprof_status tee_begin(pprof_sink *base, const pprof_run_info *info) {
  FOR_ATTACHED((ppi_tee *)base, sink, begin, info);
}

static pprof_status tee_define(pprof_sink *base,
                               const pprof_definition *definition) {
  FOR_ATTACHED((ppi_tee *)base, sink, define, definition);
}

static pprof_status tee_events(pprof_sink *base, const pprof_batch *batch) {
  FOR_ATTACHED((ppi_tee *)base, sink, events, batch);
}

static pprof_status tee_checkpoint(pprof_sink *base,
                                   const pprof_checkpoint *checkpoint) {
  FOR_ATTACHED((ppi_tee *)base, sink, checkpoint, checkpoint);
}

static pprof_status tee_window(pprof_sink *base, uint32_t index, bool opens,
                               uint64_t time_ns) {
  FOR_ATTACHED((ppi_tee *)base, sink, window, index, opens, time_ns);
}

static void finish_sink(ppi_tee *tee, size_t i, const pprof_totals *totals) {
  pprof_sink *sink = tee->sinks[i];
  if (HAS(sink, finish)) settle(tee, i, sink->finish(sink, totals));
}

// Detached sinks are finished too: a log that failed half-way still wants its
// file closed. Their second error is not news.
static pprof_status tee_finish(pprof_sink *base, const pprof_totals *totals) {
  ppi_tee *tee = (ppi_tee *)base;
  for (size_t i = 0; i < tee->num_sinks; i++)
    if (i + 1 != tee->finishes_last) finish_sink(tee, i, totals);
  if (tee->finishes_last) finish_sink(tee, tee->finishes_last - 1, totals);
  return tee->first_error;
}

static bool tee_kept(pprof_sink *base, uint32_t lane, uint64_t *out_seq) {
  const ppi_tee *tee = (const ppi_tee *)base;
  bool any = false;
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < tee->num_sinks; i++) {
    pprof_sink *sink = tee->sinks[i];
    if (tee->detached[i] || !HAS(sink, kept)) continue;
    uint64_t seq = 0;
    if (!sink->kept(sink, lane, &seq)) seq = 0;
    if (seq < least) least = seq;
    any = true;
  }
  if (any) *out_seq = least;
  return any;
}

static bool tee_ready(pprof_sink *base) {
  const ppi_tee *tee = (const ppi_tee *)base;
  for (size_t i = 0; i < tee->num_sinks; i++)
    if (!tee->detached[i] && HAS(tee->sinks[i], ready) &&
        !tee->sinks[i]->ready(tee->sinks[i]))
      return false;
  return true;
}

void ppi_tee_init(ppi_tee *tee) {
  memset(tee, 0, sizeof *tee);
  tee->base = (pprof_sink){.size = sizeof(pprof_sink),
                           .begin = tee_begin,
                           .define = tee_define,
                           .events = tee_events,
                           .checkpoint = tee_checkpoint,
                           .window = tee_window,
                           .finish = tee_finish,
                           .kept = tee_kept,
                           .ready = tee_ready};
}

pprof_status ppi_tee_add(ppi_tee *tee, pprof_sink *sink) {
  if (sink->size < sizeof(size_t)) return PPROF_STATUS_INVALID;
  if (tee->num_sinks == PPI_MAX_SINKS) return PPROF_STATUS_BUSY;
  tee->sinks[tee->num_sinks++] = sink;
  return PPROF_STATUS_OK;
}

void ppi_tee_destroy_sinks(ppi_tee *tee) {
  for (size_t i = 0; i < tee->num_sinks; i++)
    if (HAS(tee->sinks[i], destroy)) tee->sinks[i]->destroy(tee->sinks[i]);
  tee->num_sinks = 0;
}
