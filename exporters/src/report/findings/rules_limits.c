// SPDX-License-Identifier: Apache-2.0
//
// Finds what the recording missed, and its cost.
#include "report/findings/rules.h"

#include "report/figures/ranks.h"

void ppi_rule_lost(ppi_search *search) {
  const uint64_t *totals = search->figures->totals;
  double lost = (double)totals[PPI_TOTAL_LOST];
  double all = lost + (double)totals[PPI_TOTAL_RECORDED];
  if (lost == 0 || 100 * lost < search->threshold * all) return;
  ppi_finding *finding = ppi_search_add(search, PPI_LIMIT, 0);
  PPI_SAY(finding->text,
          "%.0f of %.0f records were lost (%s): every figure lacks them.", lost,
          all, ppi_words_percent(lost, all).text);
  PPI_SAY(finding->next, "%s",
          ppi_figures_are_imported(search->figures)
              ? "the notes list what the import left out (docs/import.md)."
              : "give the recorder more memory (memory_limit), or record fewer "
                "stages.");
  ppi_finding_value_add(finding, "lost", lost, "");
  ppi_finding_value_add(finding, "share", 100 * lost / all, "%");
}

static const char *why_unknown(const ppi_figures *figures) {
  bool has_error = figures->totals[PPI_TOTAL_CLOCK_ERROR_NS] > 0;
  if (!figures->totals[PPI_TOTAL_NO_DEVICE_TIME])
    return "the gaps are shorter than the clock error";
  return has_error
             ? "work without a device time may lie there, or the gaps are "
               "shorter than the clock error"
             : "work without a device time may lie there";
}

// Gaps that are shorter than the clock errors of their borders, or that may
// contain untimed work.
void ppi_rule_clock_error(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  double wall_ns = 0, unknown_ns = 0;
  for (size_t i = 0; i < figures->num_devices; i++) {
    wall_ns += (double)figures->devices[i].wall_ns;
    unknown_ns += (double)figures->devices[i].idle_ns[PPI_IDLE_UNRESOLVED];
  }
  if (unknown_ns == 0 || 100 * unknown_ns < search->threshold * wall_ns) return;
  ppi_finding *finding = ppi_search_add(search, PPI_LIMIT, 0);
  double error_ns = (double)figures->totals[PPI_TOTAL_CLOCK_ERROR_NS];
  PPI_SAY(finding->text,
          "For %s of the devices' time it is unknown whether they worked or "
          "waited: %s%s%s%s.",
          ppi_words_percent(unknown_ns, wall_ns).text, why_unknown(figures),
          error_ns > 0 ? " (up to " : "",
          error_ns > 0 ? ppi_words_time(error_ns).text : "",
          error_ns > 0 ? ")" : "");
  PPI_SAY(finding->next, "%s",
          ppi_figures_are_imported(figures)
              ? "the notes say why (docs/import.md)."
              : "read how a device's clock is measured: "
                "docs/device-timing.md.");
  ppi_finding_value_add(finding, "share", 100 * unknown_ns / wall_ns, "%");
  ppi_finding_value_add(finding, "clock_error", error_ns, "ns");
}

// A table of steps has no row for a process without steps, such as a worker of
// a data loader.
void ppi_rule_left_out(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  double num = (double)ppi_ranks_left_out(figures, search->base);
  if (num == 0 || num < search->threshold) return;
  ppi_finding *finding = ppi_search_add(search, PPI_LIMIT, 0);
  PPI_SAY(finding->text,
          "%.0f of %zu logs have no %ss: their time is in no row.", num,
          figures->num_inputs, search->unit);
  PPI_SAY(finding->next, "--tree and --by thread show their time.");
  ppi_finding_value_add(finding, "logs", num, "");
}

void ppi_rule_names(ppi_search *search) {
  double num = (double)search->figures->totals[PPI_TOTAL_NAMES_OVERFLOWED];
  if (num == 0 || num < search->threshold) return;
  ppi_finding *finding = ppi_search_add(search, PPI_LIMIT, 0);
  PPI_SAY(finding->text,
          "There were too many different names: %.0f ranges are under <other>.",
          num);
  PPI_SAY(finding->next,
          "keep numbers, paths and ids out of the names of "
          "stages.");
  ppi_finding_value_add(finding, "overflowed", num, "");
}

void ppi_rule_device_times(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  double timed = 0, untimed = 0;
  for (size_t i = 0; i < figures->num_devices; i++) {
    timed += (double)figures->devices[i].ranges;
    untimed += (double)figures->devices[i].untimed;
  }
  double all = timed + untimed;
  if (untimed == 0 || 100 * untimed <= search->threshold * all) return;
  ppi_finding *finding = ppi_search_add(search, PPI_LIMIT, 0);
  PPI_SAY(finding->text,
          "%.0f of %.0f device ranges have no device time (%s): devices were "
          "busier than the figures say.",
          untimed, all, ppi_words_percent(untimed, all).text);
  PPI_SAY(finding->next, "%s",
          ppi_figures_are_imported(figures)
              ? "the notes say why (docs/import.md)."
              : "read why a device time can be missing: "
                "docs/device-timing.md.");
  ppi_finding_value_add(finding, "untimed", untimed, "");
  ppi_finding_value_add(finding, "share", 100 * untimed / all, "%");
}

// The session's note that it has timed nothing of a device in use.
void ppi_rule_not_timed(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  double num = 0;
  for (size_t i = 0; i < figures->num_notes; i++)
    num += strcmp(figures->notes[i].key, "cuda") == 0;
  if (num < search->threshold || figures->num_devices) return;
  ppi_finding *finding = ppi_search_add(search, PPI_LIMIT, 0);
  PPI_SAY(finding->text,
          "The program used CUDA, and nothing timed its work there: no figure "
          "here says when a device worked.");
  PPI_SAY(finding->next,
          "pprof-report run --kernels (docs/devices.md), or device ranges "
          "(docs/devices.md).");
}

void ppi_rule_own_cost(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  double cost_ns = (double)figures->totals[PPI_TOTAL_OWN_COST_TOTAL_NS];
  double wall_ns = (double)figures->wall_ns;
  if (cost_ns == 0 || 100 * cost_ns < search->threshold * wall_ns) return;
  ppi_finding *finding = ppi_search_add(search, PPI_LIMIT, 0);
  PPI_SAY(finding->text,
          "Recording itself took %s, %s of the recorded time, over all "
          "threads.",
          ppi_words_time(cost_ns).text,
          ppi_words_percent(cost_ns, wall_ns).text);
  PPI_SAY(finding->next,
          "mark longer stages, or keep fewer of them (docs/capture.md).");
  ppi_finding_value_add(finding, "cost", cost_ns, "ns");
  ppi_finding_value_add(finding, "share", 100 * cost_ns / wall_ns, "%");
}

void ppi_rule_identity(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  double failed = 0;
  const char *first = NULL;
  for (size_t i = 0; i < figures->num_devices; i++) {
    if (!figures->devices[i].failed) continue;
    if (!first) first = figures->devices[i].name;
    failed++;
  }
  if (!first || failed < search->threshold) return;
  ppi_finding *finding = ppi_search_add(search, PPI_LIMIT, 0);
  PPI_SAY(finding->text,
          "The times of %s do not add up: busy and idle time are not the "
          "recorded time.",
          ppi_words_name(first).text);
  PPI_SAY(finding->next,
          "do not trust this device's figures; send the log to "
          "the authors.");
  ppi_finding_value_add(finding, "devices", failed, "");
}
