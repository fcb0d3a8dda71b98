// SPDX-License-Identifier: Apache-2.0
//
// Finds what the interpreter does to a run: its collections, and callbacks that
// keep an event loop.
#include "report/findings/rules.h"

void ppi_rule_collections(ppi_search *search) {
  const ppi_collections *found = NULL;
  int generation = 0;
  for (int i = 0; i < PPI_GENERATIONS; i++) {
    const ppi_collections *of = &search->figures->interpreter.collections[i];
    if (!of->num || (found && of->ns <= found->ns)) continue;
    found = of;
    generation = i;
  }
  double wall_ns = (double)search->figures->wall_ns;
  if (!found || !(wall_ns > 0)) return;
  double mean_ns = (double)found->ns / (double)found->num;
  double share = (double)found->ns / wall_ns;
  // Pauses as long as a usual unit matter, however rare. A single one may
  // belong to the end of the run.
  bool is_long = found->num > 1 && search->unit_ns > 0 &&
                 mean_ns > search->unit_ns / 2 && search->answer->num_units > 1;
  if (100 * share < search->threshold && !is_long) return;
  ppi_finding *finding =
      ppi_search_add(search, PPI_PROBLEM, PPI_MAX(share, 0.01));
  if (found->units_hit)
    PPI_SAY(
        finding->text,
        "%s of %ss hit a collection of generation %d, %s each (%s at most).",
        ppi_words_percent((double)found->units_hit, (double)found->units).text,
        found->are_requests ? "request" : "step", generation,
        ppi_words_time(mean_ns).text,
        ppi_words_time((double)found->longest_ns).text);
  else
    PPI_SAY(finding->text,
            "Collections of generation %d take %s of the run: %llu of %s each.",
            generation, ppi_words_percent(share, 1).text,
            (unsigned long long)found->num, ppi_words_time(mean_ns).text);
  PPI_SAY(finding->sure, "%llu collection%s", (unsigned long long)found->num,
          found->num == 1 ? "" : "s");
  PPI_SAY(finding->next,
          "call `gc.collect()` and `gc.freeze()` after loading, or keep fewer "
          "objects.");
  ppi_finding_value_add(finding, "collections", (double)found->num, "");
  ppi_finding_value_add(finding, "time", (double)found->ns, "ns");
  ppi_finding_value_add(finding, "longest", (double)found->longest_ns, "ns");
  ppi_finding_value_add(finding, "units_hit", (double)found->units_hit, "");
}

void ppi_rule_held_loop(ppi_search *search) {
  const ppi_held_loop *held = &search->figures->interpreter.held;
  if (!held->num || (double)held->longest_ns < 1e6 * search->threshold) return;
  double wall_ns = (double)PPI_MAX(search->figures->wall_ns, 1);
  ppi_finding *finding = ppi_search_add(
      search, PPI_PROBLEM, PPI_MAX((double)held->ns / wall_ns, 0.01));
  char waited[64] = "";
  if (held->are_requests && held->waited)
    PPI_SAY(waited, ": %llu request%s waited", (unsigned long long)held->waited,
            held->waited == 1 ? "" : "s");
  PPI_SAY(finding->text, "`%s` kept the event loop for %s%s.",
          ppi_words_name(held->name).text,
          ppi_words_time((double)held->longest_ns).text, waited);
  PPI_SAY(finding->sure, "%llu times, %s in all", (unsigned long long)held->num,
          ppi_words_time((double)held->ns).text);
  PPI_SAY(finding->next,
          "run it beside the loop: `await asyncio.to_thread(...)`, or in a "
          "process of its own.");
  ppi_finding_value_add(finding, "longest", (double)held->longest_ns, "ns");
  ppi_finding_value_add(finding, "times", (double)held->num, "");
  ppi_finding_value_add(finding, "waited", (double)held->waited, "");
}

void ppi_rule_held_lock(ppi_search *search) {
  const ppi_held_lock *lock = &search->figures->interpreter.lock;
  double wall_ns = (double)PPI_MAX(search->figures->wall_ns, 1);
  double share = (double)lock->ns / wall_ns;
  if (!lock->ns || 100 * share < search->threshold) return;
  ppi_finding *finding = ppi_search_add(search, PPI_PROBLEM, share);
  PPI_SAY(finding->text,
          "`%s` holds the interpreter's lock: `%s` waits for it %s a call.",
          ppi_words_name(lock->culprit).text, ppi_words_name(lock->victim).text,
          ppi_words_time((double)lock->ns / (double)lock->inside).text);
  PPI_SAY(finding->sure,
          "%llu calls began while it computed, %llu while it did not: %s of "
          "their time more off the processor",
          (unsigned long long)lock->inside, (unsigned long long)lock->outside,
          ppi_words_percent((double)lock->ns, (double)lock->of_ns).text);
  PPI_SAY(finding->next,
          "run `%s` in a process of its own, or in code that releases the "
          "lock; `pprof-report run --waits` records each wait.",
          ppi_words_name(lock->culprit).text);
  ppi_finding_value_add(finding, "time", (double)lock->ns, "ns");
  ppi_finding_value_add(finding, "calls", (double)lock->inside, "");
}
