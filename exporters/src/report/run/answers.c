// SPDX-License-Identifier: Apache-2.0
//
// Divides a run into units for the answer: requests, if it has flows; else
// steps; else windows.
#include "report/run/answers.h"

#include "base/base.h"
#include "base/mem.h"
#include "report/parts/threads.h"

// ---- names ----

static const char *site_name(const void *ids, uint32_t id) {
  const ppi_run_table *sites = &((const ppi_run_ids *)ids)->sites;
  const ppi_run_site *site = id < sites->num ? sites->items[id] : NULL;
  return site ? site->name : NULL;
}

static const char *device_name(const void *ids, uint32_t id) {
  const ppi_run_table *devices = &((const ppi_run_ids *)ids)->devices;
  const ppi_run_device *device = id < devices->num ? devices->items[id] : NULL;
  return device ? device->name : NULL;
}

static bool is_launch(const void *ids, uint32_t id) {
  const ppi_run_table *sites = &((const ppi_run_ids *)ids)->sites;
  const ppi_run_site *site = id < sites->num ? sites->items[id] : NULL;
  return site && site->traits & PPI_TRAIT_RUNTIME;
}

static ppi_account_names names_of(const ppi_run *run) {
  return (ppi_account_names){&run->ids, site_name, device_name, is_launch};
}

// ---- ranges ----

static uint32_t host_flags(const ppi_run_site *site) {
  return ppi_run_site_waits(site) ? PPI_ITEM_WAITS : 0;
}

// A driver's record has its own name, but its work is of the stage that
// submitted it.
static uint32_t device_flags(const ppi_run_site *site) {
  bool is_record = ppi_device_class_of(site->category) != PPI_DEVICE_OTHER;
  return is_record ? PPI_ITEM_BORROWS | PPI_ITEM_NO_HOST : 0;
}

static bool take_step(ppi_run *run, const pprof_event *event) {
  ppi_step_account step = {.start_ns = event->start_ns,
                           .end_ns = PPI_MAX(event->start_ns, event->end_ns),
                           .lane = event->lane,
                           .site = event->site,
                           .is_cut = event->flags & PPROF_FLAG_CLIPPED};
  return ppi_accounts_step(&run->accounts, &step);
}

bool ppi_run_answer_take(ppi_run *run, const pprof_event *event) {
  bool is_device = event->kind == PPROF_KIND_DEVICE_RANGE;
  if (run->by_request || (!is_device && event->kind != PPROF_KIND_RANGE) ||
      event->flags & PPROF_FLAG_PROJECTED)
    return true;
  const ppi_run_site *site = ppi_run_site_at(&run->ids, event->site);
  if (!site) return false;
  if (!is_device && site->traits & PPI_TRAIT_STEP) return take_step(run, event);
  ppi_item item = {.start_ns = event->start_ns,
                   .end_ns = PPI_MAX(event->start_ns, event->end_ns),
                   .site = event->site,
                   .lane = event->lane,
                   .depth = PPI_MIN(event->depth, UINT16_MAX),
                   .flags = host_flags(site)};
  if (event->flags & PPROF_FLAG_COMMUNICATION) item.flags |= PPI_ITEM_WAITS;
  if (event->flags & PPROF_FLAG_ASYNC) item.flags |= PPI_ITEM_LOOSE;
  if (is_device) {
    item.flags |= device_flags(site);
    if (event->flags & PPROF_FLAG_PAIRED) item.flags |= PPI_ITEM_NO_HOST;
    item.device = ppi_run_device_id(&run->ids, event->stream);
    if (!(event->flags & PPROF_FLAG_NO_DEVICE_TIME)) {
      item.device_start_ns = event->device_start_ns;
      item.device_end_ns =
          PPI_MAX(event->device_start_ns, event->device_end_ns);
    }
  }
  return ppi_accounts_take(&run->accounts, &item);
}

// ---- checkpoints ----

static bool show_lanes(ppi_run *run) {
  ppi_answer_lanes *lanes = &run->accounts.lanes;
  bool done = ppi_answer_lanes_begin(lanes);
  size_t num_known = run->ids.lanes.num, num_left = run->ids.num_left;
  // Earlier threads of a lane come before its current one.
  for (size_t i = 0; i < num_left + num_known; i++) {
    ppi_run_lane *lane = ppi_run_any_lane(
        &run->ids, i < num_left ? num_known + i : i - num_left);
    if (!lane || !lane->nested.num_pages) continue;
    if (lane->nested.unsorted && done)
      done = ppi_hold_sort(&lane->nested, &run->ids.pool);
    done = done && ppi_answer_lanes_show(lanes, lane->id, &lane->nested);
  }
  return done;
}

static ppi_item open_item(const ppi_run_open *open, const ppi_run_site *site) {
  const ppi_buffered *buffered = &open->buffered;
  ppi_item item = {.start_ns = buffered->start_ns,
                   .end_ns = UINT64_MAX,
                   .site = buffered->site,
                   .lane = open->lane->id,
                   .depth = buffered->depth,
                   .flags = host_flags(site)};
  if (buffered->flags & PPI_BUFFERED_COMMUNICATION)
    item.flags |= PPI_ITEM_WAITS;
  if (buffered->flags & PPI_BUFFERED_LOOSE) item.flags |= PPI_ITEM_LOOSE;
  return item;
}

// The first window that is not settled, or else the last one: without a window
// nothing settles.
static size_t first_window(const ppi_run *run) {
  size_t first = run->windows.num ? run->windows.num - 1 : 0;
  while (first > 0 &&
         run->windows.items[first - 1].end_ns > run->accounts.settled_ns)
    first--;
  return first;
}

static void list_open(ppi_answer_settling *self, const ppi_run_open *open,
                      size_t num_open) {
  ppi_accounts_horizon *horizon = &self->horizon;
  for (size_t i = 0; i < num_open; i++) {
    const ppi_buffered *buffered = &open[i].buffered;
    const ppi_run_site *site = self->run->ids.sites.items[buffered->site];
    if (site->traits & PPI_TRAIT_STEP)
      self->steps[horizon->num_open_steps++] =
          (ppi_step_account){.start_ns = buffered->start_ns,
                             .end_ns = UINT64_MAX,
                             .lane = open[i].lane->id,
                             .site = buffered->site};
    else
      self->open[horizon->num_open++] = open_item(&open[i], site);
  }
}

static void settle(ppi_job *job, unsigned worker) {
  ppi_answer_settling *self = (ppi_answer_settling *)job;
  (void)worker;
  self->done = ppi_accounts_settle(&self->run->accounts, &self->horizon);
}

static bool is_much(const ppi_run *run) {
  const ppi_answer_lanes *lanes = &run->accounts.lanes;
  size_t num_pages = 0;
  for (size_t i = 0; i < lanes->num; i++)
    num_pages += lanes->items[i].num_pages;
  return run->details.jobs && run->details.much_pages &&
         num_pages >= run->details.much_pages;
}

void ppi_run_answer_begin(ppi_answer_settling *self, ppi_run *run,
                          uint64_t horizon_ns, const ppi_run_open *open,
                          size_t num_open) {
  size_t first = first_window(run);
  *self = (ppi_answer_settling){
      .run = run,
      .names = names_of(run),
      .open = ppi_alloc((num_open + 1) * sizeof *self->open),
      .steps = ppi_alloc((num_open + 1) * sizeof *self->steps)};
  self->horizon = (ppi_accounts_horizon){
      .time_ns = horizon_ns,
      .open = self->open,
      .open_steps = self->steps,
      .windows = run->windows.num ? run->windows.items + first : NULL,
      .num_windows = run->windows.num - first,
      .names = &self->names};
  bool shown = show_lanes(run);
  if (!shown || !self->open || !self->steps) return;
  list_open(self, open, num_open);
  ppi_accounts *accounts = &run->accounts;
  bool is_long = is_much(run);
  self->horizon.hands_over =
      ppi_accounts_hands_over(accounts, &self->horizon, is_long);
  if (!self->horizon.hands_over && !ppi_line_end(&accounts->line)) return;
  self->job.run = settle;
  self->is_job = is_long && !self->horizon.hands_over;
  if (self->is_job)
    ppi_jobs_put(run->details.jobs, &self->job, true);
  else
    settle(&self->job, 0);
}

bool ppi_run_answer_end(ppi_answer_settling *self) {
  if (self->is_job) ppi_jobs_wait(self->run->details.jobs, &self->job);
  ppi_free(self->open);
  ppi_free(self->steps);
  return self->done && ppi_accounts_forget(&self->run->accounts);
}

// ---- requests ----

// What one thread needs for its requests.
typedef struct request_piece {
  ppi_item *items;
  uint32_t *item_of;  // by part: its item, + 1
  size_t items_capacity, numbers_capacity;
  ppi_item_stretch *stretches;  // of the longest path
  size_t stretches_capacity;
  ppi_moment_room room;
  ppi_account account;
  ppi_answer out;
} request_piece;

typedef struct request_filling {
  ppi_run *run;
  ppi_request *list;  // those that count, by begin
  size_t num, capacity;
  size_t num_cold;      // of them, the first ones
  ppi_span_list *busy;  // by device
  size_t num_devices;
  request_piece *pieces;
  size_t num_pieces;
  ppi_account_names names;
  ppi_answer *out;
} request_filling;

PPI_ORDER(compare_requests, ppi_request, PPI_UP(start_ns) PPI_UP(at))

static uint64_t request_start(const void *request) {
  return ((const ppi_request *)request)->start_ns;
}

static bool list_requests(request_filling *to) {
  const ppi_requests *requests = &to->run->requests;
  for (size_t i = 0; i < requests->num_list; i++) {
    bool counts = ppi_request_counts(&requests->list[i]);
    to->out->num_cut += !counts;
    if (counts && !PPI_PUSH(to->list, to->num, to->capacity, requests->list[i]))
      return false;
  }
  ppi_sort(to->list, to->num, sizeof *to->list, request_start,
           compare_requests);
  return true;
}

static bool add_busy(request_filling *to) {
  const ppi_requests *requests = &to->run->requests;
  bool done = true;
  for (size_t i = 0; i < requests->num_more && done; i++) {
    const ppi_part_more *part = &requests->more[i];
    if (part->device < to->num_devices)
      done = ppi_spans_add(&to->busy[part->device], part->device_start_ns,
                           part->device_end_ns);
  }
  const ppi_request_others *others = &requests->others;
  for (size_t i = 0; i < others->devices.num; i++) {
    const ppi_union *busy = &others->busy[i];
    uint64_t device = others->devices.keys[i].low;
    for (size_t k = 0; k < busy->num && done; k++)
      if (device < to->num_devices)
        done = ppi_spans_add(&to->busy[device], busy->spans[k].start_ns,
                             busy->spans[k].end_ns);
  }
  return done;
}

// If some work is unknown, all devices count as busy throughout.
static bool find_busy(request_filling *to) {
  const ppi_requests *requests = &to->run->requests;
  bool is_known = !requests->thinning && !requests->others.dropped;
  bool done = true;
  to->num_devices = to->run->ids.devices.num + 1;
  to->busy = ppi_alloc(to->num_devices * sizeof *to->busy);
  if (!to->busy) return false;
  for (size_t i = 0; i < to->num_devices && !is_known; i++)
    done = done && ppi_spans_add(&to->busy[i], 0, UINT64_MAX);
  if (!is_known || !done) return done;
  done = add_busy(to);
  for (size_t i = 0; i < to->num_devices; i++)
    to->busy[i].num = ppi_spans_unite(to->busy[i].items, to->busy[i].num);
  return done;
}

// Outer parts come first. A part that is the request itself is no item.
static size_t list_items(const ppi_run *run, request_piece *to,
                         const ppi_walk *from) {
  size_t num = 0;
  for (size_t i = 0; i < from->num; i++) {
    const ppi_request_part *part = &from->parts[i];
    const ppi_run_site *site = run->ids.sites.items[part->site];
    ppi_item *item = &to->items[num];
    if (part->is_whole) continue;
    *item = (ppi_item){.start_ns = part->start_ns,
                       .end_ns = part->end_ns,
                       .device_start_ns = part->device_start_ns,
                       .device_end_ns = part->device_end_ns,
                       .site = part->site,
                       .lane = part->lane,
                       .depth = (uint32_t)i,
                       .device = part->device,
                       .flags = host_flags(site)};
    if (part->is_async) item->flags |= PPI_ITEM_LOOSE;
    if (part->is_paired) item->flags |= PPI_ITEM_NO_HOST;
    if (part->device) item->flags |= device_flags(site);
    num++;
  }
  ppi_items_sort(to->items, num);
  return num;
}

// Whether ranges of several threads overlap: only one of them is on the path.
static bool has_branches(const ppi_item *items, size_t num) {
  const ppi_item *last = items;
  for (size_t i = 1; i < num; i++) {
    const ppi_item *item = &items[i];
    if (item->lane != last->lane && item->start_ns < last->end_ns) return true;
    if (item->end_ns >= last->end_ns) last = item;
  }
  return false;
}

// Items have their parts' numbers as depths.
static bool list_path(request_piece *to, const ppi_walk *from,
                      ppi_moments *walk) {
  const ppi_request_path *path = from->path;
  if (!PPI_ROOM(to->stretches, to->stretches_capacity, path->num + 1))
    return false;
  for (uint32_t i = 0; i < walk->num_items; i++)
    to->item_of[walk->items[i].depth] = i + 1;
  for (size_t i = 0; i < path->num; i++) {
    const ppi_path_piece *piece = &path->items[i];
    const ppi_request_part *part = &from->parts[piece->part];
    if (part->device_end_ns == 0 && !part->is_whole)
      to->stretches[walk->num_path++] = (ppi_item_stretch){
          piece->start_ns, piece->end_ns, to->item_of[piece->part] - 1};
  }
  walk->path = to->stretches;
  return true;
}

static bool take_moment(void *context, const ppi_moment *moment) {
  return ppi_account_add(context, moment);
}

// Where the ranges of a request nest, their times are known. What begins at its
// end is no call of it.
static bool take_times(request_piece *to, const ppi_request *of,
                       const ppi_walk *from) {
  bool done = true;
  for (size_t i = 0; i < from->num && done; i++) {
    const ppi_request_part *part = &from->parts[i];
    const ppi_part_place *place = &from->places[i];
    const ppi_moment moment = {.where = PPI_WHERE_HOST,
                               .stage = place->stage,
                               .child = place->child,
                               .ns = from->times[i].own_ns,
                               .stage_calls = place->level == 0,
                               .child_calls = place->level == 1};
    bool has_any = moment.ns || place->level < 2;
    if (has_any && !part->is_whole && part->start_ns < of->end_ns)
      done = ppi_account_add(&to->account, &moment);
  }
  return done;
}

static bool take_moments(const request_filling *all, request_piece *to,
                         const ppi_request *of, const ppi_walk *from) {
  const ppi_moment_unit unit = {.start_ns = of->start_ns, .end_ns = of->end_ns};
  if (!PPI_ROOM(to->items, to->items_capacity, from->num) ||
      !PPI_ROOM(to->item_of, to->numbers_capacity, from->num))
    return false;
  ppi_moments walk = {.items = to->items,
                      .num_items = list_items(all->run, to, from),
                      .units = &unit,
                      .num_units = 1,
                      .from_ns = of->start_ns,
                      .to_ns = of->end_ns,
                      .busy = all->busy,
                      .num_devices = all->num_devices,
                      .names = &all->names,
                      .on_moment = take_moment,
                      .context = &to->account};
  if (has_branches(walk.items, walk.num_items) && !list_path(to, from, &walk))
    return false;
  return ppi_moments_walk(&walk, &to->room);
}

static bool take_request(void *context, size_t piece, const ppi_request *of,
                         const ppi_walk *from) {
  const request_filling *all = context;
  request_piece *to = &all->pieces[piece];
  if (all->num_cold == all->num ||
      (all->num_cold && compare_requests(of, &all->list[all->num_cold]) < 0))
    return true;
  bool done =
      from->places ? take_times(to, of, from) : take_moments(all, to, of, from);
  return done && ppi_account_fold(&to->account, of->end_ns - of->start_ns,
                                  &all->names, &to->out);
}

static bool begin_requests(void *context, size_t num_pieces) {
  request_filling *to = context;
  uint64_t last_ns = 0;
  to->pieces = ppi_alloc(num_pieces * sizeof *to->pieces);
  to->num_pieces = num_pieces;
  if (!to->pieces || !list_requests(to)) return false;
  if (!to->num) return true;
  size_t cold = to->num_cold = ppi_units_num_cold(
      to->list, to->num, sizeof *to->list, to->run->details.warmup);
  to->out->num_runs++;
  to->out->before_ns +=
      ppi_windows_overlap(&to->run->windows, 0, to->list[0].start_ns);
  to->out->num_cold += cold;
  for (size_t i = 0; i < cold; i++)
    to->out->cold_ns += to->list[i].end_ns - to->list[i].start_ns;
  for (size_t i = cold; i < to->num; i++)
    last_ns = PPI_MAX(last_ns, to->list[i].end_ns);
  if (cold < to->num) {
    to->out->num_all += (to->num - cold) << to->run->requests.thinning;
    to->out->span_ns += last_ns - to->list[cold].start_ns;
  }
  return find_busy(to);
}

// Links and requests without stages have no answer: docs/serving.md.
static bool has_requests(const ppi_run *run) {
  return run->details.answer && !run->details.answer_of_steps &&
         !run->requests.are_links && run->requests.has_stages;
}

static void clear_piece(request_piece *piece) {
  PPI_FREE_ALL(piece->items, piece->item_of, piece->stretches);
  ppi_moment_room_clear(&piece->room);
  ppi_account_clear(&piece->account);
  ppi_answer_clear(&piece->out);
}

static bool fill_requests(ppi_run *run, ppi_figures *out) {
  request_filling to = {.run = run,
                        .names = names_of(run),
                        .out = &out->answers[PPI_BASE_REQUEST]};
  const ppi_requests_reader reader = {begin_requests, take_request, &to};
  bool done = ppi_requests_fill(&run->requests, &run->ids,
                                has_requests(run) ? &reader : NULL, out);
  for (size_t i = 0; to.pieces && i < to.num_pieces; i++) {
    done = done && ppi_answer_merge(to.out, &to.pieces[i].out);
    clear_piece(&to.pieces[i]);
  }
  for (size_t i = 0; to.busy && i < to.num_devices; i++)
    ppi_free(to.busy[i].items);
  PPI_FREE_ALL(to.busy, to.list, to.pieces);
  return done;
}

bool ppi_run_answer_by_request(ppi_run *run) {
  if (run->by_request || !has_requests(run)) return run->by_request;
  run->by_request = ppi_requests_abound(&run->requests);
  if (run->by_request) ppi_accounts_clear(&run->accounts);
  return run->by_request;
}

bool ppi_run_answer_fill(ppi_run *run, ppi_figures *out) {
  bool done = !run->details.requests || fill_requests(run, out);
  if (!done || !run->details.answer || run->by_request ||
      out->answers[PPI_BASE_REQUEST].num_runs)
    return done;
  ppi_run_open *open;
  done = ppi_run_list_open(&run->listed, &run->ids, run->last_ns, &open);
  if (done) {
    ppi_answer_settling settling;
    ppi_run_answer_begin(&settling, run, UINT64_MAX, open, run->listed.num);
    done = ppi_run_answer_end(&settling);
  }
  ppi_free(open);
  if (!done) return false;
  ppi_account_names names = names_of(run);
  ppi_accounts_horizon end = {.time_ns = UINT64_MAX,
                              .windows = run->windows.items,
                              .num_windows = run->windows.num,
                              .names = &names};
  done = ppi_accounts_fill(&run->accounts, &end, out->answers);
  return done;
}
