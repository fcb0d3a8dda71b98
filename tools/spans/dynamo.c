// SPDX-License-Identifier: Apache-2.0
//
// Turns Dynamo's request trace into requests, ranges of tools and counters.
#include "spans/dynamo.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"

#define MS UINT64_C(1000000)
#define MOST_MS (UINT64_MAX / MS / 8)

// Paths of numbers, each with the factor to its field's unit.
static const struct {
  const char *path;
  size_t offset;
  double scale;
} numbers[] = {
#define SERVED(field) offsetof(ppi_dynamo, span.served.field)
    {"request.prefill_wait_time_ms", SERVED(queue), 1e-3},
    {"request.prefill_time_ms", SERVED(prefill), 1e-3},
    {"request.ttft_ms", SERVED(first), 1e-3},
    {"request.avg_itl_ms", SERVED(gap), 1e-3},
    {"request.input_tokens", SERVED(tokens_in), 1},
    {"request.output_tokens", SERVED(tokens_out), 1},
    {"request.total_time_ms", offsetof(ppi_dynamo, total_ms), 1},
    {"request.queue_depth", offsetof(ppi_dynamo, queue_depth), 1},
    {"request.kv_hit_rate", offsetof(ppi_dynamo, hit_rate), 1},
    {"tool.duration_ms", offsetof(ppi_dynamo, tool_ms), 1},
#undef SERVED
};

static const struct {
  const char *path;
  size_t offset;
} texts[] = {
    {"event_type", offsetof(ppi_dynamo, event)},
    {"agent_context.session_id", offsetof(ppi_dynamo, session)},
    {"request.model", offsetof(ppi_dynamo, span.name)},
    {"request.request_id", offsetof(ppi_dynamo, request)},
    {"tool.tool_class", offsetof(ppi_dynamo, tool)},
};

static const struct {
  const char *path;
  size_t offset;
} times[] = {
    {"event_time_unix_ms", offsetof(ppi_dynamo, event_ms)},
    {"request.request_received_ms", offsetof(ppi_dynamo, span.start_ns)},
    {"tool.started_at_unix_ms", offsetof(ppi_dynamo, tool_start_ms)},
    {"tool.ended_at_unix_ms", offsetof(ppi_dynamo, tool_end_ms)},
};

static void *at(ppi_dynamo *dynamo, size_t offset) {
  return (char *)dynamo + offset;
}

void ppi_dynamo_begin(ppi_dynamo *dynamo) {
  *dynamo = (ppi_dynamo){
      .total_ms = -1, .tool_ms = -1, .queue_depth = -1, .hit_rate = -1};
  ppi_span_clear(&dynamo->span);
}

static uint64_t ns_of(uint64_t ms) {
  return ms < MOST_MS ? ms * MS : 0;
}

static uint64_t ns_in(double ms) {
  return (uint64_t)(ms * 1e6 + 0.5);
}

// A request lasts its total time from its arrival. Without a total time it ends
// when the server wrote its line.
static void set_times(ppi_dynamo *dynamo) {
  ppi_span *span = &dynamo->span;
  span->start_ns = ns_of(span->start_ns);
  span->end_ns = ns_of(dynamo->event_ms);
  if (dynamo->total_ms < 0) return;
  uint64_t length_ns = ns_in(dynamo->total_ms);
  if (span->start_ns)
    span->end_ns = span->start_ns + length_ns;
  else if (length_ns < span->end_ns)
    span->start_ns = span->end_ns - length_ns;
}

static void put_request(ppi_dynamo *dynamo, ppi_span_file *out) {
  ppi_span *span = &dynamo->span;
  set_times(dynamo);
  if (!span->name[0]) strcpy(span->name, "request");
  strcpy(span->service, "dynamo");
  span->id = ppi_span_number(dynamo->request);
  ppi_span_put(out, span);
  if (span->start_ns && dynamo->queue_depth >= 0)
    ppi_span_put_counter(out, span, "queue_depth", dynamo->queue_depth);
  if (span->start_ns && dynamo->hit_rate >= 0)
    ppi_span_put_counter(out, span, "kv_hit_rate", dynamo->hit_rate);
}

static void put_tool(ppi_dynamo *dynamo, ppi_span_file *out) {
  ppi_span *span = &dynamo->span;
  uint64_t end_ms =
      dynamo->tool_end_ms ? dynamo->tool_end_ms : dynamo->event_ms;
  span->end_ns = ns_of(end_ms);
  span->start_ns = ns_of(dynamo->tool_start_ms);
  if (!span->start_ns && dynamo->tool_ms >= 0 &&
      ns_in(dynamo->tool_ms) < span->end_ns)
    span->start_ns = span->end_ns - ns_in(dynamo->tool_ms);
  snprintf(span->name, sizeof span->name, "tool %.200s", dynamo->tool);
  strcpy(span->service, "tools");
  ppi_span_put(out, span);
}

static void take_line(ppi_dynamo *dynamo, ppi_span_file *out) {
  if (dynamo->session[0]) dynamo->span.flow = ppi_span_number(dynamo->session);
  if (strcmp(dynamo->event, "request_end") == 0)
    put_request(dynamo, out);
  else if (strcmp(dynamo->event, "tool_end") == 0 ||
           strcmp(dynamo->event, "tool_error") == 0)
    put_tool(dynamo, out);
  ppi_dynamo_begin(dynamo);
}

// The event may lie in an envelope: {"timestamp": 1, "event": {...}}.
static const char *in_envelope(const char *path) {
  return strncmp(path, "event.", 6) == 0 ? path + 6 : path;
}

void ppi_dynamo_take(ppi_dynamo *dynamo, const char *path, const char *value,
                     ppi_span_file *out) {
  if (!value) {
    if (!path[0]) take_line(dynamo, out);
    return;
  }
  path = in_envelope(path);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (strcmp(path, numbers[i].path) == 0) {
      double number = ppi_span_real(value);
      *(double *)at(dynamo, numbers[i].offset) =
          number >= 0 ? number * numbers[i].scale : -1;
    }
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (strcmp(path, texts[i].path) == 0)
      snprintf(at(dynamo, texts[i].offset), PPI_SPAN_NAME, "%s", value);
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    if (strcmp(path, times[i].path) == 0)
      ppi_span_whole(value, at(dynamo, times[i].offset));
}
