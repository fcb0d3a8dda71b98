// SPDX-License-Identifier: Apache-2.0
//
// Adds each event to the run's sums, and buffers ranges for a horizon.
#include "report/run/passes.h"

#include "base/base.h"
#include "base/mem.h"
#include "event/columns.h"
#include "event/recorded_wait.h"
#include "report/figures/keyed.h"
#include "report/run/answers.h"
#include "report/run/event_counts.h"

static bool is_timed(const pprof_event *event) {
  if (event->flags & PPROF_FLAG_NO_DEVICE_TIME) return false;
  return event->device_start_ns || event->device_end_ns;
}

static ppi_device_class class_of(const pprof_event *event, uint32_t category) {
  return event->flags & PPROF_FLAG_PAIRED ? PPI_DEVICE_PAIRED
                                          : ppi_device_class_of(category);
}

// ---- host ranges ----

static bool notify_step(ppi_run *run, const pprof_event *event,
                        uint64_t end_ns) {
  bool done = true;
  for (size_t i = 0; i < run->ids.devices.num; i++) {
    ppi_run_device *device = run->ids.devices.items[i];
    if (device && done)
      done = ppi_identity_step_at(&device->identity, event->lane,
                                  event->start_ns, end_ns);
  }
  return done && ppi_identity_step_at(&run->ids.steps, event->lane,
                                      event->start_ns, end_ns);
}

bool ppi_run_open_step(ppi_run *run, const pprof_event *event) {
  ppi_run_category *steps =
      ppi_run_category_at(&run->ids, PPROF_CATEGORY_PROFILE_STEP);
  if (!steps) return false;
  return ppi_union_add(&steps->host, event->start_ns, event->end_ns) &&
         notify_step(run, event, UINT64_MAX);
}

static bool take_step(ppi_run *run, const pprof_event *event,
                      const ppi_run_site *site, uint64_t end_ns) {
  ppi_buffered_list *list = &run->steps.buffered;
  bool is_cut = event->flags & PPROF_FLAG_CLIPPED;
  const ppi_buffered step =
      ppi_buffered_of(event, is_cut ? PPI_BUFFERED_CUT : 0);
  if (!PPI_PUSH(list->items, list->num, list->capacity, step)) return false;
  run->steps.num++;
  ppi_spread_add_either(&run->steps.times[PPI_PHASE_PROFILE_STEP],
                        end_ns - event->start_ns, is_cut);
  return ppi_union_add(&site->place->host, event->start_ns, end_ns) &&
         notify_step(run, event, end_ns);
}

static ppi_run_row *thread_row_of(ppi_run *run, const pprof_event *event) {
  ppi_run_lane *lane = ppi_event_lane(run, event->lane);
  return lane ? ppi_run_thread_row_of(&run->rows, lane->thread, event->site)
              : NULL;
}

static bool take_thread_row(ppi_run *run, const pprof_event *event,
                            uint64_t self_ns) {
  ppi_run_row *row = thread_row_of(run, event);
  if (!row) return false;
  row->self_ns += self_ns;
  return ppi_event_count_length(row, event);
}

// Adds the sums that few ranges need.
static bool take_more(ppi_run *run, const pprof_event *event,
                      ppi_run_site *site, uint64_t end_ns) {
  bool done = true;
  uint32_t traits = site->traits, category = site->category;
  if (traits & PPI_TRAIT_STEP) done = take_step(run, event, site, end_ns);
  if (done && traits & (PPI_TRAIT_STEP | PPI_TRAIT_DATALOADER))
    done = ppi_perf_take(&run->perf, event, category);
  bool is_flagged = event->flags & PPROF_FLAG_COMMUNICATION;
  if (is_flagged && !(traits & PPI_TRAIT_COMMUNICATION)) {
    ppi_run_category *communication = ppi_run_communication(&run->ids);
    if (!communication) return false;
    communication->host_calls++;
    communication->host_cut += (event->flags & PPROF_FLAG_CLIPPED) != 0;
  }
  if (!done) return false;
  if (run->details.paddle_distribution)
    return !(traits & PPI_TRAIT_PADDLE_COMMUNICATION) ||
           ppi_paddle_host(&run->distribution, event, false);
  if (is_flagged || traits & PPI_TRAIT_COMMUNICATION)
    return ppi_distribution_take(&run->distribution, event, category);
  return true;
}

// The answer does not take these from the lane: steps, projected ranges, ranges
// without an end.
static bool is_apart(const pprof_event *event, const ppi_run_site *site) {
  return site->traits & PPI_TRAIT_STEP || event->flags & PPROF_FLAG_PROJECTED ||
         event->end_ns == UINT64_MAX;
}

static uint32_t buffered_flags(const pprof_event *event,
                               const ppi_run_site *site) {
  bool communicates = site->traits & PPI_TRAIT_COMMUNICATION;
  bool is_flagged = event->flags & PPROF_FLAG_COMMUNICATION;
  uint32_t flags = 0;
  if (event->flags & PPROF_FLAG_CLIPPED) flags |= PPI_BUFFERED_CUT;
  if (is_flagged && !communicates) flags |= PPI_BUFFERED_COMMUNICATION;
  bool is_idle = site->category == PPROF_CATEGORY_IDLE;
  if (is_flagged || communicates || is_idle) flags |= PPI_BUFFERED_WAITS;
  if (is_apart(event, site)) flags |= PPI_BUFFERED_APART;
  return flags;
}

static bool take_loose(ppi_run *run, const pprof_event *event,
                       ppi_run_site *site) {
  ppi_run_lane *lane = ppi_event_lane(run, event->lane);
  if (!lane) return false;
  const ppi_buffered buffered =
      ppi_buffered_of(event, PPI_BUFFERED_LOOSE | PPI_BUFFERED_COUNTED |
                                 buffered_flags(event, site));
  site->num_async++;
  if (run->details.answer && !ppi_run_answer_take(run, event)) return false;
  return ppi_hold_add_slow(&lane->loose, &run->ids.pool, &buffered);
}

static inline bool needs_no_flags(const pprof_event *event,
                                  const ppi_run_site *site) {
  const uint32_t few =
      PPROF_FLAG_COMMUNICATION | PPROF_FLAG_CLIPPED | PPROF_FLAG_PROJECTED;
  const uint32_t traits = PPI_TRAIT_COMMUNICATION | PPI_TRAIT_STEP;
  return !(event->flags & few || site->traits & traits) &&
         event->end_ns != UINT64_MAX;
}

static inline bool take_nested(ppi_run *run, ppi_run_lane *lane,
                               const pprof_event *event, ppi_run_site *site,
                               uint64_t *out_self_ns) {
  uint64_t start_ns = event->start_ns, inner_ns;
  uint64_t end_ns = PPI_MAX(start_ns, event->end_ns);
  bool done =
      ppi_nest_add(&lane->nest, start_ns, end_ns, event->depth, &inner_ns);
  *out_self_ns = end_ns - start_ns - inner_ns;
  site->row.self_ns += *out_self_ns;
  if (!done) return false;
  bool is_reported =
      !run->details.paths || ppi_event_counts_later(run, site, event);
  if (PPI_LIKELY(is_reported && needs_no_flags(event, site))) {
    ppi_accounts_reach(&run->accounts, start_ns, end_ns);
    const ppi_buffered buffered = ppi_buffered_of(event, 0);
    return ppi_hold_add(&lane->nested, &run->ids.pool, &buffered);
  }
  const ppi_buffered buffered =
      ppi_buffered_of(event, buffered_flags(event, site) |
                                 (is_reported ? 0 : PPI_BUFFERED_COUNTED));
  if (!(buffered.flags & PPI_BUFFERED_APART))
    ppi_accounts_reach(&run->accounts, start_ns, end_ns);
  else if (run->details.answer)
    done = ppi_run_answer_take(run, event);
  return done && ppi_hold_add_slow(&lane->nested, &run->ids.pool, &buffered);
}

// Adds the sums of a range that need no horizon; the rest waits for one.
// ppi_event_count_range counts its length.
static inline bool take_range(ppi_run *run, const pprof_event *event,
                              ppi_run_lane *lane) {
  ppi_run_site *site = ppi_event_site(run, event->site);
  if (!site) return false;
  uint64_t length_ns = ppi_event_length(event->start_ns, event->end_ns),
           self_ns = 0;
  uint64_t end_ns = event->start_ns + length_ns;
  bool done = PPI_LIKELY(ppi_event_is_nested(event, lane))
                  ? take_nested(run, lane, event, site, &self_ns)
                  : take_loose(run, event, site);
  if (!done) return false;
  if (PPI_UNLIKELY(event->numbers != NULL)) {
    if (!ppi_wait_numbers(event, site->category))
      ppi_numbers_add(&site->numbers, event->numbers, 1);
    else if (!ppi_waits_inside_add(&lane->waits, event->start_ns, length_ns))
      return false;
  }
  if (PPI_UNLIKELY(event->cpu != NULL))
    ppi_cpu_sums_add(&site->cpu, event->cpu, length_ns,
                     ppi_waits_inside_of(&lane->waits, event->start_ns));
  const uint32_t more = PPI_TRAIT_STEP | PPI_TRAIT_DATALOADER |
                        PPI_TRAIT_COMMUNICATION |
                        PPI_TRAIT_PADDLE_COMMUNICATION;
  bool is_plain =
      !(site->traits & more || event->flags & PPROF_FLAG_COMMUNICATION ||
        run->details.by_thread);
  if (PPI_LIKELY(is_plain) || !done) return done;
  if (run->details.by_thread) done = take_thread_row(run, event, self_ns);
  return done && take_more(run, event, site, end_ns);
}

// ---- device ranges ----

static uint64_t bytes_of(const pprof_event *event) {
  double bytes = event->work ? event->work->bytes : 0;
  return bytes >= 1 && bytes < 1e18 ? (uint64_t)bytes : 0;
}

static bool add_point(ppi_run *run, const pprof_event *event,
                      const ppi_point *point) {
  ppi_run_lane *lane = ppi_event_lane(run, event->lane);
  return lane && ppi_scopes_add(&lane->thread->scopes, point);
}

static bool take_submit(ppi_run *run, const pprof_event *event,
                        ppi_device_class class, uint64_t length_ns) {
  ppi_point point = {
      .time_ns = event->start_ns,
      .value = length_ns,
      .device_start_ns = event->device_start_ns,
      .bytes = class == PPI_DEVICE_COPY ? bytes_of(event) : event->end_ns,
      .site = event->site,
      .kind = PPI_POINT_SUBMIT,
      .device_class = class,
      .is_graph = (event->flags & PPROF_FLAG_IN_GRAPH) != 0,
      .is_by_wait = (event->flags & PPROF_FLAG_BY_WAIT) != 0,
      .is_inside = event->depth > 0,
      .device = ppi_run_device_id(&run->ids, event->stream)};
  if (point.is_graph && event->attributes)
    point.captured = ppi_captures_at(&run->captures, event->attributes);
  run->device_sums.ns[class] += length_ns;
  return add_point(run, event, &point);
}

static bool take_device_union(ppi_run *run, const pprof_event *event,
                              const ppi_run_site *site, uint64_t end_ns) {
  bool done =
      ppi_union_add(&site->place->device, event->device_start_ns, end_ns);
  site->place->device_calls++;
  bool is_flagged = event->flags & PPROF_FLAG_COMMUNICATION;
  if (is_flagged && !(site->traits & PPI_TRAIT_COMMUNICATION)) {
    ppi_run_category *communication = ppi_run_communication(&run->ids);
    if (!communication) return false;
    communication->device_calls++;
    done = done && ppi_union_add(&communication->device, event->device_start_ns,
                                 end_ns);
  }
  if (run->details.paddle_distribution || !done) return done;
  return ppi_distribution_take(&run->distribution, event, site->category);
}

static bool take_device_side(ppi_run *run, const pprof_event *event,
                             ppi_run_site *site, ppi_run_device *device) {
  uint64_t start_ns = event->device_start_ns;
  uint64_t end_ns = start_ns + ppi_event_length(start_ns, event->device_end_ns);
  device->ranges++;
  bool done = take_device_union(run, event, site, end_ns);
  ppi_device_class class = class_of(event, site->category);
  bool is_kernel = class == PPI_DEVICE_KERNEL;
  device->has_kernels |= is_kernel;
  device->num_work += is_kernel || class == PPI_DEVICE_COPY;
  run->ids.has_kernels |= is_kernel;
  ppi_device_side side = {.start_ns = start_ns,
                          .end_ns = end_ns,
                          .submit_ns = event->start_ns,
                          .error_ns = event->device_error_ns,
                          .is_kernel = is_kernel};
  if (device->ranges == 1)
    device->identity.has_course =
        run->details.courses && run->num_courses++ < PPI_MOST_COURSES;
  done = done && ppi_identity_add(&device->identity, &side);
  if (done && is_kernel)
    done = ppi_shapes_take(&run->shapes, event, end_ns - start_ns);
  bool is_stage = !is_kernel && class != PPI_DEVICE_COPY;
  if (done)
    done = ppi_event_take_early(run, &site->device_first_calls, event, start_ns,
                                end_ns);
  if (done && is_stage)
    done = ppi_interference_take(&run->interference, event,
                                 ppi_run_device_id(&run->ids, event->stream));
  uint64_t length_ns = end_ns - start_ns;
  if (done && class == PPI_DEVICE_PAIRED)
    done = ppi_run_pair_time(&run->pairs, event, &length_ns);
  return done && take_submit(run, event, class, length_ns);
}

// Kernel, Memcpy and Memset records are no ranges of the program. Work of a
// graph has no known time of submission.
static bool take_queue(ppi_run *run, const pprof_event *event,
                       const ppi_run_site *site) {
  ppi_device_class class = class_of(event, site->category);
  if (class == PPI_DEVICE_KERNEL || class == PPI_DEVICE_COPY) return true;
  if (event->flags & PPROF_FLAG_IN_GRAPH && is_timed(event)) return true;
  uint32_t device = ppi_run_device_id(&run->ids, event->stream);
  ppi_queue *queue = ppi_queues_at(&run->queues, event->site, device);
  if (!queue) return false;
  queue->calls++;
  return !is_timed(event) || ppi_queue_add(queue, event);
}

static void take_device_row(ppi_run_row *row, const pprof_event *event,
                            uint64_t length_ns) {
  bool is_pair = event->flags & PPROF_FLAG_PAIRED;
  bool is_cut = event->flags & PPROF_FLAG_CLIPPED;
  if (!is_pair)
    ppi_spread_add_either(
        &row->submit, ppi_event_length(event->start_ns, event->end_ns), is_cut);
  if (is_pair && !is_timed(event)) return;
  ppi_spread_add_either(&row->own, length_ns, is_cut);
  row->has_pairs |= is_pair;
}

static bool take_device_rows(ppi_run *run, const pprof_event *event,
                             ppi_run_site *site, uint64_t length_ns) {
  take_device_row(&site->row, event, length_ns);
  if (!run->details.by_thread) return true;
  ppi_run_row *row = thread_row_of(run, event);
  if (!row) return false;
  take_device_row(row, event, length_ns);
  return true;
}

// Buffers the submission of a device range among its thread's phases. A paired
// range has its host range there.
static bool hold_phase(ppi_run *run, const pprof_event *event,
                       const ppi_run_site *site) {
  bool is_phase = site->traits & PPI_TRAIT_PHASE;
  if (!is_phase || event->flags & PPROF_FLAG_PAIRED) return true;
  ppi_run_lane *lane = ppi_event_lane(run, event->lane);
  if (!lane) return false;
  uint32_t flags = PPI_BUFFERED_DEVICE;
  if (event->flags & PPROF_FLAG_CLIPPED) flags |= PPI_BUFFERED_CUT;
  if (event->flags & PPROF_FLAG_ASYNC) flags |= PPI_BUFFERED_LOOSE;
  const ppi_buffered buffered = ppi_buffered_of(event, flags);
  return ppi_hold_add_slow(&lane->loose, &run->ids.pool, &buffered);
}

// A projected range frames other ranges of the device: it is no work.
static bool take_projected(ppi_run *run, const pprof_event *event) {
  ppi_run_site *site = ppi_event_site(run, event->site);
  if (!site || !ppi_run_device_of(&run->ids, event->stream)) return false;
  if (!is_timed(event)) return true;
  uint64_t length_ns =
      ppi_event_length(event->device_start_ns, event->device_end_ns);
  ppi_spread_add(&site->device, length_ns);
  if (!ppi_histogram_add(&site->device_times, length_ns)) return false;
  return take_device_union(run, event, site,
                           event->device_start_ns + length_ns);
}

// The host range of a paired range is its call.
static bool take_untimed(ppi_run *run, const pprof_event *event) {
  ppi_point point = {.time_ns = event->start_ns,
                     .site = event->site,
                     .kind = PPI_POINT_UNTIMED};
  if (event->flags & PPROF_FLAG_PAIRED) return true;
  return add_point(run, event, &point);
}

static bool take_device_range(ppi_run *run, const pprof_event *event) {
  if (event->flags & PPROF_FLAG_PROJECTED) return take_projected(run, event);
  ppi_run_site *site = ppi_event_site(run, event->site);
  ppi_run_device *device = ppi_run_device_of(&run->ids, event->stream);
  if (!site || !device) return false;
  uint64_t length_ns = 0;
  bool done = take_queue(run, event, site) && hold_phase(run, event, site);
  if (event->flags & PPROF_FLAG_LATE) device->incomplete = true;
  if (is_timed(event)) {
    length_ns = ppi_event_length(event->device_start_ns, event->device_end_ns);
    ppi_spread_add(&site->device, length_ns);
    done = done && ppi_histogram_add(&site->device_times, length_ns) &&
           take_device_side(run, event, site, device);
  } else {
    const ppi_device_side side = {.start_ns = event->start_ns,
                                  .end_ns = event->start_ns,
                                  .submit_ns = event->start_ns,
                                  .is_untimed = true};
    device->untimed++;
    device->incomplete = true;
    // In other runs untimed ranges come late: their idle time is settled.
    if (run->is_imported && done)
      done = ppi_identity_add(&device->identity, &side);
    if (run->details.paths && done) done = take_untimed(run, event);
  }
  return done && take_device_rows(run, event, site, length_ns);
}

static bool take_on_device(ppi_run *run, const pprof_event *event) {
  bool done = take_device_range(run, event);
  if (!run->details.answer || !done) return done;
  return ppi_run_answer_take(run, event);
}

// ---- the amounts that events state: work, counters, messages, memory ----

PPI_ORDER(compare_work, ppi_run_work, PPI_UP(site) PPI_UP(sums.lane))

static ppi_report_work *work_at(ppi_run *run, uint32_t site, uint32_t lane) {
  ppi_work_list *all = &run->work;
  const ppi_run_work key = {.site = site, .sums = {.lane = lane}};
  ppi_run_work *work = ppi_keyed_sorted(
      PPI_KEYED(all->items, all->num, all->capacity), &key, compare_work);
  return work ? &work->sums : NULL;
}

static bool take_memory(ppi_run *run, const pprof_event *event,
                        const ppi_run_site *site) {
  ppi_memory_change change = {0};
  bool done = ppi_memory_level(&run->memory, site->name, event, &change);
  if (!done || change.bytes == 0) return done;
  if (run->details.allocations && !change.is_reserved)
    done = ppi_allocations_add(&run->allocations, site->name, event->start_ns,
                               change.bytes);
  if (!done) return false;
  ppi_point point = {.time_ns = event->start_ns,
                     .value = (uint64_t)change.bytes,
                     .site = event->site,
                     .kind = PPI_POINT_MEMORY,
                     .is_reserved = change.is_reserved};
  return add_point(run, event, &point);
}

// Adds the size of a device range that copies or sets memory, if it states one.
static bool take_size(ppi_run_site *site, const pprof_event *event) {
  bool is_copy = site->category == PPROF_CATEGORY_MEMCPY ||
                 site->category == PPROF_CATEGORY_MEMSET;
  double bytes = event->work ? event->work->bytes : 0;
  if (!is_copy || event->kind != PPROF_KIND_DEVICE_RANGE ||
      event->flags & PPROF_FLAG_PROJECTED || !(bytes >= 1 && bytes < 1e18))
    return true;
  ppi_spread_add(&site->bytes, (uint64_t)bytes);
  return ppi_histogram_add(&site->sizes, (uint64_t)bytes);
}

static bool take_work(ppi_run *run, const pprof_event *event, uint32_t lane) {
  bool is_counter = event->kind == PPROF_KIND_COUNTER;
  ppi_run_site *site = ppi_run_site_at(&run->ids, event->site);
  if (!site) return false;
  if (is_counter && site->category == PPROF_CATEGORY_MEMORY) {
    if (!take_memory(run, event, site)) return false;
  }
  if (site->category == PPROF_CATEGORY_COMMUNICATION &&
      !ppi_messages_add(&site->messages, event))
    return false;
  ppi_report_work *work = work_at(run, event->site, lane);
  if (!take_size(site, event) || !work) return false;
  if (event->work) {
    work->items += event->work->items;
    work->bytes += event->work->bytes;
    work->flops += event->work->flops;
    work->params += event->work->params;
  }
  if (is_counter)
    ppi_gauge_add(&work->gauge, event->value, event->start_ns, event->window);
  return true;
}

// ---- any event ----

static bool take_request_part(ppi_run *run, const pprof_event *event) {
  if (!event->num_flows && event->device_end_ns <= event->device_start_ns)
    return true;
  ppi_run_site *site = ppi_event_site(run, event->site);
  if (!site) return false;
  bool is_device = event->kind == PPROF_KIND_DEVICE_RANGE;
  if ((!is_device && event->kind != PPROF_KIND_RANGE) ||
      site->traits & PPI_TRAIT_STEP || event->flags & PPROF_FLAG_PROJECTED)
    return true;
  uint32_t device = is_device ? ppi_run_device_id(&run->ids, event->stream) : 0;
  return ppi_requests_take(&run->requests, event, device);
}

static bool take_event(ppi_run *run, const pprof_event *event,
                       ppi_run_lane *lane) {
  run->last_ns = PPI_MAX(run->last_ns, PPI_MAX(event->start_ns, event->end_ns));
  bool done = true;
  if (PPI_LIKELY(event->kind == PPROF_KIND_RANGE))
    done = take_range(run, event, lane);
  else if (event->kind == PPROF_KIND_DEVICE_RANGE)
    done = take_on_device(run, event);
  if (PPI_UNLIKELY(event->flags & PPROF_FLAG_REQUEST) && done) {
    done = ppi_serving_take(&run->serving, event);
    lane->serves |= event->kind == PPROF_KIND_MARK;
  } else if (lane->serves && event->kind == PPROF_KIND_RANGE && done) {
    done = ppi_serving_end_range(&run->serving, event, &lane->serves);
  }
  if (run->details.requests && done) done = take_request_part(run, event);
  if (!done) return false;
  if (!event->work && event->kind != PPROF_KIND_COUNTER) return done;
  return take_work(run, event, lane->id);
}

static pprof_status count_event(ppi_run *run, const pprof_event *event,
                                const ppi_run_lane *lane) {
  if (event->site >= PPI_RUN_MAX_ID || event->lane >= PPI_RUN_MAX_ID)
    return PPROF_STATUS_CORRUPT;
  if (event->kind != PPROF_KIND_RANGE) return PPROF_STATUS_OK;
  ppi_run_site *site = ppi_event_site(run, event->site);
  if (!site) return PPROF_STATUS_NO_MEMORY;
  bool is_later = ppi_event_is_nested(event, lane) &&
                  ppi_event_counts_later(run, site, event);
  return is_later ? PPROF_STATUS_OK
                  : ppi_or_no_memory(ppi_event_count_range(run, site, event));
}

static pprof_status take_events(ppi_run *run, const pprof_batch *batch,
                                ppi_run_lane *lane) {
  pprof_status status = PPROF_STATUS_OK;
  pprof_event room;
  for (size_t i = 0; status == PPROF_STATUS_OK; i++) {
    status = ppi_or_no_memory(ppi_plain_events_take(run, batch, lane, &i));
    if (i == batch->num_events || status != PPROF_STATUS_OK) break;
    const pprof_event *event = ppi_batch_at(batch, i, &room);
    status = count_event(run, event, lane);
    if (status == PPROF_STATUS_OK)
      status = ppi_or_no_memory(take_event(run, event, lane));
  }
  return status;
}

static bool forget_shapes(ppi_plain_shapes *plain, const pprof_batch *batch) {
  const ppi_columns *columns = ppi_columns_of(batch);
  if (!columns) return true;
  plain->num = 0;
  return PPI_REACH(plain->items, plain->num, plain->capacity,
                   columns->num_shapes);
}

// Takes copies of the events, with the run's own numbers of sites.
static pprof_status take_numbered(ppi_run *run, const pprof_batch *batch,
                                  ppi_run_lane *lane) {
  enum { CHUNK = 64 };
  pprof_event events[CHUNK];
  pprof_status status = PPROF_STATUS_OK;
  pprof_batch numbered = *batch;
  numbered.size = sizeof numbered;
  numbered.stride = sizeof *events;
  numbered.events = events;
  for (size_t from = 0; from < batch->num_events && !status; from += CHUNK) {
    numbered.num_events = PPI_MIN(batch->num_events - from, CHUNK);
    for (size_t i = 0; i < numbered.num_events && !status; i++)
      status = ppi_run_number_event(&run->labels, &run->ids, batch, from + i,
                                    &events[i]);
    if (status == PPROF_STATUS_OK) status = take_events(run, &numbered, lane);
  }
  return status;
}

pprof_status ppi_run_events(ppi_run *run, const pprof_batch *batch) {
  if (batch->lane >= PPI_RUN_MAX_ID) return PPROF_STATUS_CORRUPT;
  ppi_run_lane *lane = ppi_event_lane(run, batch->lane);
  if (!lane || !forget_shapes(&run->plain, batch))
    return PPROF_STATUS_NO_MEMORY;
  run->has_events |= batch->num_events > 0;
  return run->labels.is_used ? take_numbered(run, batch, lane)
                             : take_events(run, batch, lane);
}
