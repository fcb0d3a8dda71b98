// SPDX-License-Identifier: Apache-2.0
//
// Keeps intervals of time in order, and picks values by rank.
#include "report/limit/intervals.h"

#include <math.h>
#include <stdlib.h>

#include "base/base.h"
#include "base/mem.h"

bool ppi_intervals_add(ppi_intervals *to, uint64_t from_ns, uint64_t to_ns) {
  return from_ns >= to_ns || PPI_PUSH(to->items, to->num, to->capacity,
                                      (ppi_interval){from_ns, to_ns});
}

PPI_ORDER(compare_intervals, ppi_interval, PPI_UP(from_ns))

bool ppi_intervals_unite(ppi_intervals *all) {
  size_t num = 0;
  if (all->num > 1)
    qsort(all->items, all->num, sizeof *all->items, compare_intervals);
  for (size_t i = 0; i < all->num; i++) {
    ppi_interval *last = num ? &all->items[num - 1] : NULL;
    if (last && all->items[i].from_ns <= last->to_ns)
      last->to_ns = PPI_MAX(last->to_ns, all->items[i].to_ns);
    else
      all->items[num++] = all->items[i];
  }
  all->num = num;
  ppi_free(all->before_ns);
  all->before_ns = ppi_alloc((num + 1) * sizeof *all->before_ns);
  if (!all->before_ns) return false;
  for (size_t i = 0; i < num; i++)
    all->before_ns[i + 1] =
        all->before_ns[i] + all->items[i].to_ns - all->items[i].from_ns;
  return true;
}

uint64_t ppi_intervals_measure(const ppi_intervals *all, uint64_t time_ns) {
  if (!all->num) return 0;
  // The first that ends behind it.
  size_t at = ppi_count_up_to(&all->items->to_ns, all->num, sizeof *all->items,
                              time_ns);
  uint64_t before_ns = all->before_ns[at];
  if (at < all->num && all->items[at].from_ns < time_ns)
    before_ns += time_ns - all->items[at].from_ns;
  return before_ns;
}

void ppi_intervals_clear(ppi_intervals *all) {
  ppi_free(all->items);
  ppi_free(all->before_ns);
  *all = (ppi_intervals){0};
}

uint64_t ppi_quantile_of(const uint64_t *sorted, size_t num, double part) {
  if (!num) return 0;
  size_t at = (size_t)(part * (double)num);
  return sorted[PPI_MIN(at, num - 1)];
}

uint32_t ppi_limit_greatest(const double *values, size_t num) {
  uint32_t best = PPI_NONE;
  for (size_t i = 0; i < num; i++)
    if (values[i] > 0 && (best == PPI_NONE || values[i] > values[best]))
      best = (uint32_t)i;
  return best;
}

void ppi_fit_add(ppi_fit *to, double x, double y) {
  to->num++;
  to->x += x;
  to->y += y;
  to->xx += x * x;
  to->xy += x * y;
  to->yy += y * y;
}

double ppi_fit_correlation(const ppi_fit *of) {
  double xx = of->xx - of->x * of->x / of->num;
  double yy = of->yy - of->y * of->y / of->num;
  double xy = of->xy - of->x * of->y / of->num;
  return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}
