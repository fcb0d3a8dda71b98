// SPDX-License-Identifier: Apache-2.0
//
// Attributes device time to host ranges by thread and submit time.
#include "report/spans/scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

bool ppi_scopes_add(ppi_scopes *scopes, const ppi_point *point) {
  return PPI_PUSH(scopes->points, scopes->num_points, scopes->points_capacity,
                  *point);
}

void ppi_device_sums_add(ppi_device_sums *into, const ppi_device_sums *from) {
  for (int i = 0; i < PPI_NUM_DEVICE_CLASSES; i++) into->ns[i] += from->ns[i];
}

void ppi_device_spreads_add(ppi_device_spreads *spreads,
                            const ppi_device_sums *sums, bool is_cut) {
  uint64_t kernels = sums->ns[PPI_DEVICE_KERNEL];
  uint64_t general = kernels + sums->ns[PPI_DEVICE_COPY];
  ppi_spread_add_either(&spreads->kernels, kernels, is_cut);
  uint64_t unpaired = general + sums->ns[PPI_DEVICE_OTHER];
  // Negative if this range submitted an outer paired range only, and the inner
  // ranges measure a little longer.
  uint64_t paired = sums->ns[PPI_DEVICE_PAIRED];
  if (paired > INT64_MAX) paired = 0;
  ppi_spread_add_either(&spreads->general, general, is_cut);
  ppi_spread_add_either(&spreads->unpaired, unpaired, is_cut);
  ppi_spread_add_either(&spreads->all, unpaired + paired, is_cut);
}

static void complete(ppi_spread *spread, const ppi_spread *host) {
  if (spread->n >= host->n) return;
  if (ppi_spread_calls(spread) < ppi_spread_calls(host)) spread->min = 0;
  spread->n = host->n;
  spread->num_cut = host->num_cut;
}

void ppi_device_spreads_complete(ppi_device_spreads *spreads,
                                 const ppi_spread *host) {
  complete(&spreads->all, host);
  complete(&spreads->unpaired, host);
  complete(&spreads->kernels, host);
  complete(&spreads->general, host);
}

// Compares all fields that matter: the order of arrival has no effect.
PPI_ORDER(compare_points, ppi_point,
          PPI_UP(time_ns) PPI_UP(site) PPI_UP(device_start_ns) PPI_UP(value))

// The first time that is not before `time_ns`; the search starts at `from`, in
// steps that double.
static size_t lower_bound(const uint64_t *times_ns, size_t num, size_t from,
                          uint64_t time_ns) {
  size_t low = from, high = from;
  for (size_t step = 1; low > 0 && times_ns[low - 1] >= time_ns; step *= 2) {
    high = low - 1;
    low = low > step ? low - step : 0;
  }
  for (size_t step = 1; high < num && times_ns[high] < time_ns; step *= 2) {
    low = high + 1;
    high = num - high > step ? high + step : num;
  }
  return low +
         ppi_count_below(times_ns + low, high - low, sizeof time_ns, time_ns);
}

static bool is_sorted(const ppi_scopes *scopes) {
  for (size_t i = 1; i < scopes->num_points; i++)
    if (compare_points(&scopes->points[i - 1], &scopes->points[i]) > 0)
      return false;
  return true;
}

static void add_up(ppi_scopes *scopes) {
  size_t num = 0, k = 0;
  ppi_device_sums sums = {{0}};
  for (size_t i = 0; i < scopes->num_settled || k < scopes->num_carried;) {
    const ppi_point *point = &scopes->points[i];
    bool is_carried = i == scopes->num_settled ||
                      (k < scopes->num_carried &&
                       scopes->carried[k].time_ns < point->time_ns);
    if (!is_carried && point->kind == PPI_POINT_MEMORY) {
      i++;
      continue;
    }
    uint64_t time_ns = is_carried ? scopes->carried[k].time_ns : point->time_ns;
    scopes->times_ns[num] = time_ns;
    scopes->before[num++] = sums;
    if (is_carried)
      ppi_device_sums_add(&sums, &scopes->carried[k++].sums);
    else
      sums.ns[scopes->points[i++].device_class] += point->value;
  }
  scopes->before[num] = sums;
  scopes->num_before = scopes->last = num;
}

bool ppi_scopes_prepare(ppi_scopes *scopes, uint64_t horizon_ns) {
  if (!is_sorted(scopes))
    qsort(scopes->points, scopes->num_points, sizeof *scopes->points,
          compare_points);
  size_t num = scopes->num_points;
  while (num && horizon_ns != UINT64_MAX &&
         scopes->points[num - 1].time_ns >= horizon_ns)
    num--;
  scopes->num_settled = num;
  scopes->num_before = 0;
  if (num + scopes->num_carried == 0) return true;
  size_t most = num + scopes->num_carried + 1;
  scopes->times_ns = ppi_realloc(NULL, most * sizeof *scopes->times_ns);
  scopes->before = ppi_realloc(NULL, most * sizeof *scopes->before);
  if (!scopes->times_ns || !scopes->before) return false;
  add_up(scopes);
  return true;
}

static void add_between(const ppi_scopes *scopes, size_t from, size_t to,
                        ppi_device_sums *out) {
  for (int i = 0; i < PPI_NUM_DEVICE_CLASSES; i++)
    out->ns[i] += scopes->before[to].ns[i] - scopes->before[from].ns[i];
}

bool ppi_scopes_inside(ppi_scopes *scopes, uint64_t start_ns, uint64_t end_ns,
                       ppi_device_sums *out) {
  if (scopes->num_before == 0 || end_ns <= start_ns) return false;
  size_t to =
      lower_bound(scopes->times_ns, scopes->num_before, scopes->last, end_ns);
  scopes->last = to;
  size_t from = lower_bound(scopes->times_ns, scopes->num_before, to, start_ns);
  if (from == to) return false;
  add_between(scopes, from, to, out);
  return true;
}

bool ppi_borders_add(ppi_borders *borders, uint64_t time_ns) {
  return PPI_PUSH(borders->times_ns, borders->num, borders->capacity, time_ns);
}

void ppi_borders_sort(ppi_borders *borders) {
  ppi_sort_numbers(borders->times_ns, borders->num);
}

// A thread without submissions needs no borders.
bool ppi_scopes_border(ppi_scopes *scopes, uint64_t time_ns) {
  if (!scopes->num_before) return true;
  return ppi_borders_add(&scopes->borders, time_ns);
}

// The borders around a time.
typedef struct border_pair {
  bool is_inside;  // there is one before it
  uint64_t start_ns, next_ns;
} border_pair;

static void narrow(border_pair *pair, const ppi_borders *borders,
                   uint64_t time_ns) {
  size_t next = lower_bound(borders->times_ns, borders->num, 0, time_ns + 1);
  if (next < borders->num && borders->times_ns[next] < pair->next_ns)
    pair->next_ns = borders->times_ns[next];
  if (!next) return;
  uint64_t start_ns = borders->times_ns[next - 1];
  if (!pair->is_inside || start_ns > pair->start_ns) pair->start_ns = start_ns;
  pair->is_inside = true;
}

// Submissions between two borders become one sum at the earlier border.
// Submissions before all borders lie in no range.
static bool melt(ppi_scopes *scopes, const ppi_borders *shared) {
  size_t num = scopes->num_before;
  scopes->num_carried = 0;
  for (size_t from = 0, to; from < num; from = to) {
    uint64_t time_ns = scopes->times_ns[from];
    if (time_ns == UINT64_MAX) break;
    border_pair pair = {false, 0, UINT64_MAX};
    narrow(&pair, &scopes->borders, time_ns);
    narrow(&pair, shared, time_ns);
    to = lower_bound(scopes->times_ns, num, from, pair.next_ns);
    if (!pair.is_inside) continue;
    if (!PPI_ROOM(scopes->carried, scopes->carried_capacity,
                  scopes->num_carried + 1))
      return false;
    ppi_submit *cell = &scopes->carried[scopes->num_carried++];
    *cell = (ppi_submit){.time_ns = pair.start_ns};
    add_between(scopes, from, to, &cell->sums);
  }
  return true;
}

bool ppi_scopes_carry(ppi_scopes *scopes, const ppi_borders *shared) {
  bool done = true;
  if (scopes->before) {
    ppi_borders_sort(&scopes->borders);
    done = melt(scopes, shared);
  }
  ppi_free(scopes->borders.times_ns);
  scopes->borders = (ppi_borders){0};
  ppi_free(scopes->times_ns);
  ppi_free(scopes->before);
  scopes->times_ns = NULL;
  scopes->before = NULL;
  scopes->num_before = 0;
  scopes->num_points -= scopes->num_settled;
  if (scopes->num_settled)
    memmove(scopes->points, scopes->points + scopes->num_settled,
            scopes->num_points * sizeof *scopes->points);
  scopes->num_settled = 0;
  return done;
}

void ppi_scopes_clear(ppi_scopes *scopes) {
  PPI_FREE_ALL(scopes->points, scopes->carried, scopes->times_ns,
               scopes->before, scopes->borders.times_ns);
  *scopes = (ppi_scopes){0};
}
