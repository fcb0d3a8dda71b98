// SPDX-License-Identifier: Apache-2.0
//
// Spans are appended unsorted and compacted whenever they have doubled, so
// that n spans cost O(n log n) altogether.
#include "union.h"

#include <stdlib.h>

#include "mem.h"

static int compare_spans(const void *left, const void *right) {
  const ppi_span *a = left, *b = right;
  if (a->start_ns != b->start_ns) return a->start_ns < b->start_ns ? -1 : 1;
  if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns ? -1 : 1;
  return 0;
}

void ppi_union_compact(ppi_union *set) {
  if (set->num > 1)
    qsort(set->spans, set->num, sizeof *set->spans, compare_spans);
  size_t kept = 0;
  for (size_t i = 0; i < set->num; i++) {
    ppi_span span = set->spans[i];
    if (kept && span.start_ns <= set->spans[kept - 1].end_ns) {
      if (span.end_ns > set->spans[kept - 1].end_ns)
        set->spans[kept - 1].end_ns = span.end_ns;
    } else {
      set->spans[kept++] = span;
    }
  }
  set->num = set->num_compact = kept;
}

pprof_status ppi_union_add(ppi_union *set, uint64_t start_ns, uint64_t end_ns) {
  if (start_ns < set->horizon_ns) start_ns = set->horizon_ns;
  if (end_ns <= start_ns) return PPROF_STATUS_OK;
  // Neighbours in time mostly arrive one after the other: fuse them here.
  if (set->num) {
    ppi_span *last = &set->spans[set->num - 1];
    if (start_ns <= last->end_ns && end_ns >= last->start_ns) {
      if (start_ns < last->start_ns) last->start_ns = start_ns;
      if (end_ns > last->end_ns) last->end_ns = end_ns;
      return PPROF_STATUS_OK;
    }
  }
  if (set->num >= 2 * set->num_compact + 64) ppi_union_compact(set);
  ppi_span *grown =
      ppi_grow(set->spans, &set->capacity, set->num + 1, sizeof *set->spans);
  if (!grown) return PPROF_STATUS_NO_MEMORY;
  set->spans = grown;
  set->spans[set->num++] = (ppi_span){start_ns, end_ns};
  return PPROF_STATUS_OK;
}

void ppi_union_settle(ppi_union *set, uint64_t horizon_ns) {
  if (horizon_ns <= set->horizon_ns) return;
  ppi_union_compact(set);
  size_t kept = 0;
  for (size_t i = 0; i < set->num; i++) {
    ppi_span span = set->spans[i];
    uint64_t until = span.end_ns < horizon_ns ? span.end_ns : horizon_ns;
    if (span.start_ns < until) {
      set->settled_ns += until - span.start_ns;
      span.start_ns = until;
    }
    if (span.start_ns < span.end_ns) set->spans[kept++] = span;
  }
  set->num = set->num_compact = kept;
  set->horizon_ns = horizon_ns;
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
