// SPDX-License-Identifier: Apache-2.0
//
// Runs the table of rules, and sorts their findings.
#include "report/findings/findings.h"
#include "report/figures/sum.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/findings/answer_line.h"
#include "report/findings/rules.h"

typedef struct rule {
  ppi_finding_rule known;
  void (*look)(ppi_search *search);
} rule;

#define ROW(name, id, threshold, unit, why) \
  {{id, threshold, unit, why}, ppi_rule_##name},
static const rule rules[] = {PPI_RULES(ROW)};
#undef ROW
enum { NUM_RULES = sizeof rules / sizeof *rules };
_Static_assert((int)NUM_RULES <= (int)PPI_MOST_RULES, "room in the options");

size_t ppi_finding_num_rules(void) {
  return NUM_RULES;
}

const ppi_finding_rule *ppi_finding_rule_at(size_t index) {
  return index < NUM_RULES ? &rules[index].known : NULL;
}

pprof_status ppi_findings_set(ppi_findings_options *options, const char *id,
                              double threshold) {
  for (size_t i = 0; i < NUM_RULES; i++) {
    if (strcmp(rules[i].known.id, id) != 0) continue;
    if (!isfinite(threshold) || threshold < 0) return PPROF_STATUS_INVALID;
    options->is_set[i] = true;
    options->thresholds[i] = threshold;
    return PPROF_STATUS_OK;
  }
  return PPROF_STATUS_INVALID;
}

PPI_ORDER(compare_findings, ppi_finding,
          PPI_DOWN(is_limit) PPI_DOWN(ns) PPI_BY_TEXT(id) PPI_BY_TEXT(text))

// Rules that the limit model replaces where it has a verdict.
static bool is_of_limit(const char *id) {
  static const char *const ids[] = {"device-bound", "dominates", "queueing",
                                    "waiting", "input-bound"};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
    if (strcmp(ids[i], id) == 0) return true;
  return false;
}

static void look(ppi_search *search, const ppi_findings_options *options) {
  bool has_limit = search->figures->limit.claim != PPI_CLAIM_NONE;
  for (size_t i = 0; i < NUM_RULES && !search->failed; i++) {
    if (has_limit && is_of_limit(rules[i].known.id)) continue;
    bool is_set = options && options->is_set[i];
    search->id = rules[i].known.id;
    search->threshold =
        is_set ? options->thresholds[i] : rules[i].known.threshold;
    rules[i].look(search);
  }
}

static void put_nothing(const ppi_search *search, ppi_findings *out) {
  const ppi_answer *answer = search->answer;
  double usual_ns = (double)ppi_histogram_quantile(&answer->times, 0.5);
  if (search->impossible.hides_findings)
    PPI_SAY(out->nothing, "No rule looks for more where times are wrong.");
  else if (answer->num_units > 1 && usual_ns > 0)
    PPI_SAY(out->nothing,
            "Nothing else stands out: the longest %s takes %.2f times the "
            "median; no rule found anything above its threshold.",
            search->unit, (double)answer->max_ns / usual_ns);
  else if (answer->total_ns)
    PPI_SAY(out->nothing,
            "Nothing else stands out: no rule found anything above its "
            "threshold.");
  else
    PPI_SAY(out->nothing, "Nothing stands out: no time was recorded.");
}

pprof_status ppi_findings_of(const ppi_figures *figures,
                             const ppi_findings_options *options,
                             ppi_findings *out) {
  static const char *const units[PPI_NUM_BASES] = {
      [PPI_BASE_WALL] = "a run",
      [PPI_BASE_ITERATION] = "an iteration",
      [PPI_BASE_STEP] = "a step",
      [PPI_BASE_REQUEST] = "a request"};
  *out = (ppi_findings){.base = ppi_figures_base(figures)};
  const ppi_answer *answer = &figures->answers[out->base];
  ppi_search search = {.figures = figures,
                       .answer = answer,
                       .base = out->base,
                       .unit = strchr(units[out->base], ' ') + 1,
                       .a_unit = units[out->base],
                       .rooflines = options ? options->rooflines : NULL,
                       .num_rooflines = options ? options->num_rooflines : 0,
                       .out = out};
  if (answer->num_units)
    search.unit_ns = (double)answer->total_ns / (double)answer->num_units;
  search.impossible = ppi_impossible_of(figures);
  look(&search, options);
  ppi_answer_line(&search);
  if (out->num == 0) put_nothing(&search, out);
  if (out->num > 1)
    qsort(out->items, out->num, sizeof *out->items, compare_findings);
  if (search.failed) ppi_findings_clear(out);
  return search.failed ? PPROF_STATUS_NO_MEMORY : PPROF_STATUS_OK;
}

void ppi_findings_clear(ppi_findings *findings) {
  ppi_free(findings->items);
  *findings = (ppi_findings){0};
}
