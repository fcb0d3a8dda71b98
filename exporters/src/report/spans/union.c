// SPDX-License-Identifier: Apache-2.0
//
// Unites spans of time. Spans come nearly in order: those of a thread by end,
// threads in turns. A few sorted lists keep them, and a merge goes back from
// the last ends. n spans then cost O(n), in any other order O(n log n).
#include "report/spans/union.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

// The first list takes spans that fit no other list.
enum { REST, MAX_LISTS = 17, LEAST_WAIT = 1024 };

static int compare_spans(const void *left, const void *right) {
  const ppi_span *a = left, *b = right;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static uint64_t start_of(const void *span) {
  return ((const ppi_span *)span)->start_ns;
}

// ---- lists ----

bool ppi_spans_add(ppi_span_list *list, uint64_t start_ns, uint64_t end_ns) {
  if (end_ns <= start_ns) return true;
  return PPI_PUSH(list->items, list->num, list->capacity,
                  (ppi_span){start_ns, end_ns});
}

size_t ppi_spans_unite(ppi_span *spans, size_t num) {
  size_t kept = 0;
  ppi_sort(spans, num, sizeof *spans, start_of, compare_spans);
  for (size_t i = 0; i < num; i++) {
    if (kept && spans[i].start_ns <= spans[kept - 1].end_ns)
      spans[kept - 1].end_ns = PPI_MAX(spans[kept - 1].end_ns, spans[i].end_ns);
    else
      spans[kept++] = spans[i];
  }
  return kept;
}

size_t ppi_spans_after(const ppi_span *spans, size_t num, uint64_t time_ns) {
  return num ? ppi_count_up_to(&spans->end_ns, num, sizeof *spans, time_ns) : 0;
}

uint64_t ppi_spans_overlap(const ppi_span *spans, size_t num, uint64_t start_ns,
                           uint64_t end_ns) {
  uint64_t sum_ns = 0;
  for (size_t i = ppi_spans_after(spans, num, start_ns);
       i < num && spans[i].start_ns < end_ns; i++)
    sum_ns +=
        PPI_MIN(end_ns, spans[i].end_ns) - PPI_MAX(start_ns, spans[i].start_ns);
  return sum_ns;
}

// ---- adding ----

// Fuses `span` with the last spans of a list in order; false when it touches
// none of them.
static bool fuse(ppi_span_list *list, const ppi_span *span) {
  ppi_span *last = &list->items[list->num - 1];
  if (span->start_ns > last->end_ns || span->end_ns < last->start_ns)
    return false;
  last->end_ns = PPI_MAX(last->end_ns, span->end_ns);
  if (span->start_ns >= last->start_ns) return true;
  while (list->num > 1 && last[-1].end_ns >= span->start_ns) {
    last[-1].end_ns = last->end_ns;
    last--;
    list->num--;
  }
  last->start_ns = PPI_MIN(last->start_ns, span->start_ns);
  return true;
}

static bool is_behind(const ppi_span_list *list, const ppi_span *span) {
  return list->num && span->end_ns < list->items[list->num - 1].start_ns;
}

static bool append(ppi_union *set, ppi_span_list *list, const ppi_span *span) {
  // A merge cannot report that there is no memory.
  if (!PPI_ROOM(set->spans, set->capacity, set->num + set->num_pending + 1))
    return false;
  set->num_pending++;
  return PPI_PUSH(list->items, list->num, list->capacity, *span);
}

// The list that `span` extends: the one that ends last, so that lists stay few.
// Without such a list, a new one, or REST if there are MAX_LISTS. -1: no
// memory.
static int pick_list(ppi_union *set, const ppi_span *span) {
  size_t best = REST;
  for (size_t i = REST + 1; i < set->num_fresh; i++) {
    const ppi_span_list *list = &set->fresh[i], *old = &set->fresh[best];
    if (is_behind(list, span)) continue;
    if (best == REST || !old->num ||
        (list->num &&
         list->items[list->num - 1].end_ns > old->items[old->num - 1].end_ns))
      best = i;
  }
  if (best != REST || set->num_fresh == MAX_LISTS) return (int)best;
  size_t need = PPI_MAX(set->num_fresh, 1u) + 1;
  return PPI_REACH(set->fresh, set->num_fresh, set->fresh_capacity, need)
             ? (int)need - 1
             : -1;
}

bool ppi_union_add(ppi_union *set, uint64_t start_ns, uint64_t end_ns) {
  ppi_span span = {PPI_MAX(start_ns, set->horizon_ns), end_ns};
  if (span.end_ns <= span.start_ns) return true;
  if (set->num_pending >= PPI_MAX(set->wait, (size_t)LEAST_WAIT))
    ppi_union_compact(set);
  if (!set->num_fresh || is_behind(&set->fresh[set->active], &span)) {
    int picked = pick_list(set, &span);
    if (picked < 0) return false;
    set->active = (size_t)picked;
  }
  ppi_span_list *list = &set->fresh[set->active];
  if (set->active != REST && list->num && fuse(list, &span)) return true;
  bool appended = append(set, list, &span);
  if (set->active == REST) set->active = REST + 1;
  return appended;
}

// ---- merging ----

// Takes the span that ends last off the lists, or off the set's first
// `*num_old` spans. False: the lists are empty.
static bool take_last(ppi_union *set, size_t *num_old, ppi_span *out) {
  ppi_span_list *from = NULL;
  for (size_t i = 0; i < set->num_fresh; i++) {
    ppi_span_list *list = &set->fresh[i];
    if (list->num && (!from || list->items[list->num - 1].end_ns >
                                   from->items[from->num - 1].end_ns))
      from = list;
  }
  if (!from) return false;
  if (*num_old &&
      set->spans[*num_old - 1].end_ns >= from->items[from->num - 1].end_ns)
    *out = set->spans[--*num_old];
  else
    *out = from->items[--from->num];
  return true;
}

// Merges from the last span back to the first one that changes: earlier spans
// stay in place. The result never overtakes spans still to be read: its room
// begins behind all of them.
void ppi_union_compact(ppi_union *set) {
  if (!set->num_pending) return;
  ppi_span_list *rest = &set->fresh[REST];
  rest->num = ppi_spans_unite(rest->items, rest->num);
  size_t end = set->num, num_old = set->num;
  for (size_t i = 0; i < set->num_fresh; i++) end += set->fresh[i].num;
  size_t at = end;
  ppi_span span, last;
  if (take_last(set, &num_old, &last)) {
    while (take_last(set, &num_old, &span)) {
      if (span.end_ns < last.start_ns) {
        set->spans[--at] = last;
        last = span;
      } else {
        last.start_ns = PPI_MIN(last.start_ns, span.start_ns);
      }
    }
    for (; num_old && set->spans[num_old - 1].end_ns >= last.start_ns;
         num_old--)
      last.start_ns = PPI_MIN(last.start_ns, set->spans[num_old - 1].start_ns);
    set->spans[--at] = last;
  }
  memmove(set->spans + num_old, set->spans + at,
          (end - at) * sizeof *set->spans);
  // After a merge over many old spans, the next one waits for as many new ones.
  // The cost per span stays constant.
  set->wait = set->num - num_old;
  set->num = num_old + (end - at);
  set->num_pending = 0;
}

void ppi_union_settle(ppi_union *set, uint64_t horizon_ns) {
  if (horizon_ns <= set->horizon_ns) return;
  ppi_union_compact(set);
  size_t kept = 0;
  for (size_t i = 0; i < set->num; i++) {
    ppi_span span = set->spans[i];
    uint64_t until = PPI_MIN(span.end_ns, horizon_ns);
    if (span.start_ns < until) {
      set->settled_ns += until - span.start_ns;
      span.start_ns = until;
    }
    if (span.start_ns < span.end_ns) set->spans[kept++] = span;
  }
  set->num = kept;
  set->horizon_ns = horizon_ns;
}

bool ppi_union_copy(ppi_union *into, ppi_union *from) {
  ppi_union_compact(from);
  ppi_span *spans = ppi_alloc((from->num + 1) * sizeof *spans);
  if (!spans) return false;
  if (from->num) memcpy(spans, from->spans, from->num * sizeof *spans);
  ppi_union_clear(into);
  *into = (ppi_union){.spans = spans,
                      .num = from->num,
                      .capacity = from->num + 1,
                      .settled_ns = from->settled_ns,
                      .horizon_ns = from->horizon_ns};
  return true;
}

uint64_t ppi_union_measure(ppi_union *set) {
  ppi_union_compact(set);
  uint64_t sum = set->settled_ns;
  for (size_t i = 0; i < set->num; i++)
    sum += set->spans[i].end_ns - set->spans[i].start_ns;
  return sum;
}

void ppi_union_clear(ppi_union *set) {
  for (size_t i = 0; i < set->num_fresh; i++) ppi_free(set->fresh[i].items);
  ppi_free(set->fresh);
  ppi_free(set->spans);
  *set = (ppi_union){0};
}
