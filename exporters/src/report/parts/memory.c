// SPDX-License-Identifier: Apache-2.0
//
// Counts memory by place. Names alone decide which places have a row of their
// own, so the order of events and merges has no effect.
#include "report/parts/memory.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/figures/keyed.h"
#include "report/figures/rows.h"

// Rounds. A value that is no number of bytes is 0; a huge value is 2^62.
static uint64_t bytes_of(double value) {
  const double most = 0x1p62;
  if (!(value > 0) || isinf(value)) return 0;
  return value < most ? (uint64_t)(value + 0.5) : (uint64_t)most;
}

PPI_ORDER(compare_owners, ppi_memory_owner,
          PPI_UP(site) PPI_UP(sums.is_reserved))

// Adds the sums of an owner of the place.
static bool add_owner(ppi_memory_place *place, const ppi_memory_owner *from) {
  const ppi_memory_owner key = {
      .site = from->site, .sums = {.is_reserved = from->sums.is_reserved}};
  ppi_memory_owner *owner = ppi_keyed_sorted(
      PPI_KEYED(place->owners, place->num_owners, place->owners_capacity), &key,
      compare_owners);
  if (!owner) return false;
  ppi_report_memory *sums = &owner->sums;
  sums->allocations += from->sums.allocations;
  sums->frees += from->sums.frees;
  sums->allocated_bytes =
      ppi_bytes_sum(sums->allocated_bytes, from->sums.allocated_bytes);
  sums->freed_bytes = ppi_bytes_sum(sums->freed_bytes, from->sums.freed_bytes);
  return true;
}

static void add_peak(ppi_memory_place *place, bool is_reserved,
                     uint64_t bytes) {
  place->is_known[is_reserved] = true;
  place->peak_bytes[is_reserved] =
      PPI_MAX(place->peak_bytes[is_reserved], bytes);
}

static void clear_place(ppi_memory_place *place) {
  ppi_free(place->name);
  ppi_free(place->owners);
  *place = (ppi_memory_place){0};
}

// Moves the last place into the others to make room.
static bool fold_last(ppi_memory *memory) {
  ppi_memory_place *last = &memory->places[memory->num_places - 1];
  for (int kind = 0; kind < 2; kind++)
    if (last->is_known[kind])
      add_peak(&memory->others, kind, last->peak_bytes[kind]);
  for (size_t i = 0; i < last->num_owners; i++)
    if (!add_owner(&memory->others, &last->owners[i])) return false;
  clear_place(last);
  memory->num_places--;
  return true;
}

PPI_ORDER(compare_places, ppi_memory_place, PPI_BY_TEXT(name))

// NULL when out of memory.
static ppi_memory_place *place_at(ppi_memory *memory, const char *name) {
  const ppi_memory_place key = {.name = (char *)name};
  if (strcmp(name, PPI_OTHER_PLACES) == 0) return &memory->others;
  ppi_memory_place *place = ppi_keyed_sorted(
      PPI_KEYED(memory->places, memory->num_places, memory->places_capacity),
      &key, compare_places);
  if (place && place->name == name) place->name = ppi_strdup(name);
  if (!place || !place->name) return NULL;
  if (memory->num_places <= PPI_REPORT_PLACES) return place;
  bool is_last = place == &memory->places[PPI_REPORT_PLACES];
  if (!fold_last(memory)) return NULL;
  return is_last ? &memory->others : place;
}

bool ppi_memory_level(ppi_memory *memory, const char *place,
                      const pprof_event *event, ppi_memory_change *out) {
  bool is_reserved = event->flags & PPROF_FLAG_RESERVED;
  double change = event->work ? event->work->bytes : 0;
  *out = (ppi_memory_change){.is_reserved = is_reserved};
  out->bytes =
      change < 0 ? -(int64_t)bytes_of(-change) : (int64_t)bytes_of(change);
  if (!isfinite(event->value) && out->bytes == 0) return true;
  ppi_memory_place *at = place_at(memory, place);
  if (!at) return false;
  add_peak(at, is_reserved, bytes_of(event->value));
  if (at != &memory->others)
    ppi_low_water_add(&at->lows[is_reserved], event->start_ns,
                      bytes_of(event->value));
  return true;
}

bool ppi_memory_own(ppi_memory *memory, const char *place, uint32_t owner,
                    const ppi_memory_change *change) {
  if (change->bytes == 0) return true;
  ppi_memory_place *at = place_at(memory, place);
  if (!at) return false;
  ppi_memory_owner sums = {.site = owner,
                           .sums = {.is_reserved = change->is_reserved}};
  bool is_more = change->bytes > 0;
  sums.sums.allocations = is_more;
  sums.sums.frees = !is_more;
  sums.sums.allocated_bytes = is_more ? (uint64_t)change->bytes : 0;
  sums.sums.freed_bytes = is_more ? 0 : (uint64_t)-change->bytes;
  return add_owner(at, &sums);
}

static bool fill_place(const ppi_memory_place *place, const char *name,
                       ppi_run_ids *ids, ppi_figures *out) {
  if (!place->is_known[0] && !place->is_known[1]) return true;
  const ppi_report_place levels = {
      .name = (char *)name,
      .is_known = {place->is_known[0], place->is_known[1]},
      .peak_bytes = {place->peak_bytes[0], place->peak_bytes[1]},
      .growth = {ppi_low_water_growth(&place->lows[0]),
                 ppi_low_water_growth(&place->lows[1])}};
  bool done = ppi_figures_add_row(out, PPI_FIGURES_places, &levels);
  for (size_t i = 0; i < place->num_owners && done; i++) {
    const ppi_memory_owner *owner = &place->owners[i];
    const ppi_run_site *site =
        owner->site ? ppi_run_site_at(ids, owner->site) : NULL;
    if (owner->site && !site) return false;
    ppi_report_memory sums = owner->sums;
    sums.name = site ? site->name : (char *)"";
    sums.place = (char *)name;
    done = ppi_figures_add_row(out, PPI_FIGURES_memory, &sums);
  }
  return done;
}

bool ppi_memory_fill(const ppi_memory *memory, ppi_run_ids *ids,
                     ppi_figures *out) {
  for (size_t i = 0; i < memory->num_places; i++)
    if (!fill_place(&memory->places[i], memory->places[i].name, ids, out))
      return false;
  return fill_place(&memory->others, PPI_OTHER_PLACES, ids, out);
}

void ppi_memory_clear(ppi_memory *memory) {
  for (size_t i = 0; i < memory->num_places; i++)
    clear_place(&memory->places[i]);
  ppi_free(memory->places);
  clear_place(&memory->others);
  *memory = (ppi_memory){0};
}

// ---- what each range allocated ----

bool ppi_allocations_add(ppi_allocations *allocations, const char *place,
                         uint64_t time_ns, int64_t bytes) {
  bool is_host = strncmp(place, "cpu", 3) == 0;
  ppi_point point = {
      .time_ns = time_ns,
      .value = (uint64_t)bytes,
      .device_class = is_host ? PPI_MEMORY_HOST : PPI_MEMORY_DEVICE};
  return ppi_scopes_add(&allocations->scopes, &point);
}

bool ppi_allocations_prepare(ppi_allocations *allocations,
                             uint64_t horizon_ns) {
  bool done = ppi_scopes_prepare(&allocations->scopes, horizon_ns);
  allocations->num_left = allocations->scopes.num_settled;
  allocations->low_ns = UINT64_MAX;
  return done;
}

// Ranges come by falling end, so all ranges around the last point have come.
static void settle_last(ppi_allocations *allocations) {
  const ppi_point *point = &allocations->scopes.points[--allocations->num_left];
  if (point->time_ns >= allocations->low_ns) return;
  ppi_net_bytes change = {{0}};
  change.bytes[point->device_class] = (int64_t)point->value;
  allocations->outside.num++;
  ppi_net_add(&allocations->outside.sums, &change);
}

bool ppi_allocations_meet(ppi_allocations *allocations,
                          const ppi_buffered *range, bool is_whole,
                          ppi_net_bytes *out) {
  const ppi_point *points = allocations->scopes.points;
  ppi_device_sums sums = {{0}};
  *out = (ppi_net_bytes){{0}};
  while (is_whole && allocations->num_left &&
         points[allocations->num_left - 1].time_ns > range->end_ns)
    settle_last(allocations);
  allocations->low_ns = PPI_MIN(allocations->low_ns, range->start_ns);
  if (!is_whole)
    return ppi_scopes_border(&allocations->scopes, range->start_ns);
  ppi_scopes_inside(&allocations->scopes, range->start_ns, range->end_ns + 1,
                    &sums);
  for (int i = 0; i < PPI_NUM_MEMORIES; i++)
    out->bytes[i] = (int64_t)sums.ns[i];
  return true;
}

bool ppi_allocations_carry(ppi_allocations *allocations) {
  const ppi_borders none = {.num = 0};
  while (allocations->num_left) settle_last(allocations);
  return ppi_scopes_carry(&allocations->scopes, &none);
}

void ppi_allocations_clear(ppi_allocations *allocations) {
  ppi_scopes_clear(&allocations->scopes);
  *allocations = (ppi_allocations){.num_left = 0};
}
