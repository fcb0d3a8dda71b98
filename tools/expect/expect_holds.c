// SPDX-License-Identifier: Apache-2.0
//
// Checks whether a run keeps a rule, and computes the figures of rules.
#include "expect/expect_holds.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"

static bool keeps(const ppi_expect_rule *rule, double value) {
  bool is_equal = value >= rule->bound && value <= rule->bound;
  if (is_equal) return strchr(rule->op, '=') != NULL;
  return rule->op[0] == (value < rule->bound ? '<' : '>');
}

static void put_at(ppi_page *out, uint64_t ns) {
  ppi_page_format(out, " at %.6f s", (double)ns / 1e9);
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

bool ppi_expect_is_cut(const ppi_expect_run *run,
                       const ppi_expect_member *members, size_t num) {
  for (size_t i = 0; i < num; i++)
    if (run->events[members[i].event].flags & PPROF_FLAG_CLIPPED) return true;
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

// ---- requests at the edges of the recording ----

// What requests that keep a rule show. Where none does, `most_ns` is the
// longest that a request lasted.
typedef struct edges {
  uint64_t most_ns;       // two successive calls of a request took
  uint64_t last_kept_ns;  // the last of these requests began
  uint64_t hung_ns;       // since then a call is open, and no request passed
  bool has_names;         // the run has each name of the rule
} edges;

static uint64_t end_of(const ppi_expect_run *run,
                       const ppi_expect_member *members, size_t num) {
  uint64_t end = members->start_ns;
  for (size_t i = 0; i < num; i++)
    end = PPI_MAX(end, run->events[members[i].event].end_ns);
  return end;
}

uint64_t ppi_expect_longest(const ppi_expect_run *run,
                            const ppi_expect_member *members, size_t num) {
  uint64_t longest = 0;
  for (size_t i = 0; i < num; i++) {
    size_t at = i ? i - 1 : 0;
    uint64_t took =
        end_of(run, members + at, i - at + 1) - members[at].start_ns;
    longest = PPI_MAX(longest, took);
  }
  return longest;
}

// The begin of the first call named by the rule that was open to the end while
// no request passed. Others may have waited for it.
static uint64_t hung_since(const ppi_expect_rule *rule,
                           const ppi_expect_run *run, uint64_t last_kept_ns) {
  uint64_t out = UINT64_MAX;
  for (size_t i = 0; i < run->num_events; i++) {
    const ppi_expect_event *event = &run->events[i];
    if (!(event->flags & PPROF_FLAG_CLIPPED) || event->start_ns >= out ||
        event->start_ns < last_kept_ns ||
        event->window != run->windows[run->num_windows - 1].index)
      continue;
    for (size_t k = 0; k < rule->num_names; k++)
      if (ppi_expect_is(run, event, rule->names[k])) out = event->start_ns;
  }
  return out;
}

static bool has_names(const ppi_expect_rule *rule, const ppi_expect_run *run) {
  for (size_t k = 0; k < rule->num_names; k++) {
    size_t i = 0;
    while (i < run->num_events &&
           !ppi_expect_is(run, &run->events[i], rule->names[k]))
      i++;
    if (i == run->num_events) return false;
  }
  return true;
}

static edges edges_of(const ppi_expect_rule *rule, const ppi_expect_run *run,
                      const ppi_expect_units *units) {
  edges out = {.has_names = has_names(rule, run)};
  uint64_t longest = 0;
  for (size_t begin = 0, end; begin < units->num; begin = end) {
    const ppi_expect_member *members = units->members + begin;
    end = ppi_expect_unit_end(units, begin);
    if (ppi_expect_is_cut(run, members, end - begin)) continue;
    uint64_t last_ns = end_of(run, members, end - begin);
    longest = PPI_MAX(longest, last_ns - members->start_ns);
    if (!unit_holds(rule, run, members, end - begin, NULL)) continue;
    out.last_kept_ns = PPI_MAX(out.last_kept_ns, members->start_ns);
    out.most_ns =
        PPI_MAX(out.most_ns, ppi_expect_longest(run, members, end - begin));
  }
  if (!out.most_ns) out.most_ns = longest;
  out.hung_ns = hung_since(rule, run, out.last_kept_ns);
  return out;
}

// What a unit lacks to keep a rule.
typedef enum lack {
  LACKS_NONE = 0,    // more calls would not help
  LACKS_FIRST = 1,   // calls before it
  LACKS_LAST = 2,    // calls after it
  LACKS_BOTH = 3,    // both of them
  LACKS_EITHER = 4,  // calls on either side
} lack;

static lack lack_of(const ppi_expect_rule *rule, const ppi_expect_run *run,
                    const ppi_expect_member *members, size_t num) {
  size_t count, first = 0, next = 0;
  if (rule->kind == PPI_EXPECT_COUNT) {
    unit_has_number(rule, run, members, num, &count);
    bool is_few = (double)count < rule->bound || rule->op[0] == '>';
    return is_few && rule->op[0] != '<' ? LACKS_EITHER : LACKS_NONE;
  }
  for (size_t i = 0; i < num; i++)
    for (size_t k = 0; k < rule->num_names; k++) {
      if (!is_named(run, &members[i], rule->names[k])) continue;
      if (!next) first = next = k;
      if (k != next++) return LACKS_NONE;
      break;
    }
  if (!next) return LACKS_EITHER;
  return (first ? LACKS_FIRST : 0) | (next < rule->num_names ? LACKS_LAST : 0);
}

// The range of a request that was recorded whole shows both its ends.
static bool is_whole(const ppi_expect_run *run,
                     const ppi_expect_member *members, size_t num) {
  for (size_t i = 0; i < num; i++) {
    const ppi_expect_event *event = &run->events[members[i].event];
    if (event->kind == PPROF_KIND_RANGE && event->flags & PPROF_FLAG_REQUEST)
      return true;
  }
  return false;
}

bool ppi_expect_is_near_edge(const ppi_expect_run *run,
                             const ppi_expect_member *members, size_t num,
                             uint64_t most_ns) {
  const ppi_expect_window *first = ppi_expect_window_of(
                              run, &run->events[members->event]),
                          *last = ppi_expect_window_of(
                              run, &run->events[members[num - 1].event]);
  return !is_whole(run, members, num) &&
         (first != last || members->start_ns - first->first_ns <= most_ns ||
          end_of(run, members, num) + most_ns >= last->last_ns);
}

// Whether a request that breaks the rule may have its other calls outside the
// recording: only where it is no further from that edge than two successive
// calls of a request last.
static bool is_at_edge(const ppi_expect_rule *rule, const ppi_expect_run *run,
                       const ppi_expect_member *members, size_t num,
                       const edges *seen) {
  const ppi_expect_window *first = ppi_expect_window_of(
                              run, &run->events[members->event]),
                          *last = ppi_expect_window_of(
                              run, &run->events[members[num - 1].event]);
  uint64_t most = seen->most_ns, end = PPI_MIN(last->last_ns, seen->hung_ns);
  bool at_first = members->start_ns - first->first_ns <= most;
  bool at_last = end_of(run, members, num) + most >= end;
  lack lacks = lack_of(rule, run, members, num);
  if (!seen->has_names || is_whole(run, members, num)) return false;
  // What it lacks may lie between its windows.
  if (first != last) return rule->kind == PPI_EXPECT_ORDER || lacks;
  switch (lacks) {
    case LACKS_FIRST:
      return at_first;
    case LACKS_LAST:
      return at_last;
    case LACKS_BOTH:
      return at_first && at_last;
    case LACKS_EITHER:
      return at_first || at_last;
    default:
      return false;
  }
}

// Units come in the order of their numbers; the first in time is named.
static bool units_hold(const ppi_expect_rule *rule, const ppi_expect_run *run,
                       ppi_page *out, size_t *num_cut) {
  ppi_expect_units units = ppi_expect_units_of(run, rule->unit);
  bool is_request = strcmp(rule->unit, "request") == 0;
  const edges seen = is_request ? edges_of(rule, run, &units) : (edges){0};
  size_t first = SIZE_MAX, first_end = 0;
  for (size_t begin = 0, end; begin < units.num; begin = end) {
    const ppi_expect_member *members = units.members + begin;
    end = ppi_expect_unit_end(&units, begin);
    size_t num = end - begin;
    bool is_clipped = ppi_expect_is_cut(run, members, num);
    if (!is_clipped && unit_holds(rule, run, members, num, NULL)) continue;
    if (is_clipped ||
        (is_request && is_at_edge(rule, run, members, num, &seen))) {
      *num_cut += is_request;
      continue;
    }
    if (first != SIZE_MAX && units.members[first].start_ns <= members->start_ns)
      continue;
    first = begin;
    first_end = end;
  }
  bool holds = first == SIZE_MAX && units.num > 0;
  if (first != SIZE_MAX) {
    unit_holds(rule, run, units.members + first, first_end - first, out);
  } else if (units.num == 0) {
    ppi_tool_put(out, "there is no %s", rule->unit);
  }
  ppi_expect_units_clear(&units);
  return holds;
}

// ---- no A in B ----

static bool none_in(const ppi_expect_rule *rule, const ppi_expect_run *run,
                    ppi_page *out) {
  ppi_expect_units units = ppi_expect_units_of(run, rule->names[1]);
  const ppi_expect_event *first = NULL;
  for (size_t i = 0; i < units.num; i++) {
    const ppi_expect_event *event = &run->events[units.members[i].event];
    if (is_named(run, &units.members[i], rule->names[0]) &&
        (!first || event->start_ns < first->start_ns))
      first = event;
  }
  if (first) {
    ppi_page_visible(out, ppi_expect_name(run, first));
    put_at(out, first->start_ns);
  }
  ppi_expect_units_clear(&units);
  return !first;
}

// ---- figures ----

typedef struct spans {
  struct span {
    uint64_t start, end;
  } * items;
  size_t num, capacity;
} spans;

// The spans of a name's calls. `device:NAME`, and device work without a host
// call, takes the time on the device.
static spans spans_of(const ppi_expect_run *run, const char *name) {
  spans out = {0};
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
    uint64_t start = has_device ? event->device_start_ns : event->start_ns;
    uint64_t end = has_device ? event->device_end_ns : event->end_ns;
    PPI_MUST_PUSH(out.items, out.num, out.capacity,
                  (struct span){start, PPI_MAX(start, end)});
  }
  return out;
}

static int by_length(const void *a, const void *b) {
  const struct span *x = a, *y = b;
  uint64_t p = x->end - x->start, q = y->end - y->start;
  return p < q ? -1 : p > q;
}

PPI_ORDER(by_start, struct span, PPI_UP(start))

double ppi_expect_quantile(const ppi_expect_run *run, const char *name,
                           double quantile) {
  spans all = spans_of(run, name);
  double sum = 0, out = 0;
  if (all.num) {
    qsort(all.items, all.num, sizeof *all.items, by_length);
    for (size_t i = 0; i < all.num; i++)
      sum += (double)(all.items[i].end - all.items[i].start);
    size_t rank = (size_t)PPI_MAX(ceil(quantile * (double)all.num - 1e-9), 1.0);
    out = quantile < 0
              ? sum / (double)all.num
              : (double)(all.items[rank - 1].end - all.items[rank - 1].start);
  }
  ppi_free(all.items);
  return out;
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

double ppi_expect_overlap(const ppi_expect_run *run, const char *a,
                          const char *b) {
  spans own = spans_of(run, a), other = spans_of(run, b);
  double all = 0;
  unite(&own);
  unite(&other);
  for (size_t i = 0; i < own.num; i++)
    all += (double)(own.items[i].end - own.items[i].start);
  double out = all > 0 ? 100 * shared(&own, &other) / all : -1;
  ppi_free(own.items);
  ppi_free(other.items);
  return out;
}

static bool figure_holds(const ppi_expect_rule *rule, const ppi_expect_run *run,
                         ppi_page *out) {
  bool is_overlap = rule->kind == PPI_EXPECT_OVERLAP;
  double value = is_overlap
                     ? ppi_expect_overlap(run, rule->names[0], rule->names[1])
                     : ppi_expect_quantile(run, rule->names[0], rule->quantile);
  bool is_known = is_overlap ? value >= 0 : value > 0;
  if (is_known && keeps(rule, value)) return true;
  if (!is_known)
    ppi_tool_put(out, "there is no call of %s", rule->names[0]);
  else if (is_overlap)
    ppi_page_format(out, "it is %.1f %%", value);
  else
    ppi_page_format(out, "it is %.3f ms", value / 1e6);
  return false;
}

static bool loses(const ppi_expect_rule *rule, const ppi_expect_run *run,
                  ppi_page *out) {
  bool holds = keeps(rule, (double)run->num_lost);
  if (!holds)
    ppi_page_format(out, "%llu are lost", (unsigned long long)run->num_lost);
  return holds;
}

bool ppi_expect_rule_holds(const ppi_expect_rule *rule,
                           const ppi_expect_run *run, ppi_page *out,
                           size_t *num_cut) {
  static bool (*const of[])(const ppi_expect_rule *, const ppi_expect_run *,
                            ppi_page *) = {[PPI_EXPECT_NONE_IN] = none_in,
                                           [PPI_EXPECT_FIGURE] = figure_holds,
                                           [PPI_EXPECT_OVERLAP] = figure_holds,
                                           [PPI_EXPECT_LOST] = loses};
  bool is_of_units =
      rule->kind == PPI_EXPECT_ORDER || rule->kind == PPI_EXPECT_COUNT;
  *num_cut = 0;
  return is_of_units ? units_hold(rule, run, out, num_cut)
                     : of[rule->kind](rule, run, out);
}
