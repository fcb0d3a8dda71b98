// SPDX-License-Identifier: Apache-2.0
//
// Reads a log for the first time: row lengths, slowest calls, the time span.
#include "html/survey.h"

#include "html/page_data.h"

static ppi_picture *picture_of(pprof_sink *sink) {
  return (ppi_picture *)((char *)sink - offsetof(ppi_picture, survey));
}

bool ppi_picture_span(const pprof_event *event, bool on_device,
                      uint64_t *out_ns) {
  uint64_t from_ns = on_device ? event->device_start_ns : event->start_ns;
  uint64_t to_ns = on_device ? event->device_end_ns : event->end_ns;
  if (on_device && !to_ns) return false;
  *out_ns = to_ns - from_ns;
  return from_ns <= to_ns && to_ns <= PPI_PICTURE_LAST_NS;
}

uint32_t ppi_picture_depth(const pprof_event *event, bool on_device) {
  return on_device || event->flags & PPROF_FLAG_ASYNC ? 0 : event->depth;
}

// Two to an octave: [2^k, 1.5 * 2^k) and the rest up to 2^(k+1).
size_t ppi_picture_class(uint64_t ns) {
  if (ns < 2) return (size_t)ns;
  unsigned octave = 63u - (unsigned)__builtin_clzll(ns);
  return 2 * octave + ((ns >> (octave - 1)) & 1);
}

uint64_t ppi_picture_class_ns(size_t number) {
  if (number < 2) return number;
  return (UINT64_C(2) + (number & 1)) << (number / 2 - 1);
}

static void note_slow(ppi_picture_stage *stage, bool on_device, uint64_t ns) {
  uint64_t *slow_ns = stage->slow_ns[on_device];
  if (ns <= slow_ns[0]) return;
  size_t at = 0;
  for (; at + 1 < PPI_PICTURE_SLOW && slow_ns[at + 1] < ns; at++)
    slow_ns[at] = slow_ns[at + 1];
  slow_ns[at] = ns;
}

static void note_side(ppi_picture *picture, const pprof_event *event,
                      bool on_device) {
  uint64_t ns;
  if (!ppi_picture_span(event, on_device, &ns)) {
    if (!on_device) picture->num_odd++;
    return;
  }
  uint32_t number = on_device ? ppi_page_data_stream_row(picture, event)
                              : ppi_page_data_row(picture, event);
  uint32_t stage = ppi_page_data_stage(picture, event->site);
  ppi_picture_run *run = &picture->runs[picture->at_run - 1];
  uint64_t from_ns = on_device ? event->device_start_ns : event->start_ns;
  run->first_ns = PPI_MIN(run->first_ns, from_ns);
  run->last_ns = PPI_MAX(run->last_ns, from_ns + ns);
  if (stage != PPI_SEEN_NONE) note_slow(&picture->stages[stage], on_device, ns);
  if (number == PPI_SEEN_NONE) return;
  ppi_picture_row *row = &picture->rows[number];
  row->num++;
  row->counts[ppi_picture_class(ns)]++;
  uint32_t depth = ppi_picture_depth(event, on_device);
  row->depth = PPI_MAX(row->depth, PPI_MIN(depth + 1, PPI_PICTURE_DEPTH));
}

// A stage that folds gives its slowest calls to its target.
static void add_slow(ppi_picture *picture, size_t number) {
  ppi_picture_stage *stage = &picture->stages[number];
  if (!stage->into) return;
  for (int side = 0; side < 2; side++)
    for (size_t i = 0; i < PPI_PICTURE_SLOW; i++) {
      note_slow(&picture->stages[stage->into - 1], side,
                stage->slow_ns[side][i]);
      stage->slow_ns[side][i] = 0;
    }
}

static pprof_status survey_begin(pprof_sink *sink, const pprof_run_info *info) {
  return ppi_page_data_begin(picture_of(sink), info);
}

static pprof_status survey_define(pprof_sink *sink,
                                  const pprof_definition *definition) {
  return ppi_page_data_define(picture_of(sink), definition);
}

static pprof_status survey_events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_picture *picture = picture_of(sink);
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    picture->num_events++;
    if (event->kind == PPROF_KIND_COUNTER) continue;
    note_side(picture, event, false);
    note_side(picture, event, true);
  }
  return PPROF_STATUS_OK;
}

static pprof_status survey_finish(pprof_sink *sink,
                                  const pprof_totals *totals) {
  ppi_picture *picture = picture_of(sink);
  (void)totals;
  ppi_page_data_fold(picture);
  for (size_t i = 0; i < picture->num_stages; i++) add_slow(picture, i);
  ppi_page_data_clear_run(picture);
  return PPROF_STATUS_OK;
}

void ppi_survey_init(ppi_picture *picture) {
  picture->survey = (pprof_sink){.size = sizeof(pprof_sink),
                                 .begin = survey_begin,
                                 .define = survey_define,
                                 .events = survey_events,
                                 .finish = survey_finish};
}
