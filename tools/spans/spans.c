// SPDX-License-Identifier: Apache-2.0
//
// Reads a file of spans value by value. A file has one JSON value or several,
// mostly one a line.
#include "spans/spans.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "spans/dynamo.h"
#include "spans/json_path.h"
#include "spans/otlp.h"

// The part of a file that decides its format.
#define HEAD_LEN ((size_t)65536)

struct ppi_spans {
  ppi_source *source;
  const char *bytes;  // the rest of the source's block
  size_t len;
  ppi_json *json;  // NULL: between two values
  ppi_json_path path;
  bool is_dynamo;
  ppi_otlp otlp;
  ppi_dynamo dynamo;
  ppi_span_file file;
  char failure[160];  // "": none
  char kind[240];
};

static bool has_key(const char *head, size_t len, const char *key) {
  return memmem(head, PPI_MIN(len, HEAD_LEN), key, strlen(key)) != NULL;
}

static bool is_dynamo(const char *head, size_t len) {
  return has_key(head, len, "\"dynamo.request.trace.v1\"");
}

bool ppi_spans_is(const char *head, size_t len) {
  size_t at = len >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < len && strchr(" \t\r\n", head[at]) && head[at]) at++;
  return at < len && head[at] == '{' &&
         !has_key(head, len, "\"traceEvents\"") &&
         (has_key(head, len, "\"resourceSpans\"") ||
          (has_key(head, len, "\"batches\"") &&
           has_key(head, len, "Spans\"")) ||
          is_dynamo(head, len));
}

static void take(void *context, const char *path, const char *text) {
  ppi_spans *spans = context;
  if (spans->is_dynamo)
    ppi_dynamo_take(&spans->dynamo, path, text, &spans->file);
  else
    ppi_otlp_take(&spans->otlp, path, text, &spans->file);
}

ppi_spans *ppi_spans_open(ppi_source *source, const char *head, size_t len,
                          ppi_span_take take_event, void *context) {
  ppi_spans *spans = ppi_tool_must(ppi_alloc(sizeof *spans));
  *spans = (ppi_spans){.source = source,
                       .bytes = head,
                       .len = len,
                       .file = {.take = take_event, .context = context}};
  spans->is_dynamo = is_dynamo(head, len);
  if (len >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0) {
    spans->bytes += 3;
    spans->len -= 3;
  }
  ppi_otlp_begin(&spans->otlp);
  ppi_dynamo_begin(&spans->dynamo);
  return spans;
}

void ppi_spans_close(ppi_spans *spans) {
  if (!spans) return;
  if (spans->json) ppi_json_destroy(spans->json);
  ppi_span_file_clear(&spans->file);
  ppi_free(spans);
}

const char *ppi_spans_failure(const ppi_spans *spans) {
  return spans->failure[0] ? spans->failure : NULL;
}

const char *ppi_spans_kind(const ppi_spans *spans) {
  return spans->kind;
}

uint64_t ppi_spans_num_bad(const ppi_spans *spans, uint64_t *out_all) {
  const ppi_span_file *file = &spans->file;
  *out_all = file->num_requests + file->num_spans + file->num_bad;
  return file->num_bad;
}

// ---- reading ----

static void fail(ppi_spans *spans, const char *how) {
  snprintf(spans->failure, sizeof spans->failure, "%s (byte %" PRIu64 ")", how,
           spans->source->num_out - spans->len);
}

static bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Answers false at the end of the file.
static bool fill(ppi_spans *spans) {
  for (;;) {
    while (!spans->json && spans->len && is_space(*spans->bytes))
      spans->bytes++, spans->len--;
    if (spans->len) return true;
    spans->len = ppi_source_next(spans->source, &spans->bytes);
    if (!spans->len) return false;
  }
}

static void begin_value(ppi_spans *spans) {
  ppi_json_path_begin(&spans->path, take, spans);
  spans->json =
      ppi_tool_must(ppi_json_create(ppi_json_path_token, &spans->path));
}

// Parses one value, or its part in this block.
static void read_some(ppi_spans *spans) {
  size_t used = 0;
  if (!spans->json) begin_value(spans);
  ppi_json_state state =
      ppi_json_write(spans->json, spans->bytes, spans->len, &used);
  spans->bytes += used;
  spans->len -= used;
  if (state == PPI_JSON_MORE) return;
  if (state == PPI_JSON_BAD) fail(spans, ppi_json_error(spans->json));
  if (state == PPI_JSON_STOPPED) fail(spans, "it is nested too deeply");
  ppi_json_destroy(spans->json);
  spans->json = NULL;
}

// A number at the end of the file is complete only if the parser knows the end.
static void read_end(ppi_spans *spans) {
  size_t used;
  const ppi_source *source = spans->source;
  if (spans->json && ppi_json_write(spans->json, "", 0, &used) != PPI_JSON_DONE)
    fail(spans, "it ends too early");
  if (source->damaged) fail(spans, "the gzip data is damaged or cut");
}

static void describe(ppi_spans *spans) {
  const ppi_span_file *file = &spans->file;
  size_t len = (size_t)snprintf(
      spans->kind, sizeof spans->kind,
      "%s: %" PRIu64 " requests, %" PRIu64 " other spans",
      spans->is_dynamo ? "a request trace of Dynamo" : "spans of OpenTelemetry",
      file->num_requests, file->num_spans);
  if (file->num_from_schedule && len < sizeof spans->kind)
    snprintf(spans->kind + len, sizeof spans->kind - len,
             "; of %" PRIu64
             " the first token was counted from when it was scheduled",
             file->num_from_schedule);
}

// Damage ends the file at its place.
bool ppi_spans_read(ppi_spans *spans) {
  if (!spans->failure[0] && fill(spans)) {
    read_some(spans);
    return true;
  }
  if (!spans->failure[0]) read_end(spans);
  ppi_span_file_end(&spans->file);
  describe(spans);
  return false;
}
