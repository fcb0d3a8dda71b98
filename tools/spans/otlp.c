// SPDX-License-Identifier: Apache-2.0
//
// Turns OpenTelemetry's JSON into spans.
#include "spans/otlp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "spans/json_path.h"

#define RESOURCE "resourceSpans.resource.attributes"
#define SPAN "resourceSpans.scopeSpans.spans"
#define ATTRIBUTE SPAN ".attributes"

// Times in seconds, and numbers of tokens. If two attributes have one meaning,
// the later one counts.
static const struct {
  const char *key;
  size_t offset;
} numbers[] = {
    {"gen_ai.latency.time_in_queue", offsetof(ppi_span_served, queue)},
    {"gen_ai.latency.time_in_model_prefill",
     offsetof(ppi_span_served, prefill)},
    {"gen_ai.latency.time_in_model_decode", offsetof(ppi_span_served, decode)},
    {"gen_ai.latency.time_to_first_token", offsetof(ppi_span_served, first)},
    {"gen_ai.server.time_to_first_token", offsetof(ppi_span_served, first)},
    {"gen_ai.response.time_to_first_chunk", offsetof(ppi_span_served, first)},
    {"gen_ai.server.time_per_output_token", offsetof(ppi_span_served, gap)},
    {"gen_ai.usage.prompt_tokens", offsetof(ppi_span_served, tokens_in)},
    {"gen_ai.usage.input_tokens", offsetof(ppi_span_served, tokens_in)},
    {"gen_ai.usage.completion_tokens", offsetof(ppi_span_served, tokens_out)},
    {"gen_ai.usage.output_tokens", offsetof(ppi_span_served, tokens_out)}};

static void keep(char out[PPI_SPAN_NAME], const char *text) {
  snprintf(out, PPI_SPAN_NAME, "%s", text);
}

void ppi_otlp_begin(ppi_otlp *otlp) {
  *otlp = (ppi_otlp){0};
  ppi_span_clear(&otlp->span);
}

// A plain value: "intValue", "stringValue", "doubleValue". Nested values have
// no use here.
static bool is_value(const char *path, const char *attribute) {
  size_t len = strlen(attribute);
  return strncmp(path, attribute, len) == 0 &&
         strncmp(path + len, ".value.", 7) == 0 && !strchr(path + len + 7, '.');
}

static void take_attribute(ppi_otlp *otlp) {
  ppi_span *span = &otlp->span;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (strcmp(otlp->key, numbers[i].key) == 0)
      *(double *)(void *)((char *)&span->served + numbers[i].offset) =
          ppi_span_real(otlp->value);
}

static void take_end(ppi_otlp *otlp, const char *path, ppi_span_file *out) {
  if (strcmp(path, ATTRIBUTE) == 0) {
    take_attribute(otlp);
  } else if (strcmp(path, RESOURCE) == 0) {
    if (strcmp(otlp->key, "service.name") == 0)
      keep(otlp->service, otlp->value);
  } else if (strcmp(path, SPAN) == 0) {
    keep(otlp->span.service, otlp->service[0] ? otlp->service : "spans");
    ppi_span_put(out, &otlp->span);
    ppi_span_clear(&otlp->span);
  } else if (strcmp(path, "resourceSpans") == 0) {
    otlp->service[0] = 0;
  } else {
    return;
  }
  otlp->key[0] = otlp->value[0] = 0;
}

// The second number of a time [seconds, nanoseconds].
static void take_nanoseconds(const char *value, uint64_t *out) {
  uint64_t ns;
  bool is_pair = ppi_span_whole(value, &ns) && ns < 1000000000 &&
                 *out < UINT64_C(10000000000);
  *out = is_pair ? *out * 1000000000 + ns : 0;
}

// JavaScript's Long is {low, high}; both numbers may be negative.
static void take_time(const char *half, const char *value, uint64_t *out) {
  int64_t number = strtoll(value, NULL, 10);
  if (strcmp(half, ".low") == 0)
    *out = (*out & ~(uint64_t)UINT32_MAX) | (uint32_t)number;
  else if (strcmp(half, ".high") == 0)
    *out = (*out & UINT32_MAX) | (uint64_t)number << 32;
  else if (!*half && *out)
    take_nanoseconds(value, out);
  else if (!*half)
    ppi_span_time(value, out);
}

// The trace's id becomes the flow, the span's id the number of the request.
static void take_field(ppi_otlp *otlp, const char *field, const char *value) {
  ppi_span *span = &otlp->span;
  if (strcmp(field, "name") == 0)
    keep(span->name, value);
  else if (strcmp(field, "traceId") == 0)
    span->flow = ppi_span_number(value);
  else if (strcmp(field, "spanId") == 0)
    span->id = ppi_span_number(value);
  else if (strncmp(field, "startTimeUnixNano", 17) == 0)
    take_time(field + 17, value, &span->start_ns);
  else if (strncmp(field, "endTimeUnixNano", 15) == 0)
    take_time(field + 15, value, &span->end_ns);
}

// Replaces the names of lists in older versions and in Grafana's Tempo.
static void put_canonical(char *to, size_t size, const char *path) {
  static const char *const names[][2] = {
      {"batches", "resourceSpans"},
      {"instrumentationLibrarySpans", "scopeSpans"},
  };
  size_t len = 0;
  to[0] = 0;
  while (*path && len < size) {
    size_t part = strcspn(path, ".");
    const char *name = path;
    int width = (int)part;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      if (strlen(names[i][0]) == part && memcmp(names[i][0], path, part) == 0) {
        name = names[i][1];
        width = (int)strlen(name);
      }
    len += (size_t)snprintf(to + len, size - len, "%s%.*s", len ? "." : "",
                            width, name);
    path += part + (path[part] == '.');
  }
}

void ppi_otlp_take(ppi_otlp *otlp, const char *given, const char *value,
                   ppi_span_file *out) {
  char path[PPI_JSON_PATH_MOST + 64];
  put_canonical(path, sizeof path, given);
  if (!value)
    take_end(otlp, path, out);
  else if (strcmp(path, ATTRIBUTE ".key") == 0 ||
           strcmp(path, RESOURCE ".key") == 0)
    keep(otlp->key, value);
  else if (is_value(path, ATTRIBUTE) || is_value(path, RESOURCE))
    keep(otlp->value, value);
  else if (strncmp(path, SPAN ".", sizeof SPAN) == 0)
    take_field(otlp, path + sizeof SPAN, value);
}
