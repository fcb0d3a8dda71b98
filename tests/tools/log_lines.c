// SPDX-License-Identifier: Apache-2.0
//
// Canonical lines. Doubles are printed by their bits, bytes outside printable
// ASCII as \xNN. tools/python/pplog.py prints the very same.
#include "log_lines.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"

typedef struct log_lines {
  pprof_sink base;
  FILE *out;
} log_lines;

static FILE *out_of(pprof_sink *sink) {
  return ((log_lines *)sink)->out;
}

static void print_text(FILE *out, const char *text) {
  for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
    if (*at == '\\' || *at < 32 || *at > 126)
      fprintf(out, "\\x%02x", *at);
    else
      fputc(*at, out);
  }
}

static void print_pair(FILE *out, const char *what, const ppi_text *text) {
  fprintf(out, "%s ", what);
  print_text(out, text->key);
  fputc('=', out);
  print_text(out, text->value);
  fputc('\n', out);
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void print_cpu(FILE *out, const pprof_cpu_use *cpu) {
  fprintf(out,
          " cpu=%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
          ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
          cpu->known, cpu->user_ns, cpu->sys_ns, cpu->inner_ns,
          cpu->voluntary_switches, cpu->involuntary_switches, cpu->minor_faults,
          cpu->major_faults, cpu->run_queue_ns);
}

static void print_numbers(FILE *out, const pprof_numbers *numbers) {
  fprintf(out, " numbers=%" PRIu32 ":", numbers->full_name);
  for (uint32_t i = 0; i < numbers->num; i++)
    fprintf(out, "%s%" PRIu64, i ? "," : "", numbers->values[i]);
}

static void print_event(FILE *out, const char *what, const pprof_event *event) {
  fprintf(out,
          "%s kind=%" PRIu32 " site=%" PRIu32 " lane=%" PRIu32
          " stream=%" PRIu32 " depth=%" PRIu32 " flags=%" PRIu32
          " window=%" PRIu32,
          what, event->kind, event->site, event->lane, event->stream,
          event->depth, event->flags, event->window);
  fprintf(out,
          " host=%" PRIu64 "..%" PRIu64 " device=%" PRIu64 "..%" PRIu64
          "+-%" PRIu64 " value=%016" PRIx64 " flows=[",
          event->start_ns, event->end_ns, event->device_start_ns,
          event->device_end_ns, event->device_error_ns, bits_of(event->value));
  for (size_t i = 0; i < event->num_flows; i++)
    fprintf(out, "%s%" PRIu64, i ? "," : "", event->flows[i]);
  fprintf(out, "] work=");
  if (event->work)
    fprintf(out, "%016" PRIx64 ",%016" PRIx64 ",%016" PRIx64 ",%016" PRIx64,
            bits_of(event->work->items), bits_of(event->work->bytes),
            bits_of(event->work->flops), bits_of(event->work->params));
  if (!event->work) fprintf(out, "-");
  if (event->attributes)
    fprintf(out, " attributes=%" PRIu32, event->attributes);
  if (event->cpu) print_cpu(out, event->cpu);
  if (event->numbers) print_numbers(out, event->numbers);
  fprintf(out, "\n");
}

static pprof_status begin(pprof_sink *sink, const pprof_run_info *info) {
  for (size_t i = 0; i < info->num_texts; i++)
    print_pair(out_of(sink), "info", &info->texts[i]);
  fprintf(out_of(sink), "begin\n");
  return PPROF_STATUS_OK;
}

static pprof_status define(pprof_sink *sink,
                           const pprof_definition *definition) {
  FILE *out = out_of(sink);
  fprintf(out,
          "define kind=%d id=%" PRIu32 " parent=%" PRIu32 " color=%" PRIu32
          " number=%" PRIu64 " name=",
          (int)definition->kind, definition->id, definition->parent,
          definition->color, definition->number);
  print_text(out, definition->name);
  fputc('\n', out);
  return PPROF_STATUS_OK;
}

static pprof_status events(pprof_sink *sink, const pprof_batch *batch) {
  FILE *out = out_of(sink);
  fprintf(out, "batch lane=%" PRIu32 " seq=%" PRIu64 "..%" PRIu64 " num=%zu\n",
          batch->lane, batch->first_seq, batch->end_seq, batch->num_events);
  char what[32];
  snprintf(what, sizeof what, "event %" PRIu32, batch->lane);
  for (size_t i = 0; i < batch->num_events; i++)
    print_event(out, what, pprof_batch_at(batch, i));
  return PPROF_STATUS_OK;
}

static pprof_status checkpoint(pprof_sink *sink,
                               const pprof_checkpoint *checkpoint) {
  fprintf(out_of(sink), "checkpoint time=%" PRIu64 "\n", checkpoint->time_ns);
  for (size_t i = 0; i < checkpoint->num_open; i++)
    print_event(out_of(sink), "open", &checkpoint->open[i]);
  return PPROF_STATUS_OK;
}

static pprof_status window(pprof_sink *sink, uint32_t index, bool opens,
                           uint64_t time_ns) {
  fprintf(out_of(sink), "window index=%" PRIu32 " %s time=%" PRIu64 "\n", index,
          opens ? "opens" : "closes", time_ns);
  return PPROF_STATUS_OK;
}

static pprof_status finish(pprof_sink *sink, const pprof_totals *totals) {
  FILE *out = out_of(sink);
  for (size_t i = 0; i < totals->num_items; i++) {
    const ppi_total *item = &totals->items[i];
    fprintf(out, "total lane=%" PRId64 " %s=%" PRIu64 "\n",
            item->lane == PPROF_ALL_LANES ? (int64_t)-1 : (int64_t)item->lane,
            ppi_total_name((ppi_total_key)item->key), item->value);
  }
  for (size_t i = 0; i < totals->num_notes; i++)
    print_pair(out, "note", &totals->notes[i]);
  fprintf(out, "finish\n");
  return PPROF_STATUS_OK;
}

static void destroy(pprof_sink *sink) {
  free(sink);
}

pprof_sink *log_lines_create(FILE *out) {
  log_lines *lines = calloc(1, sizeof *lines);
  if (!lines) return NULL;
  lines->base = (pprof_sink){.size = sizeof(pprof_sink),
                             .begin = begin,
                             .define = define,
                             .events = events,
                             .checkpoint = checkpoint,
                             .window = window,
                             .finish = finish,
                             .destroy = destroy};
  lines->out = out;
  return &lines->base;
}
