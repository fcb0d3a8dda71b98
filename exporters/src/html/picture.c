// SPDX-License-Identifier: Apache-2.0
//
// Plans the drawings of the page between two readings of each log, and fills
// their bins in the second.
#include "html/picture.h"

#include <math.h>

#include "base/mem.h"
#include "base/rank.h"
#include "event/recorded_wait.h"
#include "html/bands.h"
#include "html/page_data.h"
#include "html/series.h"
#include "html/survey.h"
#include "names/names.h"
#include "report/figures/request_rows.h"
#include "report/figures/sum.h"

// ---- the plan ----

// Selects the events that the page lists and the requests that it shows in
// full. A row with few events lists them all. A row with many lists its share:
// the longest ones; shorter ones go into bins.

// Runs share one axis if all have a start time and the axis is at most
// FAR_APART times their sum. On a longer axis, short runs would vanish.
// Otherwise each run counts from its own start.
enum { FAR_APART = 4 };

static bool share_axis(const ppi_picture *picture, uint64_t first_ns) {
  double sum_ns = 0, start_ns = INFINITY, end_ns = 0;
  for (size_t i = 0; i < picture->num_runs; i++) {
    const ppi_picture_run *run = &picture->runs[i];
    double apart_ns = (double)(run->base_ns - first_ns);
    if (!run->base_ns) return false;
    if (run->first_ns > run->last_ns) continue;
    sum_ns += (double)(run->last_ns - run->first_ns);
    start_ns = PPI_MIN(start_ns, apart_ns + (double)run->first_ns);
    end_ns = PPI_MAX(end_ns, apart_ns + (double)run->last_ns);
  }
  return end_ns - start_ns <= FAR_APART * sum_ns;
}

static void place_runs(ppi_picture *picture) {
  uint64_t first_ns = UINT64_MAX;
  for (size_t i = 0; i < picture->num_runs; i++)
    first_ns = PPI_MIN(first_ns, picture->runs[i].base_ns);
  bool are_near = share_axis(picture, first_ns);
  picture->start_ns = UINT64_MAX;
  for (size_t i = 0; i < picture->num_runs; i++) {
    ppi_picture_run *run = &picture->runs[i];
    uint64_t apart_ns = run->base_ns - first_ns;
    run->shift_ns = are_near && apart_ns < PPI_PICTURE_LAST_NS ? apart_ns : 0;
    if (run->first_ns > run->last_ns) continue;
    picture->start_ns =
        PPI_MIN(picture->start_ns, run->first_ns + run->shift_ns);
    picture->end_ns = PPI_MAX(picture->end_ns, run->last_ns + run->shift_ns);
  }
  if (picture->start_ns > picture->end_ns) picture->start_ns = 0;
}

// The shortest length that at most `most` ranges of the row reach.
static uint64_t exact_from(const ppi_picture_row *row, uint64_t most) {
  uint64_t num = 0;
  size_t i = PPI_PICTURE_LENGTHS;
  while (i > 0 && num + row->counts[i - 1] <= most) num += row->counts[--i];
  return i < PPI_PICTURE_LENGTHS ? ppi_picture_class_ns(i) : UINT64_MAX;
}

// Rows with few events leave part of their share to the other rows.
static void choose_lengths(ppi_picture *picture) {
  uint64_t left = PPI_PICTURE_EVENTS;
  size_t num_open = picture->num_rows;
  bool took = true;
  for (size_t i = 0; i < picture->num_rows; i++)
    picture->rows[i].exact_ns = UINT64_MAX;
  while (took && num_open) {
    uint64_t share = left / num_open;
    took = false;
    for (size_t i = 0; i < picture->num_rows; i++) {
      ppi_picture_row *row = &picture->rows[i];
      if (row->exact_ns != UINT64_MAX || row->num > share) continue;
      row->exact_ns = 0;
      left -= row->num;
      num_open--;
      took = true;
    }
  }
  for (size_t i = 0; i < picture->num_rows; i++)
    if (picture->rows[i].exact_ns)
      picture->rows[i].exact_ns =
          exact_from(&picture->rows[i], left / PPI_MAX(num_open, 1u));
}

static bool make_tracks(ppi_picture *picture) {
  uint64_t long_ns = picture->end_ns - picture->start_ns;
  size_t num = 0;
  for (size_t i = 0; i < picture->num_rows; i++) {
    ppi_picture_row *row = &picture->rows[i];
    if (!row->exact_ns) continue;
    row->first_track = num;
    num += row->depth;
  }
  picture->num_tracks = num;
  picture->moment_ns = long_ns / PPI_PICTURE_MOMENTS + 1;
  picture->bins_a_track = 1 << 14;
  while (num * picture->bins_a_track > PPI_PICTURE_BINS)
    picture->bins_a_track /= 2;
  picture->bin_ns = long_ns / picture->bins_a_track + 1;
  picture->bins =
      ppi_alloc((num * picture->bins_a_track + 1) * sizeof *picture->bins);
  return picture->bins != NULL;
}

// ---- requests ----

static void choose(ppi_picture *picture, const char *what,
                   const ppi_steady_request *from) {
  for (size_t i = 0; i < picture->num_requests; i++)
    if (picture->requests[i].row == from->row) return;
  for (uint32_t run = 0; run < picture->num_runs; run++)
    if (strcmp(picture->runs[run].uuid, from->run->uuid) == 0) {
      picture->requests[picture->num_requests++] =
          (ppi_picture_request){what, run, from->run, from->row, 0};
      return;
    }
}

// With few requests the p99 is the slowest. A report of steps or of the run has
// no requests to show.
static pprof_status choose_requests(ppi_picture *picture,
                                    const ppi_figures *figures) {
  if (ppi_figures_base(figures) != PPI_BASE_REQUEST) return PPROF_STATUS_OK;
  ppi_steady_request *list;
  size_t num, num_cold;
  pprof_status status = ppi_steady_requests(figures, &list, &num, &num_cold);
  if (status != PPROF_STATUS_OK || num == 0) {
    ppi_free(list);
    return status;
  }
  size_t usual = (size_t)ppi_rank_of(num, 50 * PPI_RANK_PERCENT) - 1;
  size_t slow = (size_t)ppi_rank_of(num, 99 * PPI_RANK_PERCENT) - 1;
  choose(picture, "p50", &list[usual]);
  if (slow + 1 < num) choose(picture, "p99", &list[slow]);
  choose(picture, "max", &list[num - 1]);
  ppi_free(list);
  return PPROF_STATUS_OK;
}

// Borrows `figures` for the requests to show in full. NO_MEMORY.
static pprof_status make_plan(ppi_picture *picture,
                              const ppi_figures *figures) {
  place_runs(picture);
  choose_lengths(picture);
  picture->at_run = 0;
  if (!make_tracks(picture)) return PPROF_STATUS_NO_MEMORY;
  return choose_requests(picture, figures);
}

// ---- the second reading ----

// The most parts of one request, and the most marks. The page marks a request
// with more parts as incomplete.
enum { MOST_PARTS = 4096, MOST_MARKS = 4096 };
enum { MOST_KEPT = 2 * (PPI_PICTURE_EVENTS + PPI_PICTURE_AROUND) };

static ppi_picture *picture_of(pprof_sink *sink) {
  return (ppi_picture *)((char *)sink - offsetof(ppi_picture, detail));
}

static uint64_t shift_of(const ppi_picture *picture) {
  return picture->runs[picture->at_run - 1].shift_ns;
}

// ---- which events are kept ----

static bool serves(const pprof_event *event, uint64_t flow) {
  for (size_t i = 0; i < event->num_flows; i++)
    if (event->flows[i] == flow) return true;
  return false;
}

static uint32_t requests_of(ppi_picture *picture, const pprof_event *event) {
  uint32_t bits = 0;
  for (size_t i = 0; i < picture->num_requests; i++) {
    ppi_picture_request *request = &picture->requests[i];
    const ppi_request_row *row = request->row;
    if (request->run != picture->at_run - 1 ||
        event->start_ns < row->start_ns ||
        event->start_ns > row->start_ns + row->length_ns ||
        !serves(event, row->flow))
      continue;
    if (request->num_parts++ < MOST_PARTS) bits |= 1u << i;
  }
  return bits;
}

// All events during the slowest request are kept, up to a bound.
static bool is_around(ppi_picture *picture, const pprof_event *event) {
  if (!picture->num_requests) return false;
  const ppi_picture_request *slowest =
      &picture->requests[picture->num_requests - 1];
  uint64_t end_ns = PPI_MAX(event->end_ns, event->device_end_ns);
  uint64_t from_ns = slowest->row->start_ns;
  bool meets = slowest->run == picture->at_run - 1 && end_ns >= from_ns &&
               event->start_ns <= from_ns + slowest->row->length_ns;
  return meets && picture->num_around++ < PPI_PICTURE_AROUND;
}

static bool is_slow(ppi_picture *picture, const pprof_event *event,
                    uint32_t stage, bool on_device) {
  uint64_t ns;
  if (stage == PPI_SEEN_NONE || !ppi_picture_span(event, on_device, &ns))
    return false;
  ppi_picture_stage *of = &picture->stages[stage];
  return ns >= of->slow_ns[on_device][0] &&
         of->num_slow[on_device]++ < PPI_PICTURE_SLOW;
}

static bool is_long(const ppi_picture *picture, const pprof_event *event,
                    uint32_t row, bool on_device) {
  uint64_t ns;
  return row != PPI_SEEN_NONE && ppi_picture_span(event, on_device, &ns) &&
         ns >= picture->rows[row].exact_ns;
}

// ---- bins ----

// A range fills the bins that it covers. A vote finds the stage with more than
// half of a bin, if any (Boyer and Moore, weighted).
static void fill(ppi_picture_bin *bin, uint32_t stage, uint64_t ns) {
  bin->covered_ns += ns;
  if (bin->stage == stage) {
    bin->vote_ns += ns;
  } else if (bin->vote_ns >= ns) {
    bin->vote_ns -= ns;
  } else {
    bin->vote_ns = ns - bin->vote_ns;
    bin->stage = stage;
  }
}

// A range that spans more bins is only counted in them. So is every
// cross-thread range, because these overlap.
enum { MOST_BINS = 256 };

static void put_bins(ppi_picture *picture, size_t track, uint32_t stage,
                     ppi_stretch span, size_t most_bins) {
  uint64_t from_ns = span.start_ns - picture->start_ns;
  uint64_t to_ns = span.end_ns - picture->start_ns, bin_ns = picture->bin_ns;
  ppi_picture_bin *bins = picture->bins + track * picture->bins_a_track;
  size_t at = (size_t)(from_ns / bin_ns), last = (size_t)(to_ns / bin_ns);
  if (at >= picture->bins_a_track || last >= picture->bins_a_track) return;
  bins[at].num++;
  if (at == last) {
    fill(&bins[at], stage, to_ns - from_ns);
    return;
  }
  fill(&bins[at], stage, (at + 1) * bin_ns - from_ns);
  fill(&bins[last], stage, to_ns - last * bin_ns);
  if (last - at > most_bins) {
    bins[at + 1].change++;
    bins[last].change--;
    return;
  }
  while (++at < last) fill(&bins[at], stage, bin_ns);
}

static void bin_side(ppi_picture *picture, const pprof_event *event,
                     uint32_t stage, bool on_device) {
  uint64_t ns, shift_ns = shift_of(picture);
  uint32_t number = on_device ? ppi_page_data_stream_row(picture, event)
                              : ppi_page_data_row(picture, event);
  if (number == PPI_SEEN_NONE || !ppi_picture_span(event, on_device, &ns))
    return;
  const ppi_picture_row *row = &picture->rows[number];
  uint32_t depth = ppi_picture_depth(event, on_device);
  if (row->first_track == SIZE_MAX || depth >= row->depth) return;
  uint64_t from_ns =
      (on_device ? event->device_start_ns : event->start_ns) + shift_ns;
  put_bins(picture, row->first_track + depth, stage,
           (ppi_stretch){from_ns, from_ns + ns},
           row->kind == PPI_ROW_ASYNC ? 0 : MOST_BINS);
}

// ---- sums ----

static pprof_status sum_up(ppi_picture *picture, const pprof_event *event,
                           uint32_t stage) {
  uint64_t ns, shift_ns = shift_of(picture);
  uint32_t number = ppi_page_data_stream_row(picture, event);
  if (number == PPI_SEEN_NONE || stage == PPI_SEEN_NONE ||
      !ppi_picture_span(event, true, &ns))
    return PPROF_STATUS_OK;
  uint32_t device = picture->rows[number].device;
  uint64_t begin_ns = event->device_start_ns + shift_ns;
  pprof_status status =
      ppi_series_add(picture, (ppi_series_key){PPI_SERIES_BUSY, device, stage},
                     (ppi_stretch){begin_ns, event->device_end_ns + shift_ns});
  if (status != PPROF_STATUS_OK) return status;
  return ppi_series_add(picture,
                        (ppi_series_key){PPI_SERIES_WAIT, device, stage},
                        (ppi_stretch){event->start_ns + shift_ns, begin_ns});
}

static pprof_status count(ppi_picture *picture, const pprof_event *event,
                          uint32_t stage) {
  if (stage == PPI_SEEN_NONE || event->start_ns > PPI_PICTURE_LAST_NS)
    return PPROF_STATUS_OK;
  return ppi_series_count(picture, picture->stages[stage].name,
                          event->start_ns + shift_of(picture), event->value);
}

// ---- events ----

// The thread that ended a wait, and its stage then.
static void put_waker(ppi_picture *picture, const pprof_event *event,
                      ppi_picture_event *to) {
  bool is_wait = to->stage != PPI_SEEN_NONE &&
                 strcmp(picture->stages[to->stage].category,
                        ppi_category_name(PPROF_CATEGORY_WAIT)) == 0;
  const uint64_t *numbers =
      is_wait ? ppi_wait_numbers(event, PPROF_CATEGORY_WAIT) : NULL;
  if (!numbers) return;
  to->by = numbers[PPI_WAIT_BY];
  if (numbers[PPI_WAIT_IN] && numbers[PPI_WAIT_IN] < PPI_MAX_ID)
    to->in = ppi_page_data_stage(picture, (uint32_t)numbers[PPI_WAIT_IN]) + 1;
}

static pprof_status keep(ppi_picture *picture, const pprof_event *event,
                         uint32_t stage, uint32_t requests) {
  ppi_picture_event *grown =
      ppi_grow(picture->events, &picture->events_capacity,
               picture->num_kept + 1, sizeof *grown);
  uint64_t shift_ns = shift_of(picture);
  uint32_t stream = ppi_page_data_stream_row(picture, event);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  picture->events = grown;
  // A log that has grown since the first reading may have more events.
  if (picture->num_kept == MOST_KEPT) return PPROF_STATUS_OK;
  ppi_picture_event *to = &grown[picture->num_kept++];
  *to = (ppi_picture_event){.row = ppi_page_data_row(picture, event),
                            .stage = stage,
                            .depth = event->depth,
                            .flags = event->flags,
                            .kind = event->kind,
                            .start_ns = event->start_ns + shift_ns,
                            .end_ns = event->end_ns + shift_ns,
                            .flow = event->num_flows ? event->flows[0] : 0,
                            .value = event->value,
                            .requests = requests};
  put_waker(picture, event, to);
  if (stream == PPI_SEEN_NONE) return PPROF_STATUS_OK;
  to->stream_row = stream + 1;
  to->device_start_ns = event->device_start_ns + shift_ns;
  to->device_end_ns = event->device_end_ns + shift_ns;
  to->error_ns = event->device_error_ns;
  return PPROF_STATUS_OK;
}

static pprof_status take(ppi_picture *picture, const pprof_event *event) {
  uint64_t ns;
  uint32_t stage = ppi_page_data_stage(picture, event->site);
  if (event->kind == PPROF_KIND_COUNTER) return count(picture, event, stage);
  if (!ppi_picture_span(event, false, &ns)) return PPROF_STATUS_OK;
  PPI_TRY(sum_up(picture, event, stage));
  uint32_t row = ppi_page_data_row(picture, event);
  uint32_t stream = ppi_page_data_stream_row(picture, event);
  if (row == PPI_SEEN_NONE) return PPROF_STATUS_OK;
  uint32_t requests = requests_of(picture, event);
  bool is_wanted = requests || is_long(picture, event, row, false) ||
                   is_long(picture, event, stream, true);
  is_wanted |= is_slow(picture, event, stage, false);
  is_wanted |= is_slow(picture, event, stage, true);
  if (!is_wanted && event->kind == PPROF_KIND_MARK)
    is_wanted = picture->num_long++ < MOST_MARKS;
  is_wanted = is_wanted || is_around(picture, event);
  if (is_wanted) return keep(picture, event, stage, requests);
  bin_side(picture, event, stage, false);
  bin_side(picture, event, stage, true);
  return PPROF_STATUS_OK;
}

static pprof_status detail_begin(pprof_sink *sink, const pprof_run_info *info) {
  ppi_picture *picture = picture_of(sink);
  // The first reading did not count this run: the log has grown.
  if (picture->at_run == picture->num_runs) return PPROF_STATUS_INVALID;
  ppi_machine_run_clear(&picture->machine);
  picture->machine.wanted = PPI_CATEGORY_MACHINE;
  return ppi_page_data_begin(picture, info);
}

static pprof_status detail_define(pprof_sink *sink,
                                  const pprof_definition *definition) {
  ppi_picture *picture = picture_of(sink);
  pprof_status status = ppi_machine_run_define(&picture->machine, definition);
  return status == PPROF_STATUS_OK ? ppi_page_data_define(picture, definition)
                                   : status;
}

static pprof_status detail_events(pprof_sink *sink, const pprof_batch *batch) {
  ppi_picture *picture = picture_of(sink);
  pprof_status status = ppi_machine_run_events(&picture->machine, batch);
  for (size_t i = 0; i < batch->num_events && status == PPROF_STATUS_OK; i++)
    status = take(picture, pprof_batch_at(batch, i));
  return status;
}

static pprof_status detail_window(pprof_sink *sink, uint32_t index, bool opens,
                                  uint64_t time_ns) {
  ppi_picture *picture = picture_of(sink);
  if (picture->num_windows_all++ >= PPI_PICTURE_WINDOWS) return PPROF_STATUS_OK;
  if (!PPI_PUSH(picture->windows, picture->num_windows,
                picture->windows_capacity,
                (ppi_picture_window){(uint32_t)picture->at_run - 1, index,
                                     opens, time_ns + shift_of(picture)}))
    return PPROF_STATUS_NO_MEMORY;
  return PPROF_STATUS_OK;
}

static pprof_status detail_finish(pprof_sink *sink,
                                  const pprof_totals *totals) {
  (void)totals;
  ppi_page_data_clear_run(picture_of(sink));
  return ppi_bands_take(picture_of(sink));
}

// ---- the whole ----

pprof_status ppi_picture_create(ppi_picture **out) {
  ppi_picture *picture = ppi_alloc(sizeof *picture);
  if (!picture) return PPROF_STATUS_NO_MEMORY;
  ppi_survey_init(picture);
  picture->detail = (pprof_sink){.size = sizeof(pprof_sink),
                                 .begin = detail_begin,
                                 .define = detail_define,
                                 .events = detail_events,
                                 .window = detail_window,
                                 .finish = detail_finish};
  *out = picture;
  return PPROF_STATUS_OK;
}

static void clear_names(ppi_picture *picture) {
  for (size_t i = 0; i < picture->num_runs; i++) {
    ppi_free(picture->runs[i].host);
    ppi_free(picture->runs[i].pid);
  }
  for (size_t i = 0; i < picture->num_rows; i++)
    ppi_free(picture->rows[i].name);
  for (size_t i = 0; i < picture->num_stages; i++) {
    ppi_free(picture->stages[i].name);
    ppi_free(picture->stages[i].category);
  }
  for (size_t i = 0; i < picture->num_devices; i++)
    ppi_free(picture->devices[i]);
  for (size_t i = 0; i < picture->num_counters; i++)
    ppi_free(picture->counters[i].name);
}

void ppi_picture_destroy(ppi_picture *picture) {
  if (!picture) return;
  ppi_page_data_clear_run(picture);
  ppi_machine_run_clear(&picture->machine);
  clear_names(picture);
  ppi_map_clear(&picture->row_numbers);
  ppi_map_clear(&picture->stage_numbers);
  ppi_map_clear(&picture->device_numbers);
  ppi_map_clear(&picture->series_numbers);
  void *all[] = {
      picture->runs,         picture->rows,       picture->stages,
      picture->devices,      picture->categories, picture->lane_names,
      picture->stream_names, picture->bins,       picture->events,
      picture->series,       picture->counters,   picture->windows,
      picture->bands};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ppi_free(all[i]);
  ppi_free(picture);
}

pprof_sink *ppi_picture_survey(ppi_picture *picture) {
  return &picture->survey;
}

pprof_sink *ppi_picture_detail(ppi_picture *picture) {
  return &picture->detail;
}

// The figures have all requests, so their series needs no second reading.
static pprof_status add_requests(ppi_picture *picture,
                                 const ppi_request_run *run,
                                 uint64_t shift_ns) {
  const ppi_series_key key = {PPI_SERIES_REQUESTS, UINT32_MAX, UINT32_MAX};
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < run->num_rows && status == PPROF_STATUS_OK; i++) {
    uint64_t start_ns = run->rows[i].start_ns + shift_ns;
    status = ppi_series_add(
        picture, key,
        (ppi_stretch){start_ns, start_ns + run->rows[i].length_ns});
  }
  return status;
}

// The figures have the courses, too. If one run fills the page, a bin of its
// course is at most a quarter of a moment.
static pprof_status add_course(ppi_picture *picture, uint32_t device,
                               const ppi_course *course, uint64_t shift_ns) {
  pprof_status status = PPROF_STATUS_OK;
  for (uint32_t kind = 0; kind < PPI_COURSE_KINDS; kind++)
    for (uint64_t i = 0; i < PPI_COURSE_BINS; i++) {
      uint64_t ns = course->ns[kind][i];
      uint64_t start_ns = course->start_ns + i * course->bin_ns + shift_ns;
      if (!ns || status != PPROF_STATUS_OK) continue;
      status = ppi_series_add_part(
          picture, (ppi_series_key){PPI_SERIES_STATE, device, kind},
          (ppi_stretch){start_ns, start_ns + course->bin_ns}, ns);
    }
  return status;
}

static const ppi_picture_run *run_of(const ppi_picture *picture,
                                     const char *uuid) {
  for (size_t i = 0; i < picture->num_runs; i++)
    if (strcmp(picture->runs[i].uuid, uuid) == 0) return &picture->runs[i];
  return NULL;
}

static uint32_t device_of(const ppi_picture *picture, const char *name) {
  size_t at = 0;
  while (at < picture->num_devices && strcmp(picture->devices[at], name) != 0)
    at++;
  return at < picture->num_devices ? (uint32_t)at : PPI_SEEN_NONE;
}

pprof_status ppi_picture_plan(ppi_picture *picture,
                              const ppi_figures *figures) {
  pprof_status status = make_plan(picture, figures);
  bool has_requests = ppi_figures_base(figures) == PPI_BASE_REQUEST;
  for (size_t i = 0; has_requests && i < figures->num_request_runs; i++) {
    const ppi_request_run *of = figures->request_runs[i];
    const ppi_picture_run *run = run_of(picture, of->uuid);
    if (run && status == PPROF_STATUS_OK)
      status = add_requests(picture, of, run->shift_ns);
  }
  for (size_t i = 0; i < figures->courses.num; i++) {
    const ppi_report_course *of = &figures->courses.items[i];
    const ppi_picture_run *run = run_of(picture, of->uuid);
    uint32_t device = device_of(picture, of->device);
    if (run && device != PPI_SEEN_NONE && status == PPROF_STATUS_OK)
      status = add_course(picture, device, &of->course, run->shift_ns);
  }
  return status;
}
