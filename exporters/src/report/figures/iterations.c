// SPDX-License-Identifier: Apache-2.0
//
// Adds up iterations that serve requests, and the time of slow requests.
#include "report/figures/iterations.h"

#include "base/base.h"
#include "base/mem.h"

#define LENGTHS 256

static const char *const names[] = {
#define NAME(value, name) name,
    PPI_SERVING_PARTS(NAME)
#undef NAME
};

const char *ppi_serving_part_name(ppi_serving_part part) {
  return names[part];
}

bool ppi_serving_part_is_known(const ppi_serving_slow *slow,
                               ppi_serving_part part) {
  if (slow->parts_ns[part]) return true;
  switch (part) {
    case PPI_SERVING_QUEUED:
    case PPI_SERVING_PREFILLED:
      return !slow->parts_ns[PPI_SERVING_TO_FIRST];
    case PPI_SERVING_DECODED:
    case PPI_SERVING_MIXED:
      return !slow->parts_ns[PPI_SERVING_TO_LAST];
    default:
      return part == PPI_SERVING_REST;
  }
}

// ---- ranges that serve ----

void ppi_iterations_add(ppi_iterations *sums, uint64_t time_ns, uint64_t batch,
                        uint64_t prefills) {
  unsigned __int128 time = time_ns;
  sums->n++;
  sums->most = PPI_MAX(sums->most, batch);
  sums->batch += batch;
  sums->prefills += prefills;
  sums->time_ns += time;
  if (prefills) return;
  sums->alone++;
  sums->alone_batch += batch;
  sums->alone_ns += time;
  sums->alone_batch_2 += (unsigned __int128)batch * batch;
  sums->alone_batch_ns += time * batch;
}

bool ppi_iterations_fit(const ppi_iterations *sums, ppi_iteration_fit *out) {
  const unsigned __int128 n = sums->alone, b = sums->alone_batch;
  // Exact values of n squared times the variance and the covariance.
  double bb = (double)(__int128)(n * sums->alone_batch_2 - b * b);
  double bt = (double)(__int128)(n * sums->alone_batch_ns - b * sums->alone_ns);
  if (sums->alone < 3 || bb <= 0) return false;
  // A negative slope is chance: more requests never take less time.
  *out = (ppi_iteration_fit){.request_ns = bt > 0 ? bt / bb : 0};
  out->base_ns =
      ((double)sums->alone_ns - out->request_ns * (double)b) / (double)n;
  if (!sums->prefills) return true;
  double num = (double)(sums->n - sums->alone);
  double usual_ns = out->base_ns * num +
                    out->request_ns * (double)(sums->batch - sums->alone_batch);
  out->prefill_ns = ((double)(sums->time_ns - sums->alone_ns) - usual_ns) /
                    (double)sums->prefills;
  return true;
}

void ppi_iterations_merge(ppi_iterations *into, const ppi_iterations *from) {
  into->n += from->n;
  into->most = PPI_MAX(into->most, from->most);
  into->batch += from->batch;
  into->prefills += from->prefills;
  into->alone += from->alone;
  into->alone_batch += from->alone_batch;
  into->time_ns += from->time_ns;
  into->alone_ns += from->alone_ns;
  into->alone_batch_2 += from->alone_batch_2;
  into->alone_batch_ns += from->alone_batch_ns;
}

// ---- slow requests ----

// The index of a length: each power of two has four.
static size_t length_of(uint64_t time_ns) {
  if (time_ns < 4) return (size_t)time_ns;
  unsigned top = 63u - (unsigned)__builtin_clzll(time_ns);
  return top * 4u + (size_t)(time_ns >> (top - 2) & 3u);
}

static uint64_t least_of(size_t length) {
  return length < 4 ? length : (4 + (uint64_t)(length & 3)) << (length / 4 - 2);
}

static void add_parts(ppi_serving_slow *into, const ppi_serving_slow *from) {
  into->n += from->n;
  for (int i = 0; i < PPI_NUM_SERVING_PARTS; i++)
    into->parts_ns[i] += from->parts_ns[i];
}

static ppi_serving_slow *table_of(ppi_serving_slow **slow) {
  if (!*slow) *slow = ppi_alloc(LENGTHS * sizeof **slow);
  return *slow;
}

bool ppi_serving_slow_add(ppi_serving_slow **slow, uint64_t e2e_ns,
                          const ppi_serving_slow *parts) {
  ppi_serving_slow *table = table_of(slow);
  if (table) add_parts(&table[length_of(e2e_ns)], parts);
  return table;
}

bool ppi_serving_slow_merge(ppi_serving_slow **into,
                            const ppi_serving_slow *from) {
  ppi_serving_slow *table = from ? table_of(into) : NULL;
  for (size_t i = 0; table && i < LENGTHS; i++) add_parts(&table[i], &from[i]);
  return table || !from;
}

uint64_t ppi_serving_slow_sum(const ppi_serving_slow *slow, uint64_t num,
                              ppi_serving_slow *out) {
  *out = (ppi_serving_slow){0};
  for (size_t i = LENGTHS; slow && i-- > 0;) {
    add_parts(out, &slow[i]);
    if (out->n && out->n >= num) return least_of(i);
  }
  return 0;
}
