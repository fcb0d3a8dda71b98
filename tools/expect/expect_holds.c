// SPDX-License-Identifier: Apache-2.0
//
// Checks whether a run keeps a rule, and computes the figures of rules.
#include "expect/expect_holds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"

static bool keeps(const ppi_expect_rule *rule, double value) {
  bool is_equal = value >= rule->bound && value <= rule->bound;
  if (is_equal) return strchr(rule->op, '=') != NULL;
  return rule->op[0] == (value < rule->bound ? '<' : '>');
}

static void put_at(ppi_page *out, uint64_t ns) {
  ppi_page_text(out, " at ");
  ppi_page_fixed(out, (double)ns / 1e9, 6);
  ppi_page_text(out, " s");
}

// "request 17 at 0.003210 s".
static void put_unit(const ppi_expect_rule *rule, uint64_t unit, uint64_t ns,
                     ppi_page *out) {
  ppi_page_visible(out, rule->unit);
  if (strcmp(rule->unit, "run") == 0) return;
  ppi_page_format(out, " %llu", (unsigned long long)unit);
  put_at(out, ns);
}

// ---- calls in units ----

// A unit with a call that a window's edge has cut is not judged.
static bool is_cut(const ppi_expect_run *run, const ppi_expect_units *units,
                   size_t begin, size_t end) {
  for (size_t i = begin; i < end; i++)
    if (run->events[units->members[i].event].flags & PPROF_FLAG_CLIPPED)
      return true;
  return false;
}

static bool is_named(const ppi_expect_run *run, const ppi_expect_member *member,
                     const char *name) {
  return !member->is_holder &&
         ppi_expect_is(run, &run->events[member->event], name);
}

static void put_calls(const ppi_expect_run *run, const ppi_expect_rule *rule,
                      const ppi_expect_member *members, size_t num,
                      ppi_page *out) {
  const char *before = ": ";
  for (size_t i = 0; i < num; i++)
    for (size_t k = 0; k < rule->num_names; k++) {
      if (!is_named(run, &members[i], rule->names[k])) continue;
      ppi_page_text(out, before);
      ppi_page_visible(out, rule->names[k]);
      before = " -> ";
      break;
    }
  if (before[0] == ':') ppi_page_text(out, ": none of them");
}

static bool unit_has_order(const ppi_expect_rule *rule,
                           const ppi_expect_run *run,
                           const ppi_expect_member *members, size_t num) {
  size_t next = 0;
  for (size_t i = 0; i < num; i++)
    for (size_t k = 0; k < rule->num_names; k++) {
      if (!is_named(run, &members[i], rule->names[k])) continue;
      if (k != next++) return false;
      break;
    }
  return next == rule->num_names;
}

static bool unit_has_number(const ppi_expect_rule *rule,
                            const ppi_expect_run *run,
                            const ppi_expect_member *members, size_t num,
                            size_t *out) {
  *out = 0;
  for (size_t i = 0; i < num; i++)
    *out += is_named(run, &members[i], rule->names[0]);
  return keeps(rule, (double)*out);
}

// `out` may be NULL.
static bool unit_holds(const ppi_expect_rule *rule, const ppi_expect_run *run,
                       const ppi_expect_member *members, size_t num,
                       ppi_page *out) {
  size_t count = 0;
  bool is_order = rule->kind == PPI_EXPECT_ORDER;
  if (is_order ? unit_has_order(rule, run, members, num)
               : unit_has_number(rule, run, members, num, &count))
    return true;
  if (!out) return false;
  put_unit(rule, members->unit, members->start_ns, out);
  if (is_order) {
    ppi_page_text(out, " has");
    put_calls(run, rule, members, num, out);
  } else {
    ppi_page_format(out, " has %zu", count);
  }
  return false;
}

// Units come in the order of their numbers; the first in time is named.
static bool units_hold(const ppi_expect_rule *rule, const ppi_expect_run *run,
                       ppi_page *out, bool *out_ok) {
  ppi_expect_units units;
  size_t first = SIZE_MAX, first_end = 0;
  bool room = ppi_expect_units_of(run, rule->unit, &units);
  for (size_t begin = 0, end; room && begin < units.num; begin = end) {
    const ppi_expect_member *members = units.members + begin;
    end = ppi_expect_unit_end(&units, begin);
    if (is_cut(run, &units, begin, end) ||
        unit_holds(rule, run, members, end - begin, NULL))
      continue;
    if (first != SIZE_MAX && units.members[first].start_ns <= members->start_ns)
      continue;
    first = begin;
    first_end = end;
  }
  *out_ok = room && first == SIZE_MAX && units.num > 0;
  if (room && first != SIZE_MAX)
    unit_holds(rule, run, units.members + first, first_end - first, out);
  else if (room && units.num == 0) {
    ppi_page_text(out, "there is no ");
    ppi_page_visible(out, rule->unit);
  }
  ppi_expect_units_clear(&units);
  return room;
}

// ---- no A in B ----

static bool none_in(const ppi_expect_rule *rule, const ppi_expect_run *run,
                    ppi_page *out, bool *out_ok) {
  ppi_expect_units units;
  const ppi_expect_event *first = NULL;
  bool room = ppi_expect_units_of(run, rule->names[1], &units);
  for (size_t i = 0; room && i < units.num; i++) {
    const ppi_expect_event *event = &run->events[units.members[i].event];
    if (is_named(run, &units.members[i], rule->names[0]) &&
        (!first || event->start_ns < first->start_ns))
      first = event;
  }
  *out_ok = room && !first;
  if (first) {
    ppi_page_visible(out, ppi_expect_name(run, first));
    put_at(out, first->start_ns);
  }
  ppi_expect_units_clear(&units);
  return room;
}

// ---- figures ----

typedef struct spans {
  struct span {
    uint64_t start, end;
  } * items;
  size_t num, capacity;
} spans;

static bool add_span(spans *all, uint64_t start, uint64_t end) {
  struct span *grown =
      ppi_grow(all->items, &all->capacity, all->num + 1, sizeof *grown);
  if (!grown) return false;
  all->items = grown;
  grown[all->num++] = (struct span){start, PPI_MAX(start, end)};
  return true;
}

// The spans of a name's calls. `device:NAME`, and device work without a host
// call, takes the time on the device.
static bool spans_of(const ppi_expect_run *run, const char *name, spans *out) {
  bool wants_device = strncmp(name, "device:", 7) == 0;
  if (wants_device) name += 7;
  for (size_t i = 0; i < run->num_events; i++) {
    const ppi_expect_event *event = &run->events[i];
    bool has_device = event->kind == PPROF_KIND_DEVICE_RANGE;
    if ((event->flags & PPROF_FLAG_CLIPPED) || event->kind == PPROF_KIND_MARK ||
        !ppi_expect_is(run, event, name) ||
        (wants_device ? !has_device : !ppi_expect_is_call(run, event)))
      continue;
    if (has_device && !event->device_end_ns) continue;
    if (!add_span(out, has_device ? event->device_start_ns : event->start_ns,
                  has_device ? event->device_end_ns : event->end_ns))
      return false;
  }
  return true;
}

static int by_length(const void *a, const void *b) {
  const struct span *x = a, *y = b;
  uint64_t p = x->end - x->start, q = y->end - y->start;
  return p < q ? -1 : p > q;
}

static int by_start(const void *a, const void *b) {
  const struct span *x = a, *y = b;
  return x->start < y->start ? -1 : x->start > y->start;
}

bool ppi_expect_quantile(const ppi_expect_run *run, const char *name,
                         double quantile, double *out) {
  spans all = {0};
  bool room = spans_of(run, name, &all);
  double sum = 0;
  *out = 0;
  if (room && all.num) {
    qsort(all.items, all.num, sizeof *all.items, by_length);
    for (size_t i = 0; i < all.num; i++)
      sum += (double)(all.items[i].end - all.items[i].start);
    size_t rank = (size_t)PPI_MAX(ceil(quantile * (double)all.num - 1e-9), 1.0);
    *out = quantile < 0
               ? sum / (double)all.num
               : (double)(all.items[rank - 1].end - all.items[rank - 1].start);
  }
  ppi_free(all.items);
  return room;
}

// Merges the spans into disjoint ones, in order.
static void unite(spans *all) {
  size_t num = 0;
  if (all->num) qsort(all->items, all->num, sizeof *all->items, by_start);
  for (size_t i = 0; i < all->num; i++) {
    if (num && all->items[i].start <= all->items[num - 1].end)
      all->items[num - 1].end =
          PPI_MAX(all->items[num - 1].end, all->items[i].end);
    else
      all->items[num++] = all->items[i];
  }
  all->num = num;
}

static double shared(const spans *a, const spans *b) {
  double sum = 0;
  for (size_t i = 0, k = 0; i < a->num && k < b->num;) {
    uint64_t start = PPI_MAX(a->items[i].start, b->items[k].start);
    uint64_t end = PPI_MIN(a->items[i].end, b->items[k].end);
    if (end > start) sum += (double)(end - start);
    if (a->items[i].end < b->items[k].end)
      i++;
    else
      k++;
  }
  return sum;
}

bool ppi_expect_overlap(const ppi_expect_run *run, const char *a, const char *b,
                        double *out) {
  spans own = {0}, other = {0};
  double all = 0;
  bool room = spans_of(run, a, &own) && spans_of(run, b, &other);
  unite(&own);
  unite(&other);
  for (size_t i = 0; i < own.num; i++)
    all += (double)(own.items[i].end - own.items[i].start);
  *out = all > 0 ? 100 * shared(&own, &other) / all : -1;
  ppi_free(own.items);
  ppi_free(other.items);
  return room;
}

static bool figure_holds(const ppi_expect_rule *rule, const ppi_expect_run *run,
                         ppi_page *out, bool *out_ok) {
  double value = 0;
  bool is_overlap = rule->kind == PPI_EXPECT_OVERLAP;
  bool room =
      is_overlap
          ? ppi_expect_overlap(run, rule->names[0], rule->names[1], &value)
          : ppi_expect_quantile(run, rule->names[0], rule->quantile, &value);
  bool is_known = is_overlap ? value >= 0 : value > 0;
  *out_ok = room && is_known && keeps(rule, value);
  if (!room || *out_ok) return room;
  if (!is_known) {
    ppi_page_text(out, "there is no call of ");
    ppi_page_visible(out, rule->names[0]);
    return room;
  }
  ppi_page_text(out, "it is ");
  ppi_page_fixed(out, is_overlap ? value : value / 1e6, is_overlap ? 1 : 3);
  ppi_page_text(out, is_overlap ? " %" : " ms");
  return room;
}

bool ppi_expect_rule_holds(const ppi_expect_rule *rule,
                           const ppi_expect_run *run, ppi_page *out,
                           bool *out_ok) {
  switch (rule->kind) {
    case PPI_EXPECT_ORDER:
    case PPI_EXPECT_COUNT:
      return units_hold(rule, run, out, out_ok);
    case PPI_EXPECT_NONE_IN:
      return none_in(rule, run, out, out_ok);
    case PPI_EXPECT_LOST:
      *out_ok = keeps(rule, (double)run->num_lost);
      if (!*out_ok)
        ppi_page_format(out, "%llu are lost",
                        (unsigned long long)run->num_lost);
      return true;
    default:
      return figure_holds(rule, run, out, out_ok);
  }
}
