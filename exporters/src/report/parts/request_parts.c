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
  return (hash_of(flow) & (((uint64_t)1 << requests->thinning) - 1)) == 0;
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

static bool add_more(ppi_requests *requests, const ppi_request_part *part,
                     uint32_t *out) {
  bool is_plain = part->end_ns - part->start_ns <= UINT32_MAX &&
                  !part->device_start_ns && !part->device_end_ns &&
                  !part->stream && !part->device && !part->window &&
                  !part->is_async && !part->is_paired && !part->is_cut;
  *out = 0;
  if (is_plain) return true;
  const ppi_part_more more = {.end_ns = part->end_ns,
                              .device_start_ns = part->device_start_ns,
                              .device_end_ns = part->device_end_ns,
                              .stream = part->stream,
                              .device = part->device,
                              .window = part->window,
                              .is_async = part->is_async,
                              .is_paired = part->is_paired,
                              .is_cut = part->is_cut};
  *out = (uint32_t)requests->num_more + 1;
  return PPI_PUSH(requests->more, requests->num_more, requests->more_capacity,
                  more);
}

static bool add_part(ppi_requests *requests, const ppi_request_part *part) {
  size_t most =
      requests->max_parts ? requests->max_parts : PPI_REQUESTS_MAX_PARTS;
  if (!is_kept(requests, part->flow)) return true;
  uint32_t more;
  if (!PPI_ROOM(requests->parts, requests->capacity, requests->num + 1) ||
      !add_more(requests, part, &more))
    return false;
  requests->parts[requests->num++] = (ppi_kept_part){
      part->flow, part->start_ns, (uint32_t)(part->end_ns - part->start_ns),
      part->site, part->lane,     more};
  while (requests->num > most && requests->thinning < 63) thin(requests);
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
static bool add_other(ppi_requests *requests, const ppi_request_part *part) {
  ppi_request_others *others = &requests->others;
  size_t most =
      requests->max_parts ? requests->max_parts : PPI_REQUESTS_MAX_PARTS;
  if (others->dropped || part->device_end_ns <= part->device_start_ns)
    return true;
  if (others->num_ranges++ >= most) {
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
  if (event->num_flows && !(event->flags & PPROF_FLAG_REQUEST))
    requests->has_stages = true;
  const uint32_t cut =
      PPROF_FLAG_CLIPPED | PPROF_FLAG_ABANDONED | PPROF_FLAG_LATE;
  ppi_request_part part = {
      .start_ns = event->start_ns,
      .end_ns = PPI_MAX(event->start_ns, event->end_ns),
      .device_start_ns = event->device_start_ns,
      .device_end_ns = PPI_MAX(event->device_start_ns, event->device_end_ns),
      .site = event->site,
      .lane = event->lane,
      .stream = event->stream,
      .device = device,
      .window = event->window,
      .is_async = event->flags & PPROF_FLAG_ASYNC,
      .is_paired = event->flags & PPROF_FLAG_PAIRED,
      .is_cut = event->flags & cut};
  if (event->num_flows == 0) return add_other(requests, &part);
  // The first flow of a request's own range is the request's number. Further
  // flows are of a larger unit, such as an agent's session.
  bool is_part = event->flags & PPROF_FLAG_REQUEST && event->num_flows > 1;
  for (size_t i = is_part; i < event->num_flows; i++) {
    part.flow = event->flows[i];
    if (!add_part(requests, &part)) return false;
  }
  return true;
}

void ppi_requests_clear(ppi_requests *requests) {
  PPI_FREE_ALL(requests->parts, requests->more, requests->order, requests->list,
               requests->whole_sites);
  clear_others(&requests->others);
  *requests = (ppi_requests){.max_parts = requests->max_parts};
}

static void read_part(const ppi_requests *requests, size_t number,
                      ppi_request_part *out) {
  const ppi_kept_part *kept = &requests->parts[number];
  *out = (ppi_request_part){.flow = kept->flow,
                            .start_ns = kept->start_ns,
                            .end_ns = kept->start_ns + kept->length_ns,
                            .site = kept->site,
                            .lane = kept->lane};
  if (kept->more) {
    const ppi_part_more *more = &requests->more[kept->more - 1];
    out->end_ns = more->end_ns;
    out->device_start_ns = more->device_start_ns;
    out->device_end_ns = more->device_end_ns;
    out->stream = more->stream;
    out->device = more->device;
    out->window = more->window;
    out->is_async = more->is_async;
    out->is_paired = more->is_paired;
    out->is_cut = more->is_cut;
  }
  out->is_whole = requests->whole_sites && !out->device_end_ns &&
                  requests->whole_sites[out->site];
}

void ppi_requests_parts(const ppi_requests *requests, const ppi_request *of,
                        ppi_request_part *out) {
  for (size_t i = 0; i < of->num; i++)
    read_part(requests, requests->order[of->at + i], &out[i]);
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

// Sorts the parts of one flow by begin; `by` has room for them.
static void order_by_begin(const ppi_requests *requests, uint32_t *order,
                           size_t num, ppi_keyed *by) {
  for (size_t i = 0; i < num; i++)
    by[i] = (ppi_keyed){requests->parts[order[i]].start_ns, order[i]};
  ppi_sort_keyed(by, num);
  for (size_t i = 0; i < num; i++) {
    const uint32_t added = (uint32_t)by[i].value;
    size_t to = i;
    for (; to && by[to - 1].key == by[i].key; to--) {
      ppi_request_part part, before;
      read_part(requests, added, &part);
      read_part(requests, order[to - 1], &before);
      if (ppi_request_part_order(&before, &part) <= 0) break;
      order[to] = order[to - 1];
    }
    order[to] = added;
  }
}

static uint64_t last_at(const ppi_requests *requests,
                        const ppi_kept_part *part) {
  if (!part->more) return part->start_ns + part->length_ns;
  const ppi_part_more *more = &requests->more[part->more - 1];
  return PPI_MAX(more->end_ns, more->device_end_ns);
}

// The request that begins `at` this place, of a flow that ends at `end`. If the
// first stage begins again after all earlier parts have ended, the number
// belongs to another request.
static ppi_request next_request(const ppi_requests *requests, size_t at,
                                size_t end) {
  const ppi_kept_part *first = &requests->parts[requests->order[at]];
  ppi_request next = {.start_ns = first->start_ns, .at = at};
  uint32_t window = first->more ? requests->more[first->more - 1].window : 0;
  for (; at < end; at++, next.num++) {
    const ppi_kept_part *part = &requests->parts[requests->order[at]];
    next.is_reused =
        next.num && part->site == first->site && part->start_ns >= next.end_ns;
    if (next.is_reused) break;
    next.end_ns = PPI_MAX(next.end_ns, last_at(requests, part));
    const ppi_part_more *more =
        part->more ? &requests->more[part->more - 1] : NULL;
    next.is_cut |= more && more->is_cut;
    next.crosses |= (more ? more->window : 0) != window;
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
    ordered = PPI_ROOM(by, capacity, end - i);
    if (!ordered) break;
    order_by_begin(requests, order + i, end - i, by);
    ordered = list_requests(requests, i, end);
  }
  ppi_free(by);
  return ordered;
}
