// SPDX-License-Identifier: Apache-2.0
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

// ---- ranges that serve ----

void ppi_iterations_add(ppi_iterations *sums, uint64_t time_ns, uint64_t batch,
                        uint64_t prefills) {
  unsigned __int128 time = time_ns;
  sums->n++;
  sums->most = PPI_MAX(sums->most, batch);
  sums->batch += batch;
  sums->prefills += prefills;
  sums->time_ns += time;
  sums->batch_2 += (unsigned __int128)batch * batch;
  sums->prefills_2 += (unsigned __int128)prefills * prefills;
  sums->batch_prefills += (unsigned __int128)batch * prefills;
  sums->batch_time += time * batch;
  sums->prefills_time += time * prefills;
}

// n times the sum of products less the product of the sums: exact, and n
// squared times the covariance.
static double spread_of(const ppi_iterations *sums, unsigned __int128 products,
                        unsigned __int128 a, unsigned __int128 b) {
  return (double)(__int128)(products * sums->n - a * b);
}

// Normal equations of time = base + request x batch + prefill x prefills.
bool ppi_iterations_fit(const ppi_iterations *sums, ppi_iteration_fit *out) {
  const unsigned __int128 b = sums->batch, p = sums->prefills;
  if (sums->n < 3) return false;
  double bb = spread_of(sums, sums->batch_2, b, b);
  double pp = spread_of(sums, sums->prefills_2, p, p);
  double bp = spread_of(sums, sums->batch_prefills, b, p);
  double bt = spread_of(sums, sums->batch_time, b, sums->time_ns);
  double pt = spread_of(sums, sums->prefills_time, p, sums->time_ns);
  double determinant = bb * pp - bp * bp;
  if (bb <= 0 || (pp > 0 && determinant <= 0.01 * bb * pp)) return false;
  *out = (ppi_iteration_fit){.request_ns = bt / bb};
  if (pp > 0) {
    out->request_ns = (bt * pp - pt * bp) / determinant;
    out->prefill_ns = (pt * bb - bt * bp) / determinant;
  }
  double n = (double)sums->n;
  out->base_ns = (double)sums->time_ns / n - out->request_ns * (double)b / n -
                 out->prefill_ns * (double)p / n;
  return true;
}

void ppi_iterations_merge(ppi_iterations *into, const ppi_iterations *from) {
  into->n += from->n;
  into->most = PPI_MAX(into->most, from->most);
  into->batch += from->batch;
  into->prefills += from->prefills;
  into->time_ns += from->time_ns;
  into->batch_2 += from->batch_2;
  into->prefills_2 += from->prefills_2;
  into->batch_prefills += from->batch_prefills;
  into->batch_time += from->batch_time;
  into->prefills_time += from->prefills_time;
}

// ---- slow requests ----

// Four to a doubling.
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
