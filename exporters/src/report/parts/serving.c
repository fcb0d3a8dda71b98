// SPDX-License-Identifier: Apache-2.0
//
// Assigns tokens and marks to the requests of a run. Tokens may arrive after
// their request's range, and numbers may be reused, so times decide. Ranges are
// settled in the order of their ends, so the order of arrival has no effect.
#include "report/parts/serving.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/figures/keyed.h"
#include "report/figures/rows.h"
#include "report/figures/sum.h"

// The limit of one request: without a range it would gather points without end.
#define MOST_POINTS ((size_t)1 << 20)

struct ppi_serving_request {
  // num 0: a range served the request, or its queue began (is_spread).
  ppi_served_tokens *points;
  size_t num_points, capacity;
  bool is_waiting, is_scheduled;
  bool has_ended;  // a whole request of `site`, no late token so far
  bool has_range;  // one was settled
  uint32_t site;
};

struct ppi_serving_range {
  uint64_t end_ns, arrival_ns, flow, tokens_in;
  uint32_t request, site;
  bool is_cut;
};

static ppi_serving_request *request_of(ppi_serving_run *run, uint64_t flow) {
  ppi_map_key key = {0, flow};
  size_t at = run->numbers.num < PPI_SERVING_MOST
                  ? ppi_map_number(&run->numbers, key)
                  : ppi_map_find(&run->numbers, key);
  if (at == SIZE_MAX || !PPI_REACH(run->requests, run->num_requests,
                                   run->requests_capacity, at + 1))
    return NULL;
  return &run->requests[at];
}

PPI_ORDER(compare_classes, ppi_serving_class, PPI_UP(site))

static ppi_serving *class_of(ppi_serving_run *run, uint32_t site) {
  const ppi_serving_class key = {.site = site};
  ppi_serving_class *class = ppi_keyed_sorted(
      PPI_KEYED(run->classes, run->num_classes, run->classes_capacity), &key,
      compare_classes);
  return class ? &class->sums : NULL;
}

PPI_ORDER(compare_points, ppi_served_tokens, PPI_UP(time_ns) PPI_UP(num))

// How many requests were scheduled before `time_ns`.
static size_t num_scheduled_by(const ppi_serving_run *run, uint64_t time_ns) {
  return ppi_count_below(run->scheduled_ns, run->num_scheduled, sizeof time_ns,
                         time_ns);
}

// The request's own schedule time lies before its tokens.
static bool has_scheduled(const ppi_serving_run *run, uint64_t from_ns,
                          uint64_t to_ns) {
  return num_scheduled_by(run, to_ns) > num_scheduled_by(run, from_ns);
}

static bool note_scheduled(ppi_serving_run *run, uint64_t time_ns) {
  if (!PPI_ROOM(run->scheduled_ns, run->scheduled_capacity,
                run->num_scheduled + 1))
    return false;
  uint64_t *grown = run->scheduled_ns;
  size_t at = run->num_scheduled++;
  for (; at > 0 && grown[at - 1] > time_ns; at--) grown[at] = grown[at - 1];
  grown[at] = time_ns;
  return true;
}

// The first time before `time_ns` that a range served the request; UINT64_MAX:
// none.
static uint64_t first_served(const ppi_serving_request *request,
                             uint64_t time_ns) {
  uint64_t first_ns = UINT64_MAX;
  for (size_t i = 0; i < request->num_points; i++)
    if (!request->points[i].num && !request->points[i].is_spread &&
        request->points[i].time_ns < time_ns)
      first_ns = PPI_MIN(first_ns, request->points[i].time_ns);
  return first_ns;
}

static bool wait_for_schedule(ppi_serving_run *run, uint32_t number) {
  ppi_serving_request *request = &run->requests[number];
  if (request->is_waiting || request->is_scheduled) return true;
  if (!PPI_PUSH(run->waiting, run->num_waiting, run->waiting_capacity, number))
    return false;
  request->is_waiting = true;
  return true;
}

static bool note_waiting(ppi_serving_run *run, uint64_t time_ns) {
  size_t left = 0;
  bool noted = true;
  for (size_t i = 0; i < run->num_waiting; i++) {
    ppi_serving_request *request = &run->requests[run->waiting[i]];
    uint64_t first_ns = first_served(request, time_ns);
    if (first_ns == UINT64_MAX || !noted) {
      run->waiting[left++] = run->waiting[i];
      continue;
    }
    noted = note_scheduled(run, first_ns);
    request->is_waiting = false;
    request->is_scheduled = true;
  }
  run->num_waiting = left;
  return noted;
}

// The point lies in no request's time. The earlier request of this number ended
// without it.
static bool drop_point(ppi_serving_run *run, ppi_serving_request *request,
                       const ppi_served_tokens *point) {
  run->num_dropped++;
  if (!request->has_ended || !point->num) return true;
  request->has_ended = false;
  ppi_serving *class = class_of(run, request->site);
  if (class) class->num_unequal++;
  return class != NULL;
}

// Points after the end belong to the next request of this number.
static bool pass_on(ppi_serving_run *run, uint32_t number, size_t num_taken) {
  ppi_serving_request *request = &run->requests[number];
  ppi_served_tokens *points = request->points;
  request->num_points -= num_taken;
  request->is_scheduled = false;
  if (request->num_points) {
    memmove(points, points + num_taken, request->num_points * sizeof *points);
    bool is_served = first_served(request, UINT64_MAX) != UINT64_MAX;
    return !is_served || wait_for_schedule(run, number);
  }
  ppi_free(points);
  request->points = NULL;
  request->capacity = 0;
  return true;
}

static void note_time(ppi_serving_run *run, const ppi_serving_range *range) {
  run->first_ns = run->last_ns ? PPI_MIN(run->first_ns, range->arrival_ns)
                               : range->arrival_ns;
  run->last_ns = PPI_MAX(run->last_ns, range->end_ns);
}

// Takes the points from `i` on that lie within the request. Tokens go to the
// front of the points. Answers the number of points up to the request's end.
static size_t take_points(const ppi_serving_run *run,
                          ppi_serving_request *request, size_t i,
                          ppi_served_request *out) {
  ppi_served_tokens *points = request->points;
  for (; i < request->num_points && points[i].time_ns <= out->end_ns; i++)
    if (points[i].num)
      points[out->num_tokens++] = points[i];
    else if (points[i].is_spread)
      out->queued_ns = PPI_MIN(out->queued_ns, points[i].time_ns);
    else
      out->scheduled_ns = PPI_MIN(out->scheduled_ns, points[i].time_ns);
  out->tokens = points;
  out->is_undivided =
      out->num_tokens && out->scheduled_ns == UINT64_MAX &&
      (points[0].is_spread || num_scheduled_by(run, out->end_ns) == 0);
  for (size_t k = 1; k < out->num_tokens; k++)
    points[k].is_mixed =
        has_scheduled(run, points[k - 1].time_ns, points[k].time_ns);
  return i;
}

static bool keep(ppi_serving_run *run, uint64_t flow, uint32_t class,
                 const ppi_served_request *served) {
  if (!run->kept) run->kept = ppi_alloc(sizeof *run->kept);
  if (!run->kept) return false;
  run->kept->num_owners = 1;
  return ppi_kept_run_take(run->kept, flow, class, served);
}

static bool settle(ppi_serving_run *run, const ppi_serving_range *range,
                   const ppi_slo *slo) {
  ppi_serving_request *request = &run->requests[range->request];
  ppi_served_tokens *points = request->points;
  if (request->num_points > 1)
    qsort(points, request->num_points, sizeof *points, compare_points);
  ppi_served_request served = {.arrival_ns = range->arrival_ns,
                               .end_ns = range->end_ns,
                               .queued_ns = UINT64_MAX,
                               .scheduled_ns = UINT64_MAX,
                               .tokens_in = range->tokens_in,
                               .is_cut = range->is_cut};
  size_t i = 0;
  for (; i < request->num_points && points[i].time_ns < range->arrival_ns; i++)
    if (!drop_point(run, request, &points[i])) return false;
  i = take_points(run, request, i, &served);
  note_time(run, range);
  request->has_ended = !range->is_cut;
  request->has_range = true;
  request->site = range->site;
  ppi_serving *class = class_of(run, range->site);
  if (!class) return false;
  bool done = ppi_serving_add(class, &served, slo);
  if (run->keeps && done) done = keep(run, range->flow, range->site, &served);
  return pass_on(run, range->request, i) && done;
}

static bool take_range(ppi_serving_run *run, uint32_t request,
                       const pprof_event *event) {
  double items = event->work ? event->work->items : 0;
  const ppi_serving_range ended = {
      .end_ns = PPI_MAX(event->start_ns, event->end_ns),
      .arrival_ns = event->start_ns,
      .flow = event->flows[0],
      .tokens_in = items > 0 ? (uint64_t)items : 0,
      .request = request,
      .site = event->site,
      .is_cut = event->flags & PPROF_FLAG_CLIPPED};
  return PPI_PUSH(run->ended, run->num_ended, run->ended_capacity, ended);
}

// ---- ranges that serve ----

// A mark outside of all ranges has no serving range.
static bool say_served(ppi_serving_run *run, const pprof_event *event) {
  if (event->depth == 0) return true;
  for (size_t i = run->num_said; i-- > 0;) {
    ppi_serving_said *said = &run->said[i];
    if (said->lane != event->lane || said->depth != event->depth) continue;
    said->batch++;
    return true;
  }
  return PPI_PUSH(run->said, run->num_said, run->said_capacity,
                  (ppi_serving_said){.first_ns = event->start_ns,
                                     .batch = 1,
                                     .lane = event->lane,
                                     .depth = event->depth});
}

// A range comes after its inner marks. Marks one level in belong to it; deeper
// or earlier marks have lost their range.
static uint64_t take_said(ppi_serving_run *run, const pprof_event *event,
                          bool *out_more) {
  uint64_t batch = 0;
  size_t left = 0;
  for (size_t i = 0; i < run->num_said; i++) {
    const ppi_serving_said *said = &run->said[i];
    bool is_inside = said->lane == event->lane && said->depth > event->depth;
    if (is_inside && said->depth == event->depth + 1 &&
        said->first_ns >= event->start_ns)
      batch = said->batch;
    if (is_inside) continue;
    *out_more |= said->lane == event->lane;
    run->said[left++] = *said;
  }
  run->num_said = left;
  return batch;
}

bool ppi_serving_end_range(ppi_serving_run *run, const pprof_event *event,
                           bool *out_more) {
  *out_more = event->flags & PPROF_FLAG_ASYNC;
  if (*out_more) return true;
  uint64_t batch = take_said(run, event, out_more);
  if (!batch || event->flags & PPROF_FLAG_CLIPPED) return true;
  return PPI_PUSH(
      run->iterations, run->num_iterations, run->iterations_capacity,
      (ppi_serving_iteration){.start_ns = event->start_ns,
                              .end_ns = PPI_MAX(event->start_ns, event->end_ns),
                              .batch = batch,
                              .site = event->site});
}

// All schedule times within a finished iteration are known by `time_ns`.
static bool settle_iterations(ppi_serving_run *run, uint64_t time_ns) {
  size_t left = 0;
  bool done = true;
  for (size_t i = 0; i < run->num_iterations; i++) {
    const ppi_serving_iteration *one = &run->iterations[i];
    if (one->end_ns >= time_ns || !done) {
      run->iterations[left++] = *one;
      continue;
    }
    ppi_serving *class = class_of(run, one->site);
    done = class &&
           ppi_serving_iterate(class, one->end_ns - one->start_ns, one->batch,
                               num_scheduled_by(run, one->end_ns) -
                                   num_scheduled_by(run, one->start_ns));
  }
  run->num_iterations = left;
  return done;
}

// ---- events ----

// The mark may come later than the schedule: its value is the delay in ns.
static uint64_t scheduled_by(const pprof_event *event) {
  double ago_ns = event->value, most_ns = (double)event->start_ns;
  if (!(ago_ns > 0)) return event->start_ns;
  return ago_ns < most_ns ? event->start_ns - (uint64_t)ago_ns : 0;
}

static bool take_mark(ppi_serving_run *run, uint32_t number,
                      const pprof_event *event) {
  ppi_serving_request *request = &run->requests[number];
  if (request->num_points >= MOST_POINTS) {
    run->num_dropped++;
    return true;
  }
  double items = event->work ? event->work->items : 0;
  uint64_t num = items >= 1 && items < 1e18 ? (uint64_t)items : 0;
  if (!PPI_ROOM(request->points, request->capacity, request->num_points + 1))
    return false;
  bool is_spread = event->flags & PPROF_FLAG_PROJECTED;
  bool is_served = !num && !is_spread;
  if (is_served && !say_served(run, event)) return false;
  request->points[request->num_points++] = (ppi_served_tokens){
      .time_ns = is_served ? scheduled_by(event) : event->start_ns,
      .num = num,
      .is_spread = is_spread};
  return !is_served || wait_for_schedule(run, number);
}

bool ppi_serving_take(ppi_serving_run *run, const pprof_event *event) {
  if (event->num_flows == 0) return true;
  ppi_serving_request *request = request_of(run, event->flows[0]);
  if (!request && run->numbers.num < PPI_SERVING_MOST) return false;
  if (!request) {
    run->num_dropped++;
    return true;
  }
  uint32_t number = (uint32_t)(request - run->requests);
  if (event->kind == PPROF_KIND_RANGE) return take_range(run, number, event);
  return !(event->kind == PPROF_KIND_MARK) || take_mark(run, number, event);
}

PPI_ORDER(compare_ranges, ppi_serving_range,
          PPI_UP(end_ns) PPI_UP(arrival_ns) PPI_UP(flow) PPI_UP(site)
              PPI_UP(tokens_in) PPI_UP(is_cut))

bool ppi_serving_settle(ppi_serving_run *run, uint64_t time_ns,
                        const ppi_slo *slo) {
  if (run->num_ended > 1)
    qsort(run->ended, run->num_ended, sizeof *run->ended, compare_ranges);
  bool noted = note_waiting(run, time_ns);
  bool done = noted && settle_iterations(run, time_ns);
  size_t at = 0;
  for (; at < run->num_ended && run->ended[at].end_ns < time_ns && done; at++) {
    size_t num_waiting = run->num_waiting;
    done = settle(run, &run->ended[at], slo);
    if (run->num_waiting > num_waiting && !note_waiting(run, time_ns))
      done = false;
  }
  run->num_ended -= at;
  if (at && run->num_ended)
    memmove(run->ended, run->ended + at, run->num_ended * sizeof *run->ended);
  return done;
}

// Marks of a request that only another process has.
static bool keep_marks(ppi_serving_run *run, ppi_serving_request *request,
                       uint64_t flow) {
  ppi_served_request served = {.end_ns = UINT64_MAX,
                               .queued_ns = UINT64_MAX,
                               .scheduled_ns = UINT64_MAX};
  if (request->num_points > 1)
    qsort(request->points, request->num_points, sizeof *request->points,
          compare_points);
  size_t num = request->num_points;
  served.arrival_ns = request->points[0].time_ns;
  take_points(run, request, 0, &served);
  request->num_points = 0;
  bool done = keep(run, flow, UINT32_MAX, &served);
  if (!done) return false;
  run->kept->num_unmatched += num;
  if (run->kept->num) run->kept->requests[run->kept->num - 1].num_marks = num;
  return done;
}

// No later request has the number.
static bool drop_rest(ppi_serving_run *run) {
  for (size_t i = 0; i < run->num_requests; i++) {
    ppi_serving_request *request = &run->requests[i];
    if (run->keeps && !request->has_range && request->num_points &&
        !keep_marks(run, request, run->numbers.keys[i].low))
      return false;
    for (size_t k = 0; k < request->num_points; k++)
      if (!drop_point(run, request, &request->points[k])) return false;
  }
  return true;
}

bool ppi_serving_note_dropped(uint64_t num, ppi_figures *out) {
  return !num || ppi_figures_say(out, "serving",
                                 "%llu marks and ranges belong to requests "
                                 "without a range here, or "
                                 "beyond the first %u numbers",
                                 (unsigned long long)num, PPI_SERVING_MOST);
}

// Gives the kept requests the names of their classes.
static bool fill_kept(ppi_serving_run *run, ppi_run_ids *ids,
                      ppi_figures *out) {
  ppi_kept_run *kept = run->kept;
  if (!kept || !kept->num) return true;
  kept->uuid = ppi_strdup(ids->input.uuid);
  kept->host = ppi_strdup(ids->input.host);
  kept->pid = ppi_strdup(ids->input.pid);
  kept->classes = ppi_alloc((run->num_classes + 1) * sizeof *kept->classes);
  bool named = kept->uuid && kept->host && kept->pid && kept->classes;
  for (size_t i = 0; i < run->num_classes && named; i++) {
    const ppi_run_site *site = ppi_run_site_at(ids, run->classes[i].site);
    ppi_kept_class *class = &kept->classes[kept->num_classes++];
    class->site = run->classes[i].site;
    class->name = site ? ppi_strdup(site->name) : NULL;
    class->category_name = site ? ppi_strdup(site->place->name) : NULL;
    named = class->name && class->category_name;
  }
  return named && ppi_figures_kept_run(out, kept);
}

bool ppi_serving_fill(ppi_serving_run *run, const ppi_slo *slo,
                      const ppi_windows *windows, ppi_run_ids *ids,
                      ppi_figures *out) {
  bool done = ppi_serving_settle(run, UINT64_MAX, slo) && drop_rest(run);
  uint64_t span_ns = ppi_windows_overlap(windows, run->first_ns, run->last_ns);
  for (size_t i = 0; i < run->num_classes && done; i++) {
    const ppi_run_site *site = ppi_run_site_at(ids, run->classes[i].site);
    if (!site) return false;
    if (ppi_serving_is_class(&run->classes[i].sums))
      run->classes[i].sums.span_ns = span_ns;
    const ppi_report_serving row = {.name = site->name,
                                    .category_name = site->place->name,
                                    .sums = run->classes[i].sums};
    done = ppi_figures_add_row(out, PPI_FIGURES_serving, &row);
  }
  return done && fill_kept(run, ids, out) &&
         ppi_serving_note_dropped(run->num_dropped, out);
}

void ppi_serving_clear_run(ppi_serving_run *run) {
  for (size_t i = 0; i < run->num_requests; i++)
    ppi_free(run->requests[i].points);
  for (size_t i = 0; i < run->num_classes; i++)
    ppi_serving_clear(&run->classes[i].sums);
  PPI_FREE_ALL(run->requests, run->ended, run->said, run->iterations,
               run->waiting, run->scheduled_ns, run->classes);
  ppi_map_clear(&run->numbers);
  ppi_kept_run_release(run->kept);
  *run = (ppi_serving_run){0};
}
