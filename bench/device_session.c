// SPDX-License-Identifier: Apache-2.0
//
// Runs a session and keeps its events for the benchmark. The sink runs on the
// collector's thread.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_bench.h"

static pprof_status capture_define(pprof_sink *sink,
                                   const pprof_definition *definition) {
  bench_capture *capture = (bench_capture *)sink;
  uint32_t id = pprof_definition_id(definition);
  const char *name = pprof_definition_name(definition);
  if (id >= BENCH_MAX_DEFINITIONS) return PPROF_STATUS_OK;
  switch (pprof_definition_get_kind(definition)) {
    case PPROF_DEFINITION_SITE:
      snprintf(capture->site_names[id], sizeof *capture->site_names, "%.15s",
               name);
      capture->is_kept[id] =
          capture->keeps &&
          strncmp(name, capture->keeps, strlen(capture->keeps)) == 0;
      break;
    case PPROF_DEFINITION_STREAM:
      snprintf(capture->stream_names[id], sizeof *capture->stream_names,
               "%.15s", name);
      break;
    default:
      break;
  }
  return PPROF_STATUS_OK;
}

static bool keep(bench_capture *capture, const pprof_event *event) {
  if (capture->num_kept == capture->capacity) {
    size_t capacity = capture->capacity ? 2 * capture->capacity : 4096;
    bench_event *events =
        realloc(capture->events, capacity * sizeof *capture->events);
    if (!events) return false;
    capture->events = events;
    capture->capacity = capacity;
  }
  capture->events[capture->num_kept++] = (bench_event){event->start_ns,
                                                       event->end_ns,
                                                       event->device_start_ns,
                                                       event->device_end_ns,
                                                       event->device_error_ns,
                                                       event->site,
                                                       event->stream,
                                                       event->kind,
                                                       event->flags};
  return true;
}

static pprof_status capture_events(pprof_sink *sink, const pprof_batch *batch) {
  bench_capture *capture = (bench_capture *)sink;
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (event->kind == PPROF_KIND_DEVICE_RANGE) {
      if (event->flags & PPROF_FLAG_NO_DEVICE_TIME)
        capture->num_untimed++;
      else
        capture->num_timed++;
    }
    if (event->site < BENCH_MAX_DEFINITIONS && capture->is_kept[event->site] &&
        !keep(capture, event))
      return PPROF_STATUS_NO_MEMORY;
  }
  __atomic_fetch_add(&capture->num_events, batch->num_events, __ATOMIC_RELEASE);
  return PPROF_STATUS_OK;
}

void bench_capture_init(bench_capture *capture) {
  *capture = (bench_capture){.base = {.size = sizeof capture->base,
                                      .define = capture_define,
                                      .events = capture_events}};
}

static bool add_sinks(bench_session *self, pprof_error *error) {
  if (pprof_session_add_sink(self->session, &self->capture->base) !=
      PPROF_STATUS_OK)
    return false;
  if (!self->log_path) return true;
  pprof_sink *log = NULL;
  if (pprof_log_writer_create(self->log_path, &log, error) != PPROF_STATUS_OK)
    return false;
  if (pprof_session_add_sink(self->session, log) == PPROF_STATUS_OK)
    return true;
  log->destroy(log);
  return false;
}

bool bench_session_start(bench_session *self) {
  pprof_options options = {.size = sizeof options,
                           .stop_wait_ms = self->stop_wait_ms};
  pprof_error error = {""};
  self->capture = calloc(1, sizeof *self->capture);
  if (!self->capture) return bench_fail("out of memory");
  bench_capture_init(self->capture);
  self->capture->keeps = self->keeps;
  if (pprof_session_create(&options, &self->session, &error) ==
          PPROF_STATUS_OK &&
      add_sinks(self, &error) &&
      pprof_session_start(self->session) == PPROF_STATUS_OK)
    return true;
  bench_session_destroy(self);
  return bench_fail("no session starts: %s", error.text);
}

uint64_t bench_session_lost(const bench_session *self) {
  pprof_stats stats = {.size = sizeof stats};
  pprof_session_stats(self->session, &stats);
  return stats.lost;
}

bool bench_session_wait(bench_session *self, uint64_t num_events) {
  uint64_t begin = bench_now_ns();
  while (__atomic_load_n(&self->capture->num_events, __ATOMIC_ACQUIRE) +
             bench_session_lost(self) <
         num_events) {
    if (bench_now_ns() - begin > 10000000000u)
      return bench_fail("%llu events issued, %llu delivered and %llu lost",
                        (unsigned long long)num_events,
                        (unsigned long long)self->capture->num_events,
                        (unsigned long long)bench_session_lost(self));
    bench_sleep_us(100);
  }
  return true;
}

bool bench_session_stop(bench_session *self) {
  pprof_error error = {""};
  pprof_status status = pprof_session_stop(self->session, &error);
  self->stats = (pprof_stats){.size = sizeof self->stats};
  pprof_session_stats(self->session, &self->stats);
  if (status == PPROF_STATUS_OK) return true;
  return bench_fail("the session stopped with: %s: %s",
                    pprof_status_string(status), error.text);
}

void bench_session_destroy(bench_session *self) {
  pprof_session_destroy(self->session);
  if (self->capture) free(self->capture->events);
  free(self->capture);
  self->session = NULL;
  self->capture = NULL;
}

static int number_in(const char *name) {
  while (*name && !isdigit((unsigned char)*name)) name++;
  return *name ? atoi(name) : -1;
}

int bench_site_number(const bench_capture *capture, const bench_event *event) {
  return event->site < BENCH_MAX_DEFINITIONS
             ? number_in(capture->site_names[event->site])
             : -1;
}

int bench_stream_number(const bench_capture *capture,
                        const bench_event *event) {
  return event->stream < BENCH_MAX_DEFINITIONS
             ? number_in(capture->stream_names[event->stream])
             : -1;
}
