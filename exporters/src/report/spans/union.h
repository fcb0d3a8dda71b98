// SPDX-License-Identifier: Apache-2.0
//
// The measure of a union of time spans, in memory bounded by checkpoints: spans
// before a horizon become one number. One thread at a time.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_span {
  uint64_t start_ns, end_ns;
} ppi_span;

typedef struct ppi_span_list {
  ppi_span *items;
  size_t num, capacity;
} ppi_span_list;

// ppi_spans_add appends a span unless it is empty.
bool ppi_spans_add(ppi_span_list *list, uint64_t start_ns, uint64_t end_ns);
// ppi_spans_unite makes spans disjoint, in order, and answers how many are
// left.
size_t ppi_spans_unite(ppi_span *spans, size_t num);

// Of spans that are disjoint, in order: the first one that ends after a time,
// and how much of [start, end) they cover.
size_t ppi_spans_after(const ppi_span *spans, size_t num, uint64_t time_ns);
uint64_t ppi_spans_overlap(const ppi_span *spans, size_t num, uint64_t start_ns,
                           uint64_t end_ns);

// All zero is the empty union. Only after compact, settle and measure does
// `spans` have all of the union that is not settled.
typedef struct ppi_union {
  ppi_span *spans;      // the first `num` disjoint, in order; others as added
  size_t num, num_all;  // `num_all`: with those that were added since
  size_t capacity;
  size_t wait;  // spans that the latest ones touched
  uint64_t settled_ns, horizon_ns;
} ppi_union;

// ppi_union_add unites [start, end) with `set`; an end before the start counts
// as empty. Time before the settled horizon was counted already.
bool ppi_union_add_slow(ppi_union *set, uint64_t start_ns, uint64_t end_ns);
static inline bool ppi_union_add(ppi_union *set, uint64_t start_ns,
                                 uint64_t end_ns) {
  if (set->num_all > set->num) {
    ppi_span *last = &set->spans[set->num_all - 1];
    if (start_ns >= last->start_ns && start_ns <= last->end_ns) {
      if (end_ns > last->end_ns) last->end_ns = end_ns;
      return true;
    }
  }
  return ppi_union_add_slow(set, start_ns, end_ns);
}

// ppi_union_settle promises that the part of the union before `horizon` is
// complete, and forgets its spans.
void ppi_union_settle(ppi_union *set, uint64_t horizon_ns);

// ppi_union_compact makes the spans that are not settled disjoint, in order.
void ppi_union_compact(ppi_union *set);

// ppi_union_copy makes `into` equal to `from`, which it compacts.
bool ppi_union_copy(ppi_union *into, ppi_union *from);

uint64_t ppi_union_measure(ppi_union *set);
void ppi_union_clear(ppi_union *set);

PPROF_END_C_
