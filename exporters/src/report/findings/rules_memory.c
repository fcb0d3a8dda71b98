// SPDX-License-Identifier: Apache-2.0
//
// Finds memory that grows.

#include "report/findings/rules.h"

static void report_growth(ppi_search *search, const char *place,
                          const char *state, const ppi_growth *growth) {
  double percent = growth->least_bytes / growth->low_bytes * 100;
  if (!growth->num_levels || !(percent >= search->threshold)) return;
  ppi_finding *finding = ppi_search_add(search, PPI_LATER_PROBLEM, 0);
  double seconds = (double)growth->span_ns / 1e9;
  double rate = growth->bytes / seconds;
  PPI_SAY(finding->text,
          "Memory %s %s grows: its lowest level rises by %s in %s, from %s on. "
          "That is %s a second.",
          state, ppi_words_name(place).text,
          ppi_words_bytes(growth->bytes).text,
          ppi_words_time((double)growth->span_ns).text,
          ppi_words_bytes(growth->low_bytes).text, ppi_words_bytes(rate).text);
  PPI_SAY(finding->sure, "at least %s, from the lows of %llu stretches of time",
          ppi_words_bytes(growth->least_bytes).text,
          (unsigned long long)growth->num_lows);
  PPI_SAY(finding->next,
          "look for what is kept: lists that only grow, caches without a "
          "bound; --view memory says which ranges allocate.");
  ppi_finding_value_add(finding, "grown", growth->bytes, "B");
  ppi_finding_value_add(finding, "grown_at_least", growth->least_bytes, "B");
  ppi_finding_value_add(finding, "low", growth->low_bytes, "B");
  ppi_finding_value_add(finding, "span", (double)growth->span_ns, "ns");
  ppi_finding_value_add(finding, "rate", rate, "B/s");
}

// Reserved memory grows with memory in use: only the latter is reported.
void ppi_rule_memory_grows(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  for (size_t i = 0; i < figures->num_places; i++) {
    const ppi_report_place *place = &figures->places[i];
    bool is_used = place->growth[0].num_levels;
    report_growth(search, place->name, is_used ? "in use on" : "reserved on",
                  &place->growth[!is_used]);
  }
}
