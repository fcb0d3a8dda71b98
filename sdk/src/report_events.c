// SPDX-License-Identifier: Apache-2.0
//
// Events and checkpoints of a run: what each one adds, and what a checkpoint's
// horizon allows to forget.
#include <stdlib.h>
#include <string.h>

#include "base_impl.h"
#include "mem.h"
#include "report_run.h"

static uint64_t length(uint64_t start_ns, uint64_t end_ns) {
  return end_ns > start_ns ? end_ns - start_ns : 0;
}

static bool is_timed(const pprof_event *event) {
  if (event->flags & PPROF_FLAG_NO_DEVICE_TIME) return false;
  return event->device_start_ns || event->device_end_ns;
}

static ppi_device_class class_of(const pprof_event *event, uint32_t category) {
  if (event->flags & PPROF_FLAG_PAIRED) return PPI_DEVICE_PAIRED;
  if (category == PPROF_CATEGORY_KERNEL) return PPI_DEVICE_KERNEL;
  if (category == PPROF_CATEGORY_MEMCPY || category == PPROF_CATEGORY_MEMSET)
    return PPI_DEVICE_COPY;
  return PPI_DEVICE_OTHER;
}

static pprof_status tell_step(ppi_run *run, const pprof_event *event,
                              uint64_t end_ns) {
  uint64_t start_ns = event->start_ns;
  pprof_status status =
      ppi_identity_step_at(&run->steps, event->lane, start_ns, end_ns);
  for (size_t i = 0; i < run->devices.num; i++) {
    ppi_run_device *device = run->devices.items[i];
    if (device && status == PPROF_STATUS_OK)
      status = ppi_identity_step_at(&device->identity, event->lane, start_ns,
                                    end_ns);
  }
  return status;
}

static pprof_status take_scope(ppi_run *run, const pprof_event *event,
                               ppi_run_site *site, uint64_t end_ns) {
  int phase = ppi_phase_of(site->category);
  bool is_user = ppi_is_user_defined(site->category);
  if (phase < 0 && !is_user) return PPROF_STATUS_OK;
  ppi_run_thread *thread = ppi_run_thread_of(run, event->lane);
  if (!thread) return PPROF_STATUS_NO_MEMORY;
  ppi_scope scope = {.start_ns = event->start_ns,
                     .end_ns = end_ns,
                     .depth = event->depth,
                     .row = is_user ? &site->row : &run->phases[phase]};
  if (phase > PPI_PHASE_PROFILE_STEP)
    return ppi_scopes_add_phase(&thread->scopes, &scope);
  if (phase == PPI_PHASE_PROFILE_STEP)
    ppi_spread_add(&scope.row->host, end_ns - event->start_ns);
  return ppi_scopes_add(&thread->scopes, &scope);
}

static pprof_status take_range(ppi_run *run, const pprof_event *event) {
  ppi_run_site *site = ppi_run_site_at(run, event->site);
  if (!site) return PPROF_STATUS_NO_MEMORY;
  ppi_run_category *category = ppi_run_category_at(run, site->category);
  if (!category) return PPROF_STATUS_NO_MEMORY;
  uint64_t length_ns = length(event->start_ns, event->end_ns);
  uint64_t end_ns = event->start_ns + length_ns;
  category->host_calls++;
  ppi_spread_add(&site->host, length_ns);
  pprof_status status = ppi_histogram_add(&site->host_times, length_ns);
  if (status == PPROF_STATUS_OK)
    status = ppi_union_add(&category->host, event->start_ns, end_ns);
  if (status == PPROF_STATUS_OK) status = take_scope(run, event, site, end_ns);
  if (site->category != PPROF_CATEGORY_PROFILE_STEP) return status;
  run->num_steps++;
  return status == PPROF_STATUS_OK ? tell_step(run, event, end_ns) : status;
}

// The submission is known to the thread and to the process, whose steps hold
// for all threads.
static pprof_status take_submit(ppi_run *run, const pprof_event *event,
                                ppi_device_class class, uint64_t length_ns) {
  ppi_submit submit = {.time_ns = event->start_ns};
  submit.sums.ns[class] = length_ns;
  run->device_sums.ns[class] += length_ns;
  ppi_run_thread *thread = ppi_run_thread_of(run, event->lane);
  if (!thread) return PPROF_STATUS_NO_MEMORY;
  bool is_process = thread->number == 0;
  pprof_status status = ppi_scopes_submit(&thread->scopes, &submit);
  if (is_process || status != PPROF_STATUS_OK) return status;
  ppi_run_thread *process = ppi_run_process(run);
  if (!process) return PPROF_STATUS_NO_MEMORY;
  return ppi_scopes_submit(&process->scopes, &submit);
}

static pprof_status take_device_side(ppi_run *run, const pprof_event *event,
                                     const ppi_run_site *site,
                                     ppi_run_device *device) {
  uint64_t start_ns = event->device_start_ns;
  uint64_t end_ns = start_ns + length(start_ns, event->device_end_ns);
  ppi_run_category *category = ppi_run_category_at(run, site->category);
  if (!category) return PPROF_STATUS_NO_MEMORY;
  category->device_calls++;
  device->ranges++;
  pprof_status status = ppi_union_add(&category->device, start_ns, end_ns);
  ppi_device_class class = class_of(event, site->category);
  bool is_kernel = class == PPI_DEVICE_KERNEL;
  device->has_kernels |= is_kernel;
  run->has_kernels |= is_kernel;
  ppi_device_side side = {.start_ns = start_ns,
                          .end_ns = end_ns,
                          .submit_ns = event->start_ns,
                          .error_ns = event->device_error_ns,
                          .is_kernel = is_kernel};
  if (status == PPROF_STATUS_OK)
    status = ppi_identity_add(&device->identity, &side);
  uint64_t length_ns = end_ns - start_ns;
  if (status == PPROF_STATUS_OK && class == PPI_DEVICE_PAIRED)
    status = ppi_run_pair_time(run, event, &length_ns);
  if (status != PPROF_STATUS_OK) return status;
  return take_submit(run, event, class, length_ns);
}

// Kernel, Memcpy and Memset records are no ranges of the program's; of a
// graph's launch nobody knows when it was submitted.
static pprof_status take_queue(ppi_run *run, const pprof_event *event,
                               const ppi_run_site *site) {
  ppi_device_class class = class_of(event, site->category);
  if (class == PPI_DEVICE_KERNEL || class == PPI_DEVICE_COPY)
    return PPROF_STATUS_OK;
  if (event->flags & PPROF_FLAG_IN_GRAPH && is_timed(event))
    return PPROF_STATUS_OK;
  ppi_queue *queue = ppi_run_queue_of(run, event);
  if (!queue) return PPROF_STATUS_NO_MEMORY;
  queue->calls++;
  return is_timed(event) ? ppi_queue_add(queue, event) : PPROF_STATUS_OK;
}

static pprof_status take_device_range(ppi_run *run, const pprof_event *event) {
  ppi_run_site *site = ppi_run_site_at(run, event->site);
  ppi_run_device *device = ppi_run_device_of(run, event->stream);
  if (!site || !device) return PPROF_STATUS_NO_MEMORY;
  bool is_pair = event->flags & PPROF_FLAG_PAIRED;
  if (!is_pair)
    ppi_spread_add(&site->submit, length(event->start_ns, event->end_ns));
  uint64_t length_ns = 0;
  pprof_status status = take_queue(run, event, site);
  if (event->flags & PPROF_FLAG_LATE) device->incomplete = true;
  if (is_timed(event)) {
    length_ns = length(event->device_start_ns, event->device_end_ns);
    ppi_spread_add(&site->device, length_ns);
    if (status == PPROF_STATUS_OK)
      status = ppi_histogram_add(&site->device_times, length_ns);
    if (status == PPROF_STATUS_OK)
      status = take_device_side(run, event, site, device);
  } else {
    device->untimed++;
    device->incomplete = true;
  }
  if (is_pair && !is_timed(event)) return status;
  ppi_spread_add(&site->own, length_ns);
  site->has_pairs |= is_pair;
  return status;
}

static ppi_run_work *work_at(ppi_run *run, uint32_t site, uint32_t lane) {
  size_t low = 0, high = run->num_work;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const ppi_run_work *work = &run->work[middle];
    if (work->site < site || (work->site == site && work->lane < lane))
      low = middle + 1;
    else
      high = middle;
  }
  ppi_run_work *found = run->work + low;
  if (low < run->num_work && found->site == site && found->lane == lane)
    return found;
  ppi_run_work *grown = ppi_grow(run->work, &run->work_capacity,
                                 run->num_work + 1, sizeof *grown);
  if (!grown) return NULL;
  run->work = grown;
  memmove(grown + low + 1, grown + low, (run->num_work - low) * sizeof *grown);
  run->num_work++;
  grown[low] = (ppi_run_work){.site = site, .lane = lane};
  return &grown[low];
}

static pprof_status take_work(ppi_run *run, const pprof_event *event,
                              uint32_t lane) {
  bool is_counter = event->kind == PPROF_KIND_COUNTER;
  if (!event->work && !is_counter) return PPROF_STATUS_OK;
  ppi_run_site *site = ppi_run_site_at(run, event->site);
  if (!site) return PPROF_STATUS_NO_MEMORY;
  if (site->category == PPROF_CATEGORY_COMMUNICATION &&
      ppi_messages_add(&site->messages, event) != PPROF_STATUS_OK)
    return PPROF_STATUS_NO_MEMORY;
  ppi_run_work *work = work_at(run, event->site, lane);
  if (!work) return PPROF_STATUS_NO_MEMORY;
  if (event->work) {
    work->items += event->work->items;
    work->bytes += event->work->bytes;
    work->flops += event->work->flops;
    work->params += event->work->params;
  }
  if (is_counter) {
    work->num_values++;
    work->value += event->value;
  }
  return PPROF_STATUS_OK;
}

pprof_status ppi_run_events(ppi_run *run, const pprof_batch *batch) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < batch->num_events; i++) {
    const pprof_event *event = pprof_batch_at(batch, i);
    if (event->site >= PPI_RUN_MAX_ID) return PPROF_STATUS_CORRUPT;
    run->last_ns =
        PPI_MAX(run->last_ns, PPI_MAX(event->start_ns, event->end_ns));
    if (event->kind == PPROF_KIND_RANGE)
      status = take_range(run, event);
    else if (event->kind == PPROF_KIND_DEVICE_RANGE)
      status = take_device_range(run, event);
    if (status == PPROF_STATUS_OK) status = take_work(run, event, batch->lane);
    if (status != PPROF_STATUS_OK) return status;
  }
  return PPROF_STATUS_OK;
}

typedef struct open_range {
  uint64_t thread;
  ppi_open_scope scope;
} open_range;

typedef struct run_horizon {
  uint64_t time_ns;
  uint64_t device_ns;    // no device range submitted before it comes later
  uint64_t identity_ns;  // nor is a step before it undecided
  open_range *open;
  size_t num_open;
} run_horizon;

static int compare_open(const void *left, const void *right) {
  const open_range *a = left, *b = right;
  if (a->thread != b->thread) return a->thread < b->thread ? -1 : 1;
  if (a->scope.start_ns != b->scope.start_ns)
    return a->scope.start_ns < b->scope.start_ns ? -1 : 1;
  return 0;
}

static pprof_status take_open_range(ppi_run *run, const pprof_event *event,
                                    run_horizon *out) {
  ppi_run_site *site = ppi_run_site_at(run, event->site);
  ppi_run_category *category =
      site ? ppi_run_category_at(run, site->category) : NULL;
  ppi_run_thread *thread = ppi_run_thread_of(run, event->lane);
  if (!category || !thread) return PPROF_STATUS_NO_MEMORY;
  pprof_status status =
      ppi_union_add(&category->host, event->start_ns, event->end_ns);
  int phase = ppi_phase_of(site->category);
  if (phase >= 0 || ppi_is_user_defined(site->category))
    out->open[out->num_open++] =
        (open_range){thread->number,
                     {event->start_ns, PPI_MAX(event->start_ns, event->end_ns),
                      phase > PPI_PHASE_PROFILE_STEP}};
  if (phase != PPI_PHASE_PROFILE_STEP || status != PPROF_STATUS_OK)
    return status;
  out->identity_ns = PPI_MIN(out->identity_ns, event->end_ns);
  return tell_step(run, event, UINT64_MAX);
}

static pprof_status take_open(ppi_run *run, const pprof_checkpoint *checkpoint,
                              run_horizon *out) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < checkpoint->num_open && status == PPROF_STATUS_OK;
       i++) {
    const pprof_event *event = &checkpoint->open[i];
    if (event->site >= PPI_RUN_MAX_ID) return PPROF_STATUS_CORRUPT;
    if (event->kind == PPROF_KIND_DEVICE_RANGE)
      out->device_ns = PPI_MIN(out->device_ns, event->start_ns);
    else if (event->kind == PPROF_KIND_RANGE)
      status = take_open_range(run, event, out);
  }
  out->identity_ns = PPI_MIN(out->identity_ns, out->device_ns);
  if (out->num_open > 1)
    qsort(out->open, out->num_open, sizeof *out->open, compare_open);
  return status;
}

static bool is_idle(const ppi_scopes *scopes) {
  return !scopes->phases.num && !scopes->fresh.num && !scopes->kept.num &&
         !scopes->coming.num && !scopes->carried.num;
}

static pprof_status settle_threads(ppi_run *run, const run_horizon *horizon) {
  pprof_status status = PPROF_STATUS_OK;
  ppi_open_scope *open = ppi_alloc((horizon->num_open + 1) * sizeof *open);
  if (!open) return PPROF_STATUS_NO_MEMORY;
  size_t next = 0;
  for (size_t i = 0; i < run->num_threads && status == PPROF_STATUS_OK; i++) {
    ppi_run_thread *thread = &run->threads[i];
    ppi_scope_horizon at = {horizon->time_ns, horizon->device_ns, open, 0,
                            false};
    while (next < horizon->num_open &&
           horizon->open[next].thread == thread->number)
      open[at.num_open++] = horizon->open[next++].scope;
    if (!is_idle(&thread->scopes))
      status = ppi_scopes_settle(&thread->scopes, &at);
  }
  ppi_free(open);
  return status;
}

static void forget_steps(ppi_identity *steps, uint64_t horizon_ns) {
  size_t kept = 0;
  for (size_t i = 0; i < steps->num_steps; i++)
    if (steps->steps[i].end_ns > horizon_ns)
      steps->steps[kept++] = steps->steps[i];
  steps->num_steps = kept;
}

pprof_status ppi_run_settle_devices(ppi_run *run, uint64_t horizon_ns) {
  ppi_run_category *steps =
      ppi_run_category_at(run, PPROF_CATEGORY_PROFILE_STEP);
  if (!steps) return PPROF_STATUS_NO_MEMORY;
  pprof_status status = PPROF_STATUS_OK;
  ppi_union_compact(&steps->host);
  for (size_t i = 0; i < run->devices.num && status == PPROF_STATUS_OK; i++) {
    ppi_run_device *device = run->devices.items[i];
    if (device)
      status = ppi_identity_settle(&device->identity, &run->windows,
                                   &steps->host, horizon_ns);
  }
  ppi_union_settle(&steps->host, horizon_ns);
  forget_steps(&run->steps, horizon_ns);
  return status;
}

// Identities follow one checkpoint behind: an edge of a window may be told a
// little after the checkpoint that passed it.
static pprof_status settle_behind(ppi_run *run, const run_horizon *horizon) {
  pprof_status status = PPROF_STATUS_OK;
  if (run->windows.num) status = ppi_run_settle_devices(run, run->identity_ns);
  run->identity_ns = horizon->identity_ns;
  return status;
}

pprof_status ppi_run_checkpoint(ppi_run *run,
                                const pprof_checkpoint *checkpoint) {
  // One that does not advance may be incomplete, and promises nothing new.
  if (checkpoint->time_ns <= run->checkpoint_ns) return PPROF_STATUS_OK;
  run->checkpoint_ns = checkpoint->time_ns;
  run_horizon at = {checkpoint->time_ns, checkpoint->time_ns,
                    checkpoint->time_ns, NULL, 0};
  run->last_ns = PPI_MAX(run->last_ns, checkpoint->time_ns);
  at.open = ppi_alloc((checkpoint->num_open + 1) * sizeof *at.open);
  if (!at.open) return PPROF_STATUS_NO_MEMORY;
  pprof_status status = take_open(run, checkpoint, &at);
  for (size_t i = 0; i < run->categories.num; i++) {
    ppi_run_category *category = run->categories.items[i];
    if (!category || status != PPROF_STATUS_OK) continue;
    if (i != PPROF_CATEGORY_PROFILE_STEP)
      ppi_union_settle(&category->host, at.time_ns);
    ppi_union_settle(&category->device, at.device_ns);
  }
  if (status == PPROF_STATUS_OK) status = settle_threads(run, &at);
  if (status == PPROF_STATUS_OK) status = ppi_run_settle_pairs(run, checkpoint);
  if (status == PPROF_STATUS_OK) status = settle_behind(run, &at);
  ppi_free(at.open);
  return status;
}
