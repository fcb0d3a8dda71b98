// SPDX-License-Identifier: Apache-2.0
//
// Writes OpenTelemetry's spans as JSON, one request to its collector a line. A
// range comes after the ranges inside it. The first inner range gives the outer
// range its id, which the outer range takes when it comes. A range without an
// outer one begins a trace. A request's trace has the number of the request;
// ranges that serve a request link to its trace.
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/mix.h"
#include "cli/say.h"
#include "export/formats.h"
#include "file/json_put.h"

// The most spans on a line.
#define MOST_SPANS 512

// A range that has not come yet, and the begin of the first range inside it; id
// 0: none inside came.
typedef struct outer {
  uint64_t id, first_ns;
} outer;
// The ranges around the last event of a lane, outermost first.
typedef struct around {
  outer *items;
  size_t num, capacity;
} around;

typedef struct spans {
  ppi_export base;
  ppi_map numbers;  // of lanes, by row
  around *lanes;
  size_t num_lanes, lanes_capacity;
  ppi_page page;
  size_t num_on_line;
  uint64_t seed, next_id;  // of the run
} spans;

static uint64_t new_id(spans *out) {
  uint64_t id = ppi_mix(out->seed + ++out->next_id);
  return id ? id : 1;
}

// ---- lines ----

static void put_attribute(ppi_page *page, const char *key, const char *kind) {
  ppi_put_object(page, NULL);
  ppi_put_text(page, "key", key);
  ppi_put_object(page, "value");
  ppi_put_key(page, kind);
}

static void put_string(ppi_page *page, const char *key, const char *text) {
  put_attribute(page, key, "stringValue");
  ppi_page_json(page, text);
  ppi_page_text(page, "}}");
}

static void put_whole(ppi_page *page, const char *key, uint64_t number) {
  put_attribute(page, key, "intValue");
  ppi_page_format(page, "\"%" PRIu64 "\"}}", number);
}

static void put_real(ppi_page *page, const char *key, double number) {
  if (number == 0 || number - number != 0) return;
  put_attribute(page, key, "doubleValue");
  ppi_page_short(page, number);
  ppi_page_text(page, "}}");
}

static void begin_line(spans *out) {
  ppi_page *page = &out->page;
  const ppi_export_run *run = ppi_export_run_of(&out->base);
  ppi_put_object(page, NULL);
  ppi_put_array(page, "resourceSpans");
  ppi_put_object(page, NULL);
  ppi_put_object(page, "resource");
  ppi_put_array(page, "attributes");
  put_string(page, "service.name",
             *run->command ? ppi_base_name(run->command) : "unknown_service");
  put_string(page, "service.instance.id", run->uuid);
  put_string(page, "host.name", run->host);
  put_whole(page, "process.pid", strtoull(run->pid, NULL, 10));
  if (*run->rank) put_string(page, "pprof.rank", run->rank);
  ppi_page_text(page, "]}");
  ppi_put_array(page, "scopeSpans");
  ppi_put_object(page, NULL);
  ppi_put_object(page, "scope");
  ppi_put_text(page, "name", "pprof");
  ppi_put_text(page, "version", PPI_VERSION);
  ppi_page_text(page, "}");
  ppi_put_array(page, "spans");
}

static void end_line(spans *out) {
  if (!out->num_on_line) return;
  ppi_page_text(&out->page, "]}]}]}\n");
  fwrite(out->page.bytes ? out->page.bytes : "", 1, out->page.len,
         out->base.file);
  out->page.len = 0;
  out->num_on_line = 0;
}

// ---- spans ----

typedef struct span {
  uint64_t id, parent, root;  // parent 0: none
  uint64_t start_ns, end_ns;
  bool is_request;
} span;

// The trace of a request has the request's number in all processes.
static void put_trace(ppi_page *page, const char *key, const span *of,
                      uint64_t flow) {
  ppi_put_key(page, key);
  ppi_page_format(page, "\"%016" PRIx64 "%016" PRIx64 "\"",
                  flow ? ppi_mix(UINT64_C(0x70706c6f67)) : ppi_mix(of->root),
                  flow ? flow : of->root);
}

static void put_id(ppi_page *page, const char *key, uint64_t id) {
  ppi_put_key(page, key);
  ppi_page_format(page, "\"%016" PRIx64 "\"", id);
}

static void put_time(ppi_page *page, const char *key, uint64_t ns) {
  ppi_put_key(page, key);
  ppi_page_format(page, "\"%" PRIu64 "\"", ns);
}

static uint64_t request_id(uint64_t flow) {
  uint64_t id = ppi_mix(flow ^ UINT64_C(0x72657175657374));
  return id ? id : 1;
}

static void put_links(ppi_page *page, const pprof_event *event,
                      const span *of) {
  if (!event->num_flows || of->is_request) return;
  ppi_put_array(page, "links");
  for (size_t i = 0; i < event->num_flows; i++) {
    ppi_put_object(page, NULL);
    put_trace(page, "traceId", of, event->flows[i]);
    put_id(page, "spanId", request_id(event->flows[i]));
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
}

static void put_where(spans *out, const pprof_event *event) {
  ppi_export_names *names = &out->base.names;
  if (event->kind == PPROF_KIND_DEVICE_RANGE) {
    const ppi_export_name *stream =
        ppi_export_names_of(names, PPROF_DEFINITION_STREAM, event->stream);
    if (stream->has_parent)
      put_string(
          &out->page, "pprof.device",
          ppi_export_names_at(names, PPROF_DEFINITION_DEVICE, stream->parent)
              ->text);
    put_whole(&out->page, "pprof.stream", stream->number);
    return;
  }
  const ppi_export_name *lane =
      ppi_export_names_of(names, PPROF_DEFINITION_LANE, event->lane);
  if (*lane->text) put_string(&out->page, "thread.name", lane->text);
  if (lane->number) put_whole(&out->page, "thread.id", lane->number);
}

static void put_work(ppi_page *page, const pprof_event *event,
                     bool is_request) {
  const pprof_work_amount *work = event->work;
  if (!work) return;
  put_real(page, is_request ? "gen_ai.usage.input_tokens" : "pprof.items",
           work->items);
  put_real(page, "pprof.bytes", work->bytes);
  put_real(page, "pprof.flops", work->flops);
}

static void put_span(spans *out, const pprof_event *event, const span *of) {
  ppi_page *page = &out->page;
  ppi_export_names *names = &out->base.names;
  uint32_t site =
      ppi_export_names_row(names, PPROF_DEFINITION_SITE, event->site);
  uint64_t base_ns = ppi_export_run_of(&out->base)->base_ns;
  if (!out->num_on_line) begin_line(out);
  out->num_on_line++;
  ppi_put_object(page, NULL);
  put_trace(page, "traceId", of, of->is_request ? event->flows[0] : 0);
  put_id(page, "spanId", of->id);
  if (of->parent) put_id(page, "parentSpanId", of->parent);
  ppi_put_text(page, "name",
               ppi_export_names_at(names, PPROF_DEFINITION_SITE, site)->text);
  ppi_put_u64(page, "kind", of->is_request ? 2 : 1);
  put_time(page, "startTimeUnixNano", base_ns + of->start_ns);
  put_time(page, "endTimeUnixNano",
           base_ns + PPI_MAX(of->start_ns, of->end_ns));
  ppi_put_array(page, "attributes");
  put_string(page, "pprof.category", ppi_export_category(names, site));
  put_where(out, event);
  put_work(page, event, of->is_request);
  ppi_page_text(page, "]");
  put_links(page, event, of);
  ppi_page_text(page, "}");
  if (page->failed) ppi_tool_must(NULL);
  if (out->num_on_line == MOST_SPANS) end_line(out);
}

// ---- outer ranges ----

static around *around_of(spans *out, uint32_t lane) {
  size_t at = ppi_tool_number(
      &out->numbers,
      (ppi_map_key){0, ppi_export_names_row(&out->base.names,
                                            PPROF_DEFINITION_LANE, lane)});
  if (at == out->num_lanes)
    PPI_MUST_PUSH(out->lanes, out->num_lanes, out->lanes_capacity, (around){0});
  return &out->lanes[at];
}

// Gives ids to the ranges around `depth`.
static void number_around(spans *out, around *lane, uint32_t depth,
                          uint64_t start_ns) {
  PPI_MUST_ROOM(lane->items, lane->capacity, (size_t)depth + 1);
  outer *items = lane->items;
  for (; lane->num < depth; lane->num++) items[lane->num] = (outer){0};
  for (uint32_t i = 0; i < depth; i++) {
    bool is_new = !items[i].id;
    if (is_new) items[i].id = new_id(out);
    if (is_new || start_ns < items[i].first_ns) items[i].first_ns = start_ns;
  }
}

// Only a damaged log nests deeper; such ranges are written flat.
#define MOST_DEPTH 65536u

// A range that begins after the buffered inner ranges does not enclose them:
// their outer range was lost.
static void put_nested(spans *out, const pprof_event *event, span *made) {
  uint32_t depth = event->depth < MOST_DEPTH ? event->depth : 0;
  around *lane = around_of(out, event->lane);
  number_around(out, lane, depth, event->start_ns);
  const outer *own = lane->num > depth ? &lane->items[depth] : NULL;
  bool is_own = own && own->id && own->first_ns >= event->start_ns;
  made->id = is_own ? own->id : new_id(out);
  made->parent = depth ? lane->items[depth - 1].id : 0;
  made->root = depth ? lane->items[0].id : made->id;
  lane->num = depth;
  put_span(out, event, made);
}

static void take(ppi_export *export, const pprof_event *event,
                 const pprof_batch *batch) {
  spans *out = (spans *)export;
  span made = {.start_ns = event->start_ns, .end_ns = event->end_ns};
  if (event->kind == PPROF_KIND_DEVICE_RANGE && ppi_export_is_timed(event)) {
    made.start_ns = event->device_start_ns;
    made.end_ns = event->device_end_ns;
  } else if (event->kind != PPROF_KIND_RANGE) {
    return;
  } else if (!ppi_export_is_loose(event, batch)) {
    put_nested(out, event, &made);
    return;
  }
  made.is_request = event->flags & PPROF_FLAG_REQUEST && event->num_flows;
  made.id = made.is_request ? request_id(event->flows[0]) : new_id(out);
  made.root = made.id;
  put_span(out, event, &made);
}

static void begin(ppi_export *export, const pprof_run_info *info) {
  spans *out = (spans *)export;
  const char *uuid = ppi_export_run_of(export)->uuid;
  (void)info;
  out->seed = export->names.num_runs;
  for (; *uuid; uuid++) out->seed = ppi_mix(out->seed ^ (unsigned char)*uuid);
}

static void finish(ppi_export *export, const pprof_totals *totals) {
  (void)totals;
  end_line((spans *)export);
}

// ---- the format ----

static pprof_status close_spans(ppi_export *export, pprof_error *error) {
  end_line((spans *)export);
  return ppi_export_end(export->file, error);
}

static void clear_spans(ppi_export *export) {
  spans *out = (spans *)export;
  for (size_t i = 0; i < out->num_lanes; i++) ppi_free(out->lanes[i].items);
  ppi_free(out->lanes);
  ppi_map_clear(&out->numbers);
  ppi_page_clear(&out->page);
}

const ppi_export_format ppi_format_otlp = {
    .name = "otlp",
    .ending = ".otlp.json",
    .holds = "ranges of threads and devices as spans, requests as traces",
    .opened_by = "OpenTelemetry's collector, Jaeger, Tempo",
    .parts = PPI_PART_LOOSE | PPI_PART_STAGES | PPI_PART_FLOWS | PPI_PART_WORK,
    .size = sizeof(spans),
    .begin = begin,
    .take = take,
    .finish = finish,
    .close = close_spans,
    .clear = clear_spans,
};
