// SPDX-License-Identifier: Apache-2.0
//
// Gathers the parts of requests in few bytes, and puts them in order.
#include "report/parts/request_parts.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/mix.h"
#include "base/sort.h"

// ---- gathering ----

static uint64_t hash_of(uint64_t flow) {
  return ppi_mix(flow + 0x9e3779b97f4a7c15u);
}

static bool is_kept(const ppi_requests *requests, uint64_t flow) {
  return !requests->thinning ||
         (hash_of(flow) & (((uint64_t)1 << requests->thinning) - 1)) == 0;
}

static void thin(ppi_requests *requests) {
  size_t kept = 0, num_more = 0;
  requests->thinning++;
  for (size_t i = 0; i < requests->num; i++) {
    ppi_kept_part part = requests->parts[i];
    if (!is_kept(requests, part.flow)) continue;
    if (part.more) {
      requests->more[num_more] = requests->more[part.more - 1];
      part.more = (uint32_t)++num_more;
    }
    requests->parts[kept++] = part;
  }
  requests->num = kept;
  requests->num_more = num_more;
}

static size_t most_parts(const ppi_requests *requests) {
  return requests->max_parts ? requests->max_parts : PPI_REQUESTS_MAX_PARTS;
}

static ppi_part_more more_of(const pprof_event *event, uint32_t device) {
  const uint32_t cut =
      PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED | PPROF_FLAG_LATE;
  return (ppi_part_more){
      .end_ns = PPI_MAX(event->start_ns, event->end_ns),
      .device_start_ns = event->device_start_ns,
      .device_end_ns = PPI_MAX(event->device_start_ns, event->device_end_ns),
      .stream = event->stream,
      .device = device,
      .window = event->window,
      .is_async = event->flags & PPROF_FLAG_ASYNC,
      .is_paired = event->flags & PPROF_FLAG_PAIRED,
      .is_cut = event->flags & cut};
}

// `more` NULL: the part needs none.
static bool add_part(ppi_requests *requests, ppi_kept_part part,
                     const ppi_part_more *more) {
  if (!is_kept(requests, part.flow)) return true;
  if (more) {
    part.more = (uint32_t)requests->num_more + 1;
    if (!PPI_PUSH(requests->more, requests->num_more, requests->more_capacity,
                  *more))
      return false;
  }
  if (!PPI_PUSH(requests->parts, requests->num, requests->capacity, part))
    return false;
  while (requests->num > most_parts(requests) && requests->thinning < 63)
    thin(requests);
  return true;
}

bool ppi_requests_abound(const ppi_requests *requests) {
  enum { SAMPLED = 64 };
  struct {
    uint64_t flow;
    size_t num;  // of its parts that count
    bool is_out;
  } sample[SAMPLED] = {{0}};
  size_t num_whole = 0;
  for (size_t i = 0; i < requests->num; i++) {
    const ppi_kept_part *part = &requests->parts[i];
    size_t at = hash_of(part->flow) >> 32 & (SAMPLED - 1);
    if (!sample[at].num) sample[at].flow = part->flow;
    if (sample[at].flow != part->flow) continue;
    const ppi_part_more *more =
        part->more ? &requests->more[part->more - 1] : NULL;
    sample[at].is_out |= more && (more->is_cut || more->window);
    sample[at].num++;
  }
  for (size_t i = 0; i < SAMPLED; i++)
    num_whole += !sample[i].is_out && sample[i].num > 0 &&
                 sample[i].num < PPI_REQUEST_MOST_PARTS / 2;
  return num_whole >= SAMPLED / 2;
}

static void clear_others(ppi_request_others *others) {
  for (size_t i = 0; i < others->num; i++) ppi_union_clear(&others->busy[i]);
  ppi_map_clear(&others->devices);
  ppi_free(others->busy);
  *others = (ppi_request_others){.dropped = others->dropped};
}

// These ranges come all the time, so only the union of their times is kept.
static bool add_other(ppi_requests *requests, const ppi_part_more *part) {
  ppi_request_others *others = &requests->others;
  if (others->dropped || part->device_end_ns <= part->device_start_ns)
    return true;
  if (others->num_ranges++ >= most_parts(requests)) {
    others->dropped = true;
    clear_others(others);
    return true;
  }
  size_t at = ppi_map_number(&others->devices, (ppi_map_key){0, part->device});
  if (at == SIZE_MAX) return false;
  return PPI_REACH(others->busy, others->num, others->capacity, at + 1) &&
         ppi_union_add(&others->busy[at], part->device_start_ns,
                       part->device_end_ns);
}

bool ppi_requests_take(ppi_requests *requests, const pprof_event *event,
                       uint32_t device) {
  const uint32_t rare = PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED |
                        PPROF_FLAG_LATE | PPROF_FLAG_ASYNC | PPROF_FLAG_PAIRED;
  uint64_t length_ns = event->end_ns - event->start_ns;
  ppi_kept_part part = {.start_ns = event->start_ns,
                        .length_ns = (uint32_t)length_ns,
                        .site = event->site,
                        .lane = event->lane};
  ppi_part_more more;
  bool has_more = length_ns > UINT32_MAX || event->flags & rare ||
                  event->device_start_ns | event->device_end_ns ||
                  event->stream | device | event->window;
  if (has_more) more = more_of(event, device);
  if (event->num_flows == 0) return !has_more || add_other(requests, &more);
  requests->has_stages |= !(event->flags & PPROF_FLAG_REQUEST);
  // The first flow of a request's own range is the request's number. Further
  // flows are of a larger unit, such as an agent's session.
  bool is_part = event->flags & PPROF_FLAG_REQUEST && event->num_flows > 1;
  for (size_t i = is_part; i < event->num_flows; i++) {
    part.flow = event->flows[i];
    if (!add_part(requests, part, has_more ? &more : NULL)) return false;
  }
  return true;
}

void ppi_requests_clear(ppi_requests *requests) {
  PPI_FREE_ALL(requests->parts, requests->more, requests->order, requests->list,
               requests->sites);
  clear_others(&requests->others);
  *requests = (ppi_requests){.max_parts = requests->max_parts};
}

static void read_part(const ppi_requests *requests, size_t number,
                      ppi_request_part *out) {
  const ppi_kept_part *kept = &requests->parts[number];
  *out = (ppi_request_part){.flow = kept->flow,
                            .start_ns = kept->start_ns,
                            .end_ns = ppi_kept_end(requests, kept),
                            .site = kept->site,
                            .lane = kept->lane};
  if (kept->more) {
    const ppi_part_more *more = &requests->more[kept->more - 1];
    out->device_start_ns = more->device_start_ns;
    out->device_end_ns = more->device_end_ns;
    out->stream = more->stream;
    out->device = more->device;
    out->window = more->window;
    out->is_async = more->is_async;
    out->is_paired = more->is_paired;
    out->is_cut = more->is_cut;
  }
  if (!requests->sites) return;
  const ppi_request_site *site = &requests->sites[kept->site];
  out->is_whole = !out->device_end_ns && site->is_whole;
  out->waits = site->waits;
}

void ppi_requests_parts(const ppi_requests *requests, size_t at, size_t num,
                        ppi_request_part *out) {
  for (size_t i = 0; i < num; i++)
    read_part(requests, requests->order[at + i], &out[i]);
}

// ---- in order ----

// Sorts by flow with a radix sort from the lowest digit, between two arrays.
static void order_by_flow(const ppi_requests *requests, uint32_t *order,
                          uint32_t *spare) {
  enum { DIGIT = 11, NUM_DIGITS = 1 << DIGIT };
  const ppi_kept_part *parts = requests->parts;
  uint64_t differs = 0;
  for (size_t i = 0; i < requests->num; i++) {
    differs |= parts[i].flow ^ parts[0].flow;
    order[i] = (uint32_t)i;
  }
  for (unsigned shift = 0; shift < 64 && differs >> shift; shift += DIGIT) {
    size_t begins[NUM_DIGITS + 1] = {0};
    for (size_t i = 0; i < requests->num; i++)
      begins[(parts[i].flow >> shift) % NUM_DIGITS + 1]++;
    for (size_t i = 0; i < NUM_DIGITS; i++) begins[i + 1] += begins[i];
    for (size_t i = 0; i < requests->num; i++)
      spare[begins[(parts[order[i]].flow >> shift) % NUM_DIGITS]++] = order[i];
    memcpy(order, spare, requests->num * sizeof *order);
  }
}

static bool is_before(const ppi_requests *requests, const ppi_keyed *a,
                      const ppi_keyed *b) {
  if (a->key != b->key) return a->key < b->key;
  ppi_request_part left, right;
  read_part(requests, a->value, &left);
  read_part(requests, b->value, &right);
  return ppi_request_part_order(&left, &right) < 0;
}

// Moves parts to their places among those of their thread, which come nearly in
// order, by their ends. One that would move far stays on the way.
static void insert_parts(const ppi_requests *requests, ppi_keyed *by,
                         const uint32_t *order, size_t num) {
  enum { FAR = 32 };
  for (size_t i = 1, first = 0; i < num; i++) {
    const ppi_keyed added = by[i];
    size_t to = i;
    if (requests->parts[order[i]].lane != requests->parts[order[i - 1]].lane)
      first = i;
    for (; to > first && is_before(requests, &added, &by[to - 1]); to--) {
      if (i - to == FAR) {
        first = to;
        break;
      }
      by[to] = by[to - 1];
    }
    by[to] = added;
  }
}

// The end of the parts in order from a place on.
static size_t end_of_run(const ppi_requests *requests, const ppi_keyed *by,
                         size_t num, size_t at) {
  for (at++; at < num && !is_before(requests, &by[at], &by[at - 1]);) at++;
  return at;
}

// Merges runs in order by two, until all are one; `spare` has as much room.
// Answers where they are.
static ppi_keyed *merge_parts(const ppi_requests *requests, ppi_keyed *by,
                              ppi_keyed *spare, size_t num) {
  while (end_of_run(requests, by, num, 0) < num) {
    ppi_keyed *merged = spare;
    for (size_t from = 0, end, to = 0; from < num; from = end) {
      size_t middle = end_of_run(requests, by, num, from), right = middle;
      end = middle < num ? end_of_run(requests, by, num, middle) : num;
      while (from < middle || right < end) {
        bool is_right =
            from == middle ||
            (right < end && is_before(requests, &by[right], &by[from]));
        merged[to++] = by[is_right ? right++ : from++];
      }
    }
    spare = by;
    by = merged;
  }
  return by;
}

// Sorts the parts of one flow by begin; `by` has room for twice as many.
static void order_by_begin(const ppi_requests *requests, uint32_t *order,
                           size_t num, ppi_keyed *by) {
  for (size_t i = 0; i < num; i++)
    by[i] = (ppi_keyed){requests->parts[order[i]].start_ns, order[i]};
  insert_parts(requests, by, order, num);
  by = merge_parts(requests, by, by + num, num);
  for (size_t i = 0; i < num; i++) order[i] = (uint32_t)by[i].value;
}

// The request that begins `at` this place, of a flow that ends at `end`. If the
// first stage begins again after all earlier parts have ended, the number
// belongs to another request.
static ppi_request next_request(const ppi_requests *requests, size_t at,
                                size_t end) {
  static const ppi_part_more none;
  const ppi_kept_part *first = &requests->parts[requests->order[at]];
  ppi_request next = {.start_ns = first->start_ns, .at = at};
  uint32_t window = first->more ? requests->more[first->more - 1].window : 0;
  for (; at < end; at++, next.num++) {
    const ppi_kept_part *part = &requests->parts[requests->order[at]];
    next.is_reused =
        next.num && part->site == first->site && part->start_ns >= next.end_ns;
    if (next.is_reused) break;
    const ppi_part_more *more =
        part->more ? &requests->more[part->more - 1] : &none;
    uint64_t last_ns =
        PPI_MAX(ppi_kept_end(requests, part), more->device_end_ns);
    next.end_ns = PPI_MAX(next.end_ns, last_ns);
    next.is_cut |= more->is_cut;
    next.crosses |= more->window != window;
  }
  return next;
}

static bool list_requests(ppi_requests *requests, size_t at, size_t end) {
  while (at < end) {
    const ppi_request next = next_request(requests, at, end);
    if (!PPI_PUSH(requests->list, requests->num_list, requests->list_capacity,
                  next))
      return false;
    at += next.num;
  }
  return true;
}

bool ppi_requests_order(ppi_requests *requests) {
  const ppi_kept_part *parts = requests->parts;
  size_t num = requests->num, capacity = 0;
  uint32_t *order = ppi_realloc(NULL, num * sizeof *order);
  uint32_t *spare = ppi_realloc(NULL, num * sizeof *spare);
  bool ordered = order && spare;
  ppi_keyed *by = NULL;
  requests->order = order;
  if (ordered) order_by_flow(requests, order, spare);
  ppi_free(spare);
  for (size_t i = 0, end; i < num && ordered; i = end) {
    for (end = i + 1;
         end < num && parts[order[end]].flow == parts[order[i]].flow;)
      end++;
    ordered = PPI_ROOM(by, capacity, 2 * (end - i));
    if (!ordered) break;
    order_by_begin(requests, order + i, end - i, by);
    ordered = list_requests(requests, i, end);
  }
  ppi_free(by);
  return ordered;
}
