// SPDX-License-Identifier: Apache-2.0
//
// Adds findings and their values for the rules.
#include "report/findings/search.h"

#include "base/mem.h"

// What a problem has to explain at least: of a unit's time, and over all units.
#define LEAST_SHARE 0.01
#define LEAST_NS 1e6

// A broken log may lead to any number.
static uint64_t whole_ns(double ns) {
  const double most_ns = 9e18;
  return ns > 0 ? (uint64_t)PPI_MIN(ns, most_ns) : 0;
}

ppi_finding *ppi_search_add(ppi_search *search, ppi_finding_sort sort,
                            double share) {
  ppi_findings *out = search->out;
  double all_ns = share * (double)search->answer->total_ns;
  bool is_small = !(share >= LEAST_SHARE) || all_ns < LEAST_NS;
  bool is_ignored = (sort == PPI_PROBLEM && is_small) ||
                    (sort != PPI_LIMIT && search->impossible.hides_findings);
  if (!is_ignored)
    search->failed |= !PPI_ROOM(out->items, out->capacity, out->num + 1);
  ppi_finding *finding =
      is_ignored || search->failed ? &search->ignored : &out->items[out->num++];
  *finding =
      (ppi_finding){.id = search->id,
                    .is_problem = sort != PPI_FACT,
                    .is_limit = sort == PPI_LIMIT,
                    .ns = whole_ns(PPI_MIN(share, 1.0) * search->unit_ns)};
  return finding;
}

void ppi_finding_value_add(ppi_finding *finding, const char *name,
                           double number, const char *unit) {
  if (finding->num_values == PPI_FINDING_VALUES) return;
  finding->values[finding->num_values++] =
      (ppi_finding_value){name, number, unit};
}
