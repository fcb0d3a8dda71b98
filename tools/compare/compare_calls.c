// SPDX-License-Identifier: Apache-2.0
//
// Keeps a stage's calls in eight bytes each.
#include "compare/compare_calls.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "cli/say.h"

static void count(ppi_calls *calls, uint64_t start_ns, uint64_t duration_ns) {
  bool is_first = calls->num == 0 || start_ns < calls->first_start_ns;
  if (is_first ||
      (start_ns == calls->first_start_ns && duration_ns < calls->first_ns)) {
    calls->first_start_ns = start_ns;
    calls->first_ns = duration_ns;
  }
  calls->is_out_of_order |= calls->num && start_ns <= calls->last_ns;
  calls->total_ns += (double)duration_ns;
  calls->last_ns = start_ns;
  calls->num++;
}

static void put(ppi_calls *calls, uint64_t start_ns, float duration_ns) {
  int64_t since = (int64_t)(start_ns - calls->last_ns);
  PPI_MUST_ROOM(calls->items, calls->capacity, calls->num_items + 2);
  struct ppi_call *item = &calls->items[calls->num_items++];
  item->duration_ns = duration_ns;
  item->since = (int32_t)since;
  if (since > INT32_MIN && since <= INT32_MAX) return;
  item->since = PPI_CALL_FAR;
  memcpy(&calls->items[calls->num_items++], &start_ns, sizeof start_ns);
}

void ppi_calls_add(ppi_calls *calls, uint64_t start_ns, uint64_t duration_ns) {
  put(calls, start_ns, (float)duration_ns);
  count(calls, start_ns, duration_ns);
}

void ppi_calls_clear(ppi_calls *calls) {
  ppi_free(calls->items);
  *calls = (ppi_calls){.num = 0};
}

typedef struct timed {
  uint64_t start_ns;
  float duration_ns;
} timed;

// Reads the next call into `call`; answers the item after it.
static const struct ppi_call *read_call(const struct ppi_call *item,
                                        timed *call) {
  call->duration_ns = item->duration_ns;
  call->start_ns += (uint64_t)(int64_t)item->since;
  if (item->since != PPI_CALL_FAR) return item + 1;
  memcpy(&call->start_ns, item + 1, sizeof call->start_ns);
  return item + 2;
}

void ppi_calls_move(ppi_calls *from, ppi_calls *to) {
  const struct ppi_call *item = from->items;
  timed call = {0, 0};
  if (from->num == 0) return;
  for (size_t i = 0; i < from->num; i++) {
    item = read_call(item, &call);
    put(to, call.start_ns, call.duration_ns);
    to->last_ns = call.start_ns;
  }
  double total_ns = to->total_ns + from->total_ns;
  size_t num = to->num + from->num;
  count(to, from->first_start_ns, from->first_ns);
  to->total_ns = total_ns;
  to->num = num;
  to->last_ns = call.start_ns;
  to->is_out_of_order = true;
  ppi_calls_clear(from);
}

PPI_ORDER(by_start, timed, PPI_UP(start_ns) PPI_UP(duration_ns))

static uint64_t start_of(const void *call) {
  return ((const timed *)call)->start_ns;
}

void ppi_calls_durations(ppi_calls *calls, size_t num_skipped, float *out) {
  const struct ppi_call *item = calls->items;
  timed *all = NULL, call = {0, 0};
  if (calls->is_out_of_order)
    all = ppi_tool_must(ppi_realloc(NULL, calls->num * sizeof *all));
  for (size_t i = 0; i < calls->num; i++) {
    item = read_call(item, &call);
    if (all)
      all[i] = call;
    else if (i >= num_skipped)
      *out++ = call.duration_ns;
  }
  if (all) ppi_sort(all, calls->num, sizeof *all, start_of, by_start);
  for (size_t i = num_skipped; all && i < calls->num; i++)
    *out++ = all[i].duration_ns;
  ppi_free(all);
  ppi_calls_clear(calls);
}
