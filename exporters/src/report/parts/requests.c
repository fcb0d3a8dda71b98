// SPDX-License-Identifier: Apache-2.0
//
// Builds requests from ranges with flows: groups them, leaves out cut ones, and
// adds up the times of each stage.
#include "report/parts/requests.h"

#include <string.h>

#include "base/base.h"
#include "base/jobs.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/figures/request_rows.h"
#include "report/parts/request_nested.h"
#include "report/parts/sites.h"

// ---- contended devices ----

// The begin or the end of a request's device range.
typedef struct claim {
  uint64_t time_ns, flow;
  uint32_t device;
  bool ends;
} claim;

PPI_ORDER(compare_claims, claim,
          PPI_UP(time_ns) PPI_UP(device) PPI_DOWN(ends) PPI_UP(flow))

static uint64_t claim_time(const void *at) {
  return ((const claim *)at)->time_ns;
}

static size_t add_claims(claim *claims, size_t num, const claim *from,
                         uint64_t end_ns) {
  if (end_ns <= from->time_ns) return num;
  if (!claims) return num + 2;
  claims[num] = *from;
  claims[num + 1] = (claim){end_ns, from->flow, from->device, true};
  return num + 2;
}

// If `claims` is NULL, only counts them.
static size_t list_claims(const ppi_requests *requests, claim *claims) {
  const ppi_request_others *others = &requests->others;
  size_t num = 0;
  for (size_t i = 0; i < requests->num && requests->num_more; i++) {
    if (!requests->parts[i].more) continue;
    const ppi_part_more *more = &requests->more[requests->parts[i].more - 1];
    const claim from = {more->device_start_ns, requests->parts[i].flow,
                        more->device, false};
    num = add_claims(claims, num, &from, more->device_end_ns);
  }
  for (size_t i = 0; i < others->devices.num; i++) {
    const ppi_union *busy = &others->busy[i];
    uint32_t device = (uint32_t)others->devices.keys[i].low;
    for (size_t k = 0; k < busy->num; k++) {
      const claim from = {busy->spans[k].start_ns, 0, device, false};
      num = add_claims(claims, num, &from, busy->spans[k].end_ns);
    }
  }
  return num;
}

// A request on a device, and the number of its active ranges there.
typedef struct owner {
  uint64_t flow;
  size_t num;
} owner;
typedef struct owners {
  owner *items;
  size_t num, capacity;
  uint64_t since_ns;
} owners;

static bool claim_device(owners *all, const claim *at) {
  size_t i = 0;
  while (i < all->num && all->items[i].flow != at->flow) i++;
  if (at->ends) {
    if (i < all->num && --all->items[i].num == 0)
      all->items[i] = all->items[--all->num];
    return true;
  }
  if (i == all->num &&
      !PPI_PUSH(all->items, all->num, all->capacity, (owner){at->flow, 0}))
    return false;
  all->items[i].num++;
  return true;
}

// Finds the times in which a device works for two or more requests.
static bool find_contended(const claim *claims, size_t num, owners *by_device,
                           ppi_span_list *spans) {
  bool done = true;
  for (size_t i = 0; i < num && done; i++) {
    owners *all = &by_device[claims[i].device];
    if (all->num > 1)
      done = ppi_spans_add(&spans[claims[i].device], all->since_ns,
                           claims[i].time_ns);
    all->since_ns = claims[i].time_ns;
    done = done && claim_device(all, &claims[i]);
  }
  return done;
}

static bool find_all_contended(const ppi_requests *requests,
                               ppi_span_list *spans, size_t num_devices) {
  size_t num = list_claims(requests, NULL);
  claim *claims = ppi_alloc((num + 1) * sizeof *claims);
  owners *by_device = ppi_alloc(num_devices * sizeof *by_device);
  bool done = claims && by_device;
  if (done) {
    list_claims(requests, claims);
    ppi_sort(claims, num, sizeof *claims, claim_time, compare_claims);
    done = find_contended(claims, num, by_device, spans);
  }
  for (size_t i = 0; by_device && i < num_devices; i++)
    ppi_free(by_device[i].items);
  ppi_free(by_device);
  ppi_free(claims);
  return done;
}

// ---- requests ----

static uint64_t last_of(const ppi_request_part *part) {
  return PPI_MAX(part->end_ns, part->device_end_ns);
}

// The number of requests with this stage: beside others, as the request itself,
// alone.
typedef struct site_votes {
  uint64_t shared, whole, alone;
} site_votes;

typedef struct filling {
  ppi_run_ids *ids;
  const ppi_requests *requests;
  ppi_request_run *out;
  site_votes *votes;  // by site
  ppi_span_list *contended;
  size_t num_devices, num_lanes;
  uint32_t *stage_of;  // by site; + 1, 0: none yet
  const ppi_requests_reader *reader;
  ppi_request_part *parts;  // of one request
  size_t parts_capacity;
} filling;

static uint64_t host_time(const ppi_request_part *part) {
  return part->end_ns - part->start_ns;
}

// Whether the inner parts explain a part of a thread: one on its row, but for
// the submission of work that ends behind it; two in turn on other rows; or one
// there that it waits for, by its end. A part on no row is always explained.
static bool is_explained(const ppi_request_part *parts, size_t num,
                         const ppi_request_part *whole) {
  uint64_t end_ns = 0;
  for (size_t i = 0; i < num; i++) {
    const ppi_request_part *part = &parts[i];
    if (part == whole || part->end_ns > whole->end_ns) continue;
    if (part->lane == whole->lane || part->is_async) {
      if (last_of(part) <= whole->end_ns) return true;
    } else if (end_ns && part->start_ns >= end_ns) {
      return true;
    } else {
      end_ns = PPI_MAX(end_ns, last_of(part));
    }
  }
  return whole->is_async ||
         (end_ns && end_ns + host_time(whole) / 20 >= whole->end_ns);
}

// Whether a part exceeds the host side of `whole` by at most a hundredth: the
// code that ends a request may have its own range. Device work may end later,
// within twice the length from the request's begin.
static bool fits(const ppi_request_part *part, const ppi_request_part *whole,
                 uint64_t begin_ns) {
  uint64_t from_ns = PPI_MIN(part->start_ns, whole->start_ns);
  uint64_t to_ns = PPI_MAX(part->end_ns, whole->end_ns);
  uint64_t out_ns = to_ns - from_ns - host_time(whole);
  bool meets = part->start_ns < whole->end_ns && part->end_ns > whole->start_ns;
  return (!out_ns || (meets && out_ns <= host_time(whole) / 100)) &&
         last_of(part) - begin_ns <= 2 * host_time(whole);
}

static bool holds_rest(const ppi_request_part *parts, size_t num, size_t at) {
  const ppi_request_part *whole = &parts[at];
  bool has_inner = false;
  for (size_t i = 0; i < num; i++) {
    const ppi_request_part *part = &parts[i];
    if (!fits(part, whole, parts[0].start_ns)) return false;
    has_inner |= i != at && part->start_ns >= whole->start_ns &&
                 part->end_ns <= whole->end_ns;
  }
  return has_inner && is_explained(parts, num, whole);
}

// Most requests have a first or last part that the longest one does not hold.
static void vote(filling *to, const ppi_requests *requests,
                 const ppi_request *of) {
  ppi_request_part *parts = to->parts, whole, end;
  size_t at = 0;
  uint64_t most_ns = 0;
  for (size_t i = 0; i < of->num; i++) {
    const ppi_kept_part *kept = &requests->parts[requests->order[of->at + i]];
    uint64_t ns = ppi_kept_end(requests, kept) - kept->start_ns;
    to->votes[kept->site].shared += of->num > 1;
    if (ns <= most_ns) continue;
    at = i;
    most_ns = ns;
  }
  ppi_requests_parts(requests, of->at + at, 1, &whole);
  if (of->num == 1) to->votes[whole.site].alone += whole.is_async;
  if (of->num == 1 || whole.device_end_ns) return;
  ppi_requests_parts(requests, of->at + of->num - 1, 1, &end);
  if (!fits(&end, &whole, of->start_ns)) return;
  ppi_requests_parts(requests, of->at, of->num, parts);
  if (holds_rest(parts, of->num, at)) to->votes[whole.site].whole++;
}

// Requests that one thread walks, and their figures. Pieces are joined in
// order.
typedef struct piece {
  ppi_job job;
  const filling *of;
  size_t number, from, to;  // from, to: of requests->list
  ppi_request_run out;      // rows, cells and numbers; stages without names
  size_t rows_capacity, cells_capacity;
  size_t *cell_of;  // by stage: in the last request that had it, + 1
  ppi_part_times *times;
  ppi_request_part *parts;  // of one request
  ppi_request_path path;
  ppi_nested_room room;
  bool done;
} piece;

// The request's cell of this stage.
static ppi_request_cell *cell_of(piece *to, ppi_request_row *row,
                                 uint32_t stage) {
  ppi_request_run *out = &to->out;
  size_t *place = &to->cell_of[stage];
  if (*place > row->first_cell) return &out->cells[*place - 1];
  if (!PPI_ROOM(out->cells, to->cells_capacity, out->num_cells + 1))
    return NULL;
  row->num_cells++;
  out->cells[out->num_cells] = (ppi_request_cell){.stage = stage};
  *place = ++out->num_cells;
  return &out->cells[*place - 1];
}

static bool add_part_times(piece *to, ppi_request_row *row,
                           const ppi_request_part *part,
                           const ppi_part_times *times) {
  uint32_t stage = to->of->stage_of[part->site] - 1;
  ppi_request_cell *cell = cell_of(to, row, stage);
  if (!cell) return false;
  bool on_device = part->device_end_ns > part->device_start_ns;
  to->out.stages[stage].on_device |= on_device;
  to->out.stages[stage].is_whole |= part->is_whole;
  cell->calls++;
  if (on_device)
    cell->time_ns += part->device_end_ns - part->device_start_ns;
  else
    cell->time_ns += part->end_ns - part->start_ns;
  if (on_device && part->device_start_ns > part->start_ns)
    cell->wait_ns += part->device_start_ns - part->start_ns;
  cell->own_ns += times->own_ns;
  cell->contended_ns += times->contended_ns;
  cell->hop_ns += times->hop_ns;
  cell->critical_ns += times->critical_ns;
  return true;
}

static bool take_request(piece *to, const ppi_request *of) {
  const filling *from = to->of;
  const ppi_request_part *parts = to->parts;
  ppi_walk walk = {.parts = parts,
                   .num = of->num,
                   .start_ns = of->start_ns,
                   .end_ns = of->end_ns,
                   .contended = from->contended,
                   .num_devices = from->num_devices,
                   .times = to->times,
                   .path = &to->path};
  ppi_requests_parts(from->requests, of->at, of->num, to->parts);
  to->path.num = 0;
  bool done = ppi_walk_nested(&walk, &to->room) ||
              (ppi_walk_critical(&walk) && ppi_walk_request(&walk));
  ppi_request_row row = {.flow = parts[0].flow,
                         .start_ns = walk.start_ns,
                         .length_ns = walk.end_ns - walk.start_ns,
                         .queue_ns = walk.queue_ns,
                         .hop_ns = walk.hop_ns,
                         .first_cell = to->out.num_cells};
  for (size_t i = 0; i < of->num && done; i++)
    if (!add_part_times(to, &row, &parts[i], &to->times[i])) done = false;
  const ppi_requests_reader *reader = from->reader;
  return done &&
         PPI_PUSH(to->out.rows, to->out.num_rows, to->rows_capacity, row) &&
         (!reader || reader->take(reader->context, to->number, of, &walk));
}

static bool make_room(piece *to) {
  const size_t most = PPI_REQUEST_MOST_PARTS;
  const size_t num_stages = to->of->out->num_stages + 1;
  to->cell_of = ppi_alloc(num_stages * sizeof *to->cell_of);
  to->times = ppi_alloc(most * sizeof *to->times);
  to->parts = ppi_alloc(most * sizeof *to->parts);
  to->out.stages = ppi_alloc(num_stages * sizeof *to->out.stages);
  return to->cell_of && to->times && to->parts && to->out.stages &&
         ppi_nested_room_make(&to->room, most, to->of->num_lanes);
}

static void take_piece(ppi_job *job, unsigned worker) {
  piece *to = (piece *)job;
  (void)worker;
  to->done = make_room(to);
  for (size_t i = to->from; i < to->to && to->done; i++) {
    const ppi_request *of = &to->of->requests->list[i];
    bool is_whole = !of->is_cut && !of->crosses;
    to->out.num_reused += of->is_reused;
    to->out.num_cut += of->is_cut;
    to->out.num_crossing += of->crosses && !of->is_cut;
    to->out.num_long += is_whole && !ppi_request_counts(of);
    if (ppi_request_counts(of)) to->done = take_request(to, of);
  }
  PPI_FREE_ALL(to->cell_of, to->times, to->parts, to->path.items);
  ppi_nested_room_clear(&to->room);
}

// Adds the figures of a piece behind those of the pieces before it.
static bool join(ppi_request_run *into, piece *from) {
  ppi_request_run *out = &from->out;
  const size_t num_rows = into->num_rows, num_cells = into->num_cells;
  for (size_t i = 0; i < into->num_stages; i++) {
    into->stages[i].on_device |= out->stages[i].on_device;
    into->stages[i].is_whole |= out->stages[i].is_whole;
  }
  into->num_reused += out->num_reused;
  into->num_cut += out->num_cut;
  into->num_crossing += out->num_crossing;
  into->num_long += out->num_long;
  size_t rows_capacity = num_rows, cells_capacity = num_cells;
  if (!num_rows) {
    into->rows = out->rows;
    into->cells = out->cells;
    out->rows = NULL;
    out->cells = NULL;
  } else if (out->num_rows) {
    if (!PPI_ROOM(into->rows, rows_capacity, num_rows + out->num_rows) ||
        !PPI_ROOM(into->cells, cells_capacity, num_cells + out->num_cells))
      return false;
    for (size_t i = 0; i < out->num_rows; i++) {
      into->rows[num_rows + i] = out->rows[i];
      into->rows[num_rows + i].first_cell += num_cells;
    }
    memcpy(into->cells + num_cells, out->cells,
           out->num_cells * sizeof *out->cells);
  }
  into->num_rows += out->num_rows;
  into->num_cells += out->num_cells;
  return true;
}

// The number of threads that walk requests.
static size_t num_pieces(const ppi_requests *requests,
                         const ppi_report_details *details) {
  enum { MANY = 256 };  // fewer parts for each of `much_pages` are one piece
  size_t least = (size_t)details->much_pages * MANY;
  if (!details->jobs || !least) return 1;
  return 1 + PPI_MIN(requests->num / least, ppi_jobs_num(details->jobs) - 1);
}

static bool take_pieces(filling *to, const ppi_report_details *details) {
  const ppi_requests *requests = to->requests;
  const size_t num = num_pieces(requests, details);
  piece *pieces = ppi_alloc(num * sizeof *pieces);
  bool done =
      pieces && (!to->reader || to->reader->begin(to->reader->context, num));
  for (size_t i = 0, at = 0; i < num && done; i++) {
    piece *own = &pieces[i];
    *own = (piece){.job.run = take_piece, .of = to, .number = i, .from = at};
    while (
        at < requests->num_list &&
        (i + 1 == num || requests->list[at].at < requests->num / num * (i + 1)))
      at++;
    own->to = at;
    if (i) ppi_jobs_put(details->jobs, &own->job, true);
  }
  if (done) take_piece(&pieces[0].job, 0);
  bool joined = done;
  for (size_t i = 0; i < num && done; i++) {
    if (i) ppi_jobs_wait(details->jobs, &pieces[i].job);
    joined = joined && pieces[i].done && join(to->out, &pieces[i]);
    PPI_FREE_ALL(pieces[i].out.rows, pieces[i].out.cells, pieces[i].out.stages);
  }
  ppi_free(pieces);
  return joined;
}

static bool name_stages(filling *to, const ppi_requests *requests) {
  ppi_request_run *out = to->out;
  size_t num_sites = to->ids->sites.num;
  for (size_t i = 0; i < requests->num; i++) {
    uint32_t id = requests->parts[i].site;
    to->num_lanes = PPI_MAX(to->num_lanes, requests->parts[i].lane + (size_t)1);
    if (to->stage_of[id]) continue;
    uint32_t root = ppi_run_root(to->ids, id);
    to->stage_of[id] = to->stage_of[root];
    if (to->stage_of[id]) continue;
    const ppi_run_site *site = ppi_run_site_at(to->ids, id);
    const ppi_run_category *category =
        site ? ppi_run_category_at(to->ids, site->category) : NULL;
    if (!category) return false;
    if (!out->stages) out->stages = ppi_alloc(num_sites * sizeof *out->stages);
    if (!out->stages) return false;
    ppi_request_stage *stage = &out->stages[out->num_stages++];
    stage->name = ppi_strdup(site->name);
    stage->category_name = ppi_strdup(category->name);
    if (!stage->name || !stage->category_name) return false;
    to->stage_of[id] = to->stage_of[root] = (uint32_t)out->num_stages;
  }
  return true;
}

// A stage that is mostly the request itself counts as that in all requests. In
// a failed request it may end before its inner ranges.
static bool find_whole(filling *to, ppi_requests *requests) {
  size_t num_sites = to->ids->sites.num;
  for (size_t i = 0; i < requests->num_list; i++) {
    const ppi_request *of = &requests->list[i];
    if (!PPI_ROOM(to->parts, to->parts_capacity, of->num)) return false;
    vote(to, requests, of);
  }
  ppi_request_site *sites = ppi_alloc((num_sites + 1) * sizeof *sites);
  if (!sites) return false;
  for (size_t i = 0; i < num_sites; i++) {
    const site_votes *votes = &to->votes[i];
    const ppi_run_site *site = to->ids->sites.items[i];
    sites[i].is_whole =
        votes->shared ? 2 * votes->whole > votes->shared : votes->alone > 0;
    sites[i].waits = site && ppi_run_site_waits(site);
  }
  requests->sites = sites;
  return true;
}

static bool take_all(filling *to, ppi_requests *requests,
                     const ppi_report_details *details) {
  if (!requests->num) return true;
  if (!ppi_requests_order(requests)) return false;
  for (size_t i = 0; i < requests->others.devices.num; i++)
    ppi_union_compact(&requests->others.busy[i]);
  return find_all_contended(requests, to->contended, to->num_devices) &&
         name_stages(to, requests) && find_whole(to, requests) &&
         take_pieces(to, details);
}

static bool start_run(const ppi_requests *requests, const ppi_run_ids *ids,
                      ppi_request_run *out) {
  out->uuid = ppi_strdup(ids->input.uuid);
  out->host = ppi_strdup(ids->input.host);
  out->pid = ppi_strdup(ids->input.pid);
  out->thinning = requests->thinning;
  out->others_unknown = requests->others.dropped;
  return out->uuid && out->host && out->pid;
}

static void clear_filling(filling *to) {
  for (size_t i = 0; to->contended && i < to->num_devices; i++)
    ppi_free(to->contended[i].items);
  PPI_FREE_ALL(to->contended, to->stage_of, to->votes, to->parts);
}

bool ppi_requests_fill(ppi_requests *requests, ppi_run_ids *ids,
                       const ppi_requests_reader *reader, ppi_figures *out) {
  filling to = {.ids = ids,
                .requests = requests,
                .num_devices = ids->devices.num + 1,
                .reader = reader};
  to.out = ppi_alloc(sizeof *to.out);
  to.contended = ppi_alloc(to.num_devices * sizeof *to.contended);
  to.stage_of = ppi_alloc((ids->sites.num + 1) * sizeof *to.stage_of);
  to.votes = ppi_alloc((ids->sites.num + 1) * sizeof *to.votes);
  bool done = false;
  if (to.out && to.contended && to.stage_of && to.votes &&
      start_run(requests, ids, to.out))
    done = take_all(&to, requests, &out->details);
  done = done && ppi_figures_request_run(out, to.out);
  if (!done) ppi_request_run_release(to.out);
  clear_filling(&to);
  return done;
}
