// SPDX-License-Identifier: Apache-2.0
//
// Adds kernels to the calls that launched them.
#include "report/parts/device_calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "event/launch_shape.h"
#include "report/figures/keyed.h"

static ppi_map_key number_key(const ppi_device_call_key *key) {
  return (ppi_map_key){(uint64_t)key->thread << 32 | key->path, key->start_ns};
}

static bool add_call(ppi_device_calls *calls, ppi_map_key key,
                     const ppi_device_call *call, size_t *out) {
  size_t at = ppi_map_number(&calls->numbers, key);
  if (at > calls->num) return false;
  *out = at;
  return at < calls->num ||
         PPI_PUSH(calls->items, calls->num, calls->capacity, *call);
}

bool ppi_device_calls_at(ppi_device_calls *calls,
                         const ppi_device_call_key *key, uint64_t end_ns,
                         uint32_t *out) {
  const ppi_device_call fresh = {.path = key->path, .start_ns = key->start_ns};
  size_t at = 0;
  if (!add_call(calls, number_key(key), &fresh, &at)) return false;
  if (end_ns) calls->items[at].end_ns = end_ns;
  *out = (uint32_t)at + 1;
  return true;
}

void ppi_device_calls_end(ppi_device_calls *calls,
                          const ppi_device_call_key *key, uint64_t end_ns) {
  size_t at = ppi_map_find(&calls->numbers, number_key(key));
  if (at < calls->num) calls->items[at].end_ns = end_ns;
}

static bool add_piece(ppi_pieces *to, ppi_device_call *call, ppi_piece piece) {
  piece.next = call->pieces;
  if (!PPI_PUSH(to->items, to->num, to->capacity, piece)) return false;
  call->pieces = (uint32_t)to->num;
  return true;
}

bool ppi_device_calls_take(ppi_device_calls *calls, uint32_t number,
                           ppi_paths *paths, const ppi_point *point) {
  ppi_device_call *call = &calls->items[number - 1];
  ppi_run_path *path = ppi_paths_item(paths, call->path);
  if (!path->use) path->use = ppi_alloc(sizeof *path->use);
  if (!path->use) return false;
  ppi_device_use *use = &path->use->sums;
  const ppi_piece piece = {.launch_ns = point->time_ns,
                           .start_ns = point->device_start_ns,
                           .end_ns = point->device_start_ns + point->value};
  if (!add_piece(&calls->pieces, call, piece)) return false;
  use->by_wait += point->is_by_wait;
  if (point->device_class == PPI_DEVICE_KERNEL) {
    use->kernels++;
    return true;
  }
  use->copies++;
  use->copied_bytes += point->bytes;
  use->copy_ns += point->value;
  return true;
}

// ---- a horizon ----

PPI_ORDER(compare_launches, ppi_piece,
          PPI_UP(is_old) PPI_UP(launch_ns) PPI_UP(start_ns))

PPI_ORDER(compare_starts, ppi_piece,
          PPI_UP(start_ns) PPI_UP(end_ns) PPI_UP(launch_ns))

// All pieces of a launch come in one sweep.
static bool count_launches(const ppi_pieces *of, ppi_device_use *use) {
  if (of->num > 1)
    qsort(of->items, of->num, sizeof *of->items, compare_launches);
  for (size_t i = 0; i < of->num && !of->items[i].is_old; i++) {
    uint64_t launch_ns = of->items[i].launch_ns;
    if (i && of->items[i - 1].launch_ns == launch_ns) continue;
    uint64_t start_ns = PPI_MAX(of->items[i].start_ns, launch_ns);
    if (!ppi_histogram_add(&use->delays, start_ns - launch_ns)) return false;
    use->launches++;
  }
  return true;
}

static void count_gap(ppi_device_use *use, uint64_t from_ns,
                      const ppi_piece *next) {
  if (next->launch_ns <= from_ns) {
    use->gap_ns[PPI_GAP_QUEUED] += next->start_ns - from_ns;
    return;
  }
  uint64_t launch_ns = PPI_MIN(next->launch_ns, next->start_ns);
  use->gap_ns[PPI_GAP_NOT_LAUNCHED] += launch_ns - from_ns;
  use->gap_ns[PPI_GAP_LAUNCH] += next->start_ns - launch_ns;
}

static void count_span(ppi_device_call *call, ppi_device_use *use,
                       const ppi_piece *piece) {
  if (!call->has_any) call->first_ns = call->last_ns = piece->start_ns;
  call->has_any = true;
  if (piece->start_ns > call->last_ns) count_gap(use, call->last_ns, piece);
  call->last_ns = PPI_MAX(call->last_ns, piece->end_ns);
}

static bool count_call(const ppi_device_call *call, ppi_device_use *use) {
  uint64_t span_ns = call->last_ns - call->first_ns;
  use->host_ns += PPI_MAX(call->end_ns, call->start_ns) - call->start_ns;
  ppi_spread_add(&use->spans, span_ns);
  return ppi_histogram_add(&use->span_times, span_ns);
}

static bool list_pieces(ppi_device_calls *calls, const ppi_device_call *call) {
  ppi_pieces *one = &calls->one;
  const ppi_piece *all = calls->pieces.items;
  one->num = 0;
  for (uint32_t at = call->pieces; at; at = all[at - 1].next)
    if (!PPI_PUSH(one->items, one->num, one->capacity, all[at - 1]))
      return false;
  return true;
}

// Pieces that are not counted yet go to `left`.
static bool settle(ppi_device_calls *calls, ppi_device_call *call,
                   ppi_paths *paths, uint64_t horizon_ns, ppi_pieces *left) {
  ppi_path_use *use = ppi_paths_item(paths, call->path)->use;
  const ppi_pieces *one = &calls->one;
  if (!use) return true;  // the call has no piece
  bool done = list_pieces(calls, call) && count_launches(one, &use->sums);
  size_t i = 0;
  if (one->num > 1)
    qsort(one->items, one->num, sizeof *one->items, compare_starts);
  for (; i < one->num && done; i++) {
    const ppi_piece *piece = &one->items[i];
    if (piece->start_ns >= horizon_ns && !call->end_ns) break;
    count_span(call, &use->sums, piece);
    done = ppi_union_add(&use->busy, piece->start_ns, piece->end_ns);
  }
  bool is_whole = call->end_ns || horizon_ns == UINT64_MAX;
  if (is_whole && done) done = count_call(call, &use->sums);
  call->pieces = 0;
  for (; i < one->num && done; i++) {
    one->items[i].is_old = true;
    done = add_piece(left, call, one->items[i]);
  }
  return done;
}

// Removes ended calls; the others keep their order.
static bool keep_open(ppi_device_calls *calls) {
  ppi_device_calls kept = {0};
  bool done = true;
  for (size_t i = 0, at; i < calls->num; i++) {
    ppi_device_call *call = &calls->items[i];
    if (!call->end_ns && done)
      done = add_call(&kept, calls->numbers.keys[i], call, &at);
  }
  ppi_map_clear(&calls->numbers);
  ppi_free(calls->items);
  kept.num_kept = kept.num;
  kept.pieces = calls->pieces;
  kept.one = calls->one;
  *calls = kept;
  return done;
}

bool ppi_device_calls_settle(ppi_device_calls *calls, ppi_paths *paths,
                             uint64_t horizon_ns) {
  ppi_pieces left = {0};
  bool done = true;
  for (size_t i = 0; i < calls->num && done; i++)
    done = settle(calls, &calls->items[i], paths, horizon_ns, &left);
  ppi_free(calls->pieces.items);
  calls->pieces = left;
  return done && (!calls->num || keep_open(calls));
}

void ppi_device_calls_clear(ppi_device_calls *calls) {
  ppi_map_clear(&calls->numbers);
  PPI_FREE_ALL(calls->items, calls->pieces.items, calls->one.items);
  *calls = (ppi_device_calls){0};
}

// ---- ranges in which kernels of graphs were captured ----

#define LONGEST_NAME 4096

// 0: no site has that name.
static uint32_t site_of(const ppi_run_ids *ids, const char *name) {
  for (size_t i = 1; i < ids->sites.num; i++) {
    const ppi_run_site *site = ids->sites.items[i];
    if (site && site->is_defined &&
        ppi_device_class_of(site->category) == PPI_DEVICE_OTHER &&
        strcmp(site->name, name) == 0)
      return (uint32_t)i;
  }
  return 0;
}

static ppi_capture *item_of(ppi_captures *captures, uint32_t id) {
  const ppi_capture fresh = {.num = 0};
  return ppi_keyed_mapped(
      PPI_KEYED(captures->items, captures->num, captures->capacity),
      &captures->ids, (ppi_map_key){0, id}, &fresh);
}

bool ppi_captures_define(ppi_captures *captures, const ppi_run_ids *ids,
                         uint32_t id, const char *text) {
  const char *at = ppi_captured_find(text);
  char name[LONGEST_NAME];
  bool done = true;
  if (!at && ppi_captures_at(captures, id) == 0) return true;
  ppi_capture *capture = item_of(captures, id);
  if (!capture) return false;
  capture->num = 0;  // a new definition replaces the sites
  while (at && done && ppi_captured_next(&at, name, sizeof name)) {
    uint32_t site = site_of(ids, name);
    if (site)
      done = PPI_PUSH(capture->sites, capture->num, capture->capacity, site);
  }
  return done;
}

uint32_t ppi_captures_at(const ppi_captures *captures, uint32_t attributes) {
  size_t at = ppi_map_find(&captures->ids, (ppi_map_key){0, attributes});
  return at < captures->num ? (uint32_t)at + 1 : 0;
}

void ppi_captures_clear(ppi_captures *captures) {
  for (size_t i = 0; i < captures->num; i++) ppi_free(captures->items[i].sites);
  ppi_map_clear(&captures->ids);
  ppi_free(captures->items);
  *captures = (ppi_captures){.num = 0};
}
