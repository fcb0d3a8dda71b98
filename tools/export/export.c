// SPDX-License-Identifier: Apache-2.0
//
// Counts the parts of events that a format leaves out, and ends its file.
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/say.h"
#include "cli/suggest.h"
#include "export/formats.h"
#include "file/text.h"

bool ppi_export_is_loose(const pprof_event *event, const pprof_batch *batch) {
  return event->flags & PPROF_FLAG_ASYNC || event->lane != batch->lane;
}

bool ppi_export_is_timed(const pprof_event *event) {
  return !(event->flags & PPROF_FLAG_NO_DEVICE_TIME) &&
         (event->device_start_ns | event->device_end_ns) != 0;
}

// The parts of an event, as bits.
static unsigned parts_of(const pprof_event *event, const pprof_batch *batch) {
  unsigned parts = 0;
  if (event->kind == PPROF_KIND_MARK)
    parts |= PPI_PART_MARKS;
  else if (event->kind == PPROF_KIND_COUNTER)
    parts |= PPI_PART_COUNTERS;
  else if (event->kind == PPROF_KIND_RANGE && ppi_export_is_loose(event, batch))
    parts |= PPI_PART_LOOSE;
  else if (event->kind == PPROF_KIND_DEVICE_RANGE)
    parts |=
        PPI_PART_SUBMITS | (ppi_export_is_timed(event) ? 0 : PPI_PART_UNTIMED);
  if (event->num_flows) parts |= PPI_PART_FLOWS;
  if (event->work) parts |= PPI_PART_WORK;
  if (event->cpu && event->cpu->known) parts |= PPI_PART_CPU;
  if (event->attributes) parts |= PPI_PART_ATTRIBUTES;
  if (event->numbers) parts |= PPI_PART_NUMBERS;
  return parts;
}

static pprof_status count_events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_export_count *count = (ppi_export_count *)sink;
  for (size_t i = 0; i < batch->num_events; i++) {
    unsigned left = parts_of(pprof_batch_at(batch, i), batch) & ~count->parts;
    for (; left; left &= left - 1) count->left[__builtin_ctz(left)]++;
  }
  return count->next->events(count->next, batch);
}

static pprof_status count_begin(pprof_sink *sink, const pprof_run_info *info) {
  ppi_export_count *count = (ppi_export_count *)sink;
  count->num_runs++;
  return count->next->begin(count->next, info);
}

#define FORWARD(callback, ...)                         \
  pprof_sink *next = ((ppi_export_count *)sink)->next; \
  return next->callback ? next->callback(next, __VA_ARGS__) : PPROF_STATUS_OK

static pprof_status count_define(pprof_sink *sink,
                                 const pprof_definition *definition) {
  FORWARD(define, definition);
}
static pprof_status count_checkpoint(pprof_sink *sink,
                                     const pprof_checkpoint *checkpoint) {
  FORWARD(checkpoint, checkpoint);
}
static pprof_status count_window(pprof_sink *sink, uint32_t index, bool opens,
                                 uint64_t time_ns) {
  FORWARD(window, index, opens, time_ns);
}
static pprof_status count_finish(pprof_sink *sink, const pprof_totals *totals) {
  FORWARD(finish, totals);
}

void ppi_export_count_init(ppi_export_count *count, unsigned parts,
                           pprof_sink *next) {
  *count = (ppi_export_count){.base = {.size = sizeof(pprof_sink),
                                       .begin = count_begin,
                                       .define = count_define,
                                       .events = count_events,
                                       .checkpoint = count_checkpoint,
                                       .window = count_window,
                                       .finish = count_finish},
                              .next = next,
                              .parts = parts};
}

void ppi_export_say_left(const char *format, const ppi_export_count *count,
                         const ppi_export *export) {
  static const char *const texts[] = {
#define PPI_EXPORT_TEXT_(name, text) text,
      PPI_EXPORT_PARTS(PPI_EXPORT_TEXT_)};
  ppi_page page = {0};
  for (size_t i = 0; i < PPI_NUM_PARTS; i++) {
    uint64_t num = count->left[i] + export->left[i];
    if (num)
      ppi_page_format(&page, "%s%" PRIu64 " %s", page.len ? ", " : "", num,
                      texts[i]);
  }
  if (page.len && !page.failed)
    ppi_tool_say("%s has no place for: %s", format, page.bytes);
  ppi_page_clear(&page);
}

pprof_status ppi_export_end(FILE *file, pprof_error *error) {
  if (fflush(file) == 0 && !ferror(file)) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_IO, "cannot write: %s", strerror(errno));
}

// ---- exports with names ----

static ppi_export *export_of(pprof_sink *sink) {
  return (ppi_export *)(void *)((char *)sink - offsetof(ppi_export, own));
}

static pprof_status take_begin(pprof_sink *sink, const pprof_run_info *info) {
  ppi_export *export = export_of(sink);
  pprof_status status = ppi_export_names_begin(&export->names, info);
  return status == PPROF_STATUS_OK && export->calls->begin
             ? export->calls->begin(export)
             : status;
}

static pprof_status take_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  uint32_t row;
  if (pprof_definition_get_kind(definition) > PPROF_DEFINITION_ATTRIBUTES)
    return PPROF_STATUS_OK;  // of a newer version
  return ppi_export_names_set(&export_of(sink)->names, definition, &row);
}

static pprof_status take_events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_export *export = export_of(sink);
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < batch->num_events && status == PPROF_STATUS_OK; i++)
    status = export->calls->take(export, pprof_batch_at(batch, i), batch);
  return status;
}

static pprof_status take_finish(pprof_sink *sink, const pprof_totals *totals) {
  ppi_export *export = export_of(sink);
  (void)totals;
  return export->calls->finish ? export->calls->finish(export)
                               : PPROF_STATUS_OK;
}

static void destroy(ppi_export *export) {
  export->calls->clear(export);
  ppi_export_names_clear(&export->names);
  free(export);
}

pprof_status ppi_export_make(const ppi_export_calls *calls,
                             const ppi_export_target *target, ppi_export **out,
                             pprof_error *error) {
  ppi_export *made = calloc(1, calls->size);
  if (!made) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  made->own = (pprof_sink){.size = sizeof(pprof_sink),
                           .begin = take_begin,
                           .define = take_define,
                           .events = take_events,
                           .finish = take_finish};
  made->sink = &made->own;
  made->close = calls->close;
  made->destroy = destroy;
  made->calls = calls;
  made->file = target->file;
  *out = made;
  return PPROF_STATUS_OK;
}

// ---- the formats ----

const ppi_export_format *const *ppi_export_formats(void) {
#define FORMAT(name) &ppi_format_##name,
  static const ppi_export_format *const formats[] = {PPI_EXPORT_FORMATS(FORMAT)
                                                         NULL};
#undef FORMAT
  return formats;
}

const ppi_export_format *ppi_export_find(const char *name) {
  struct ppi_tool_candidate candidate = {.wrong = name,
                                         .wrong_len = strlen(name)};
  const ppi_export_format *const *format = ppi_export_formats();
  for (; *format; format++) {
    if (strcmp((*format)->name, name) == 0) return *format;
    ppi_tool_candidate_offer(&candidate, (*format)->name,
                             strlen((*format)->name));
  }
  if (candidate.best)
    ppi_tool_say("there is no format '%s' (did you mean '%s'?)", name,
                 candidate.best);
  else
    ppi_tool_say("there is no format '%s'; see pprof-report export --list",
                 name);
  return NULL;
}
