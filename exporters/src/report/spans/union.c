// SPDX-License-Identifier: Apache-2.0
//
// Unites spans of time. Spans come nearly in order: those of a thread by end,
// threads in turns. They wait until they are many, and are sorted then with the
// spans that they touch. n spans then cost O(n).
#include "report/spans/union.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"

enum { LEAST_WAIT = 1024 };

PPI_ORDER(compare_spans, ppi_span, PPI_UP(start_ns) PPI_UP(end_ns))

static bool are_sorted(const ppi_span *spans, size_t num) {
  for (size_t i = 1; i < num; i++)
    if (spans[i].start_ns < spans[i - 1].start_ns) return false;
  return true;
}

static void sort_spans(ppi_span *spans, size_t num) {
  ppi_keyed *by = ppi_realloc(NULL, num * sizeof *by);
  if (!by) {
    qsort(spans, num, sizeof *spans, compare_spans);
    return;
  }
  for (size_t i = 0; i < num; i++)
    by[i] = (ppi_keyed){spans[i].start_ns, spans[i].end_ns};
  ppi_sort_keyed(by, num);
  for (size_t i = 0; i < num; i++)
    spans[i] = (ppi_span){by[i].key, by[i].value};
  ppi_free(by);
}

// ---- lists ----

bool ppi_spans_add(ppi_span_list *list, uint64_t start_ns, uint64_t end_ns) {
  if (end_ns <= start_ns) return true;
  return PPI_PUSH(list->items, list->num, list->capacity,
                  (ppi_span){start_ns, end_ns});
}

size_t ppi_spans_unite(ppi_span *spans, size_t num) {
  size_t kept = 0;
  if (!are_sorted(spans, num)) sort_spans(spans, num);
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

bool ppi_union_add_slow(ppi_union *set, uint64_t start_ns, uint64_t end_ns) {
  start_ns = PPI_MAX(start_ns, set->horizon_ns);
  if (end_ns <= start_ns) return true;
  size_t num = set->num_all;
  while (num > set->num && start_ns <= set->spans[num - 1].end_ns &&
         end_ns >= set->spans[num - 1].start_ns) {
    const ppi_span *last = &set->spans[--num];
    start_ns = PPI_MIN(start_ns, last->start_ns);
    end_ns = PPI_MAX(end_ns, last->end_ns);
  }
  set->num_all = num;
  if (num - set->num >= PPI_MAX(set->wait, (size_t)LEAST_WAIT))
    ppi_union_compact(set);
  return PPI_PUSH(set->spans, set->num_all, set->capacity,
                  (ppi_span){start_ns, end_ns});
}

// Spans before the first one that changes stay in place. After many others, the
// next time waits for as many new ones: the cost per span stays constant.
void ppi_union_compact(ppi_union *set) {
  uint64_t least_ns = UINT64_MAX;
  if (set->num_all == set->num) return;
  for (size_t i = set->num; i < set->num_all; i++)
    least_ns = PPI_MIN(least_ns, set->spans[i].start_ns);
  size_t at = set->num;
  if (at && set->spans[at - 1].end_ns >= least_ns)
    at = least_ns ? ppi_spans_after(set->spans, at, least_ns - 1) : 0;
  set->wait = set->num - at;
  set->num = at + ppi_spans_unite(set->spans + at, set->num_all - at);
  set->num_all = set->num;
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
  set->num = set->num_all = kept;
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
                      .num_all = from->num,
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
  ppi_free(set->spans);
  *set = (ppi_union){0};
}
