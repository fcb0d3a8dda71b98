// SPDX-License-Identifier: Apache-2.0
//
// Counts the parts of events that a format leaves out, and ends its file. Also
// what several formats need: rows without overlap, and paths of stages.
#include "export/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/say.h"
#include "cli/suggest.h"
#include "export/formats.h"
#include "file/text.h"
#include "report/figures/path_rows.h"

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

void ppi_export_say_left(const char *format, const ppi_export *export) {
  static const char *const texts[] = {
#define PPI_EXPORT_TEXT_(name, text) text,
      PPI_EXPORT_PARTS(PPI_EXPORT_TEXT_)};
  ppi_page page = {0};
  for (size_t i = 0; i < PPI_NUM_PARTS; i++) {
    if (export->left[i])
      ppi_page_format(&page, "%s%" PRIu64 " %s", page.len ? ", " : "",
                      export->left[i], texts[i]);
  }
  if (page.len && !page.failed)
    ppi_tool_say("%s has no place for: %s", format, page.bytes);
  ppi_page_clear(&page);
}

pprof_status ppi_export_end(FILE *file, pprof_error *error) {
  if (fflush(file) == 0 && !ferror(file)) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_IO, "cannot write: %s", strerror(errno));
}

// ---- the sink ----

// Passes a call on, and answers the export's status.
#define ALSO(callback, ...)                              \
  if (export->status == PPROF_STATUS_OK && export->also) \
  export->status = export->also->callback(export->also, __VA_ARGS__)

static pprof_status take_begin(pprof_sink *sink, const pprof_run_info *info) {
  ppi_export *export = (ppi_export *)sink;
  export->status = PPROF_STATUS_OK;
  ppi_export_names_begin(&export->names, info);
  if (export->format->begin) export->format->begin(export, info);
  ALSO(begin, info);
  return export->status;
}

static pprof_status take_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  ppi_export *export = (ppi_export *)sink;
  // Other kinds are of a newer version.
  if (export->format->take &&
      pprof_definition_get_kind(definition) <= PPROF_DEFINITION_ATTRIBUTES)
    ppi_export_names_set(&export->names, definition);
  ALSO(define, definition);
  return export->status;
}

static pprof_status take_events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_export *export = (ppi_export *)sink;
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    unsigned left = parts_of(event, batch) & ~export->parts;
    for (; left; left &= left - 1) export->left[__builtin_ctz(left)]++;
    if (export->format->take) export->format->take(export, event, batch);
    if (export->status != PPROF_STATUS_OK) break;
  }
  ALSO(events, batch);
  return export->status;
}

static pprof_status take_checkpoint(pprof_sink *sink,
                                    const pprof_checkpoint *checkpoint) {
  ppi_export *export = (ppi_export *)sink;
  ALSO(checkpoint, checkpoint);
  return export->status;
}

static pprof_status take_window(pprof_sink *sink, uint32_t index, bool opens,
                                uint64_t time_ns) {
  ppi_export *export = (ppi_export *)sink;
  ALSO(window, index, opens, time_ns);
  if (export->format->window)
    export->format->window(export, index, opens, time_ns);
  return export->status;
}

static pprof_status take_finish(pprof_sink *sink, const pprof_totals *totals) {
  ppi_export *export = (ppi_export *)sink;
  ALSO(finish, totals);
  if (export->format->finish && export->status == PPROF_STATUS_OK)
    export->format->finish(export, totals);
  return export->status;
}

void *ppi_export_make(const ppi_export_format *format, FILE *file) {
  const ppi_report_details details = {.paths = true, .warmup = -1};
  ppi_export *made = ppi_tool_must(calloc(1, format->size));
  made->sink =
      (pprof_sink){.size = sizeof made->sink, PPI_SINK_CALLBACKS(take_)};
  made->format = format;
  made->parts = PPI_PART_ALL;
  made->file = file;
  if (format->of_paths) ppi_export_report(made, &details);
  return made;
}

ppi_export *ppi_export_open(const ppi_export_format *format,
                            const ppi_export_target *target,
                            pprof_error *error) {
  ppi_export *made = ppi_export_make(format, target->file);
  if (!format->open || format->open(made, target, error)) return made;
  ppi_export_destroy(made);
  return NULL;
}

void ppi_export_destroy(ppi_export *export) {
  if (export->format->clear) export->format->clear(export);
  pprof_report_destroy(export->report);
  ppi_export_names_clear(&export->names);
  free(export);
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

// ---- rows without overlap, and paths of a report ----

size_t ppi_export_lanes_place(ppi_export_lanes *lanes, uint64_t start_ns,
                              uint64_t end_ns, uint64_t *num_cut) {
  size_t at = 0;
  while (at < lanes->num && lanes->ends_ns[at] > start_ns) at++;
  if (at == PPI_EXPORT_MAX_LANES) {
    ++*num_cut;
    return at - 1;
  }
  if (at == lanes->num) {
    PPI_MUST_ROOM(lanes->ends_ns, lanes->capacity, at + 1);
    lanes->num++;
  }
  lanes->ends_ns[at] = end_ns;
  return at;
}

void ppi_export_lanes_clear(ppi_export_lanes *lanes) {
  ppi_free(lanes->ends_ns);
  *lanes = (ppi_export_lanes){0};
}

void ppi_export_report(ppi_export *export, const ppi_report_details *details) {
  pprof_report_destroy(export->report);
  if (pprof_report_create(&export->report) != PPROF_STATUS_OK)
    ppi_tool_must(NULL);
  ppi_report_set_details(export->report, details);
  export->also = pprof_report_sink(export->report);
}

size_t ppi_export_frames(const ppi_figures *figures,
                         const ppi_report_path *path,
                         const ppi_report_path *out[PPI_PATH_LEVELS]) {
  size_t num = 0;
  for (; path; path = ppi_path_row_up(figures, path)) out[num++] = path;
  return num;
}
