// SPDX-License-Identifier: Apache-2.0
//
// Decides after each round of `try` whether to stop. The error is spent over
// looks (Lan and DeMets, 1983) by the union bound: each look has a share of the
// error and an interval of that share. So all intervals hold together, however
// the looks depend on each other (repeated confidence intervals: Jennison and
// Turnbull, 1989). The last look gets half of the error. Few rounds have
// Student's interval; more have Wilcoxon's (signed ranks, 1945), which a slow
// run moves little. If nothing changed, the two runs of a round can change
// places, so that interval holds for any distribution of runs. Several
// programs: successive halving (Karnin, Koren and Somekh, 2013), and each two
// of them are compared, too.
#include "compare/compare_turns.h"

#include <math.h>
#include <stdlib.h>

#include "base/mix.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "compare/compare_text.h"

// With fewer rounds no ranks are rare enough. More rounds are slow to count and
// nearly normal.
enum { FEWEST_RANKS = 20, MOST_RANKS = 500 };

// Clocks count whole ns, so equal figures have this error, not 0.
#define LEAST_SPREAD 1e-6

static const double growth = 1.35;  // from one look to the next

// Looks are at even numbers of rounds, where both orders were run as often.
static void plan_looks(ppi_turns *turns, size_t max_runs) {
  size_t last = PPI_MAX(max_runs, (size_t)PPI_TURNS_LEAST) / 2 * 2;
  size_t at = PPI_TURNS_LEAST;
  while (at < last && turns->num_looks + 1 < PPI_TURNS_MAX_LOOKS) {
    turns->looks[turns->num_looks++] = at;
    at = (size_t)ceil((double)at * growth / 2) * 2;
  }
  turns->looks[turns->num_looks++] = last;
}

// The error of this look, for one stage of one program, or for the first stage
// of two programs.
static double error_at(const ppi_turns *turns, size_t look) {
  size_t num = turns->num_programs;
  double tests = (double)(num * turns->num_stages + num * (num - 1) / 2);
  double all = PPI_COMPARE_ALPHA / tests;
  if (turns->num_looks == 1) return all;
  return look + 1 == turns->num_looks
             ? all / 2
             : all / 2 / (double)(turns->num_looks - 1);
}

void ppi_turns_open(ppi_turns *turns, size_t num_programs, size_t num_stages,
                    size_t max_runs, double until) {
  size_t num = num_programs * num_stages;
  *turns = (ppi_turns){
      .num_programs = num_programs, .num_stages = num_stages, .until = until};
  plan_looks(turns, max_runs);
  size_t most = turns->looks[turns->num_looks - 1];
  turns->figures = ppi_tool_must(ppi_alloc((num + 1) * sizeof *turns->figures));
  turns->changes =
      ppi_tool_must(ppi_alloc((num * most + 1) * sizeof *turns->changes));
  turns->rounds_of =
      ppi_tool_must(ppi_alloc((num_programs + 1) * sizeof *turns->rounds_of));
  turns->is_out =
      ppi_tool_must(ppi_alloc((num_programs + 1) * sizeof *turns->is_out));
  turns->is_behind =
      ppi_tool_must(ppi_alloc((num_programs + 1) * sizeof *turns->is_behind));
  for (size_t i = 0; i < num; i++)
    turns->figures[i] = (ppi_turn_figure){
        .changes = turns->changes + i * most,
        .low = -INFINITY,
        .high = INFINITY,
        .decision = {.verdict = PPI_VERDICT_AMBIGUOUS, .p = 1}};
}

void ppi_turns_close(ppi_turns *turns) {
  PPI_FREE_ALL(turns->figures, turns->changes, turns->rounds_of, turns->is_out,
               turns->is_behind);
  *turns = (ppi_turns){0};
}

ppi_turn_figure *ppi_turns_figure(const ppi_turns *turns, size_t program,
                                  size_t stage) {
  return &turns->figures[program * turns->num_stages + stage];
}

static void add_change(ppi_turn_figure *figure, double change) {
  double off = change - figure->mean;
  figure->changes[figure->num++] = change;
  figure->mean += off / (double)figure->num;
  figure->squares += off * (change - figure->mean);
}

void ppi_turns_add(ppi_turns *turns, size_t program, size_t stage,
                   double change) {
  add_change(ppi_turns_figure(turns, program, stage), change);
}

// Two rounds run as ABBA or BAAB, or as ABCCBA, BCAACB or CABBAC. ABBA alone
// would take what happens in every fourth run for a change. With this start no
// period alone looks like a change in 60 runs of two commands.
static const uint64_t first_order = 33;

size_t ppi_turns_command(const ppi_turns *turns, size_t place) {
  uint64_t num = turns->num_programs + 1;
  uint64_t bits = ppi_mix(first_order + turns->num_rounds / 2) >> 32;
  uint64_t at = turns->num_rounds % 2 ? num - 1 - place : place;
  return (size_t)((at + (bits * num >> 32)) % num);
}

// The parts of the intervals of `num` rounds, at this look.
typedef struct look_bounds {
  size_t num, rank;  // rank: 0 where there are too few for ranks
  double error, until;
  double sure, power;  // Student's, of the error and of a tenth
} look_bounds;

// How many sums of signed ranks are so rare that all of them together have a
// chance of `p`; 0: none.
static size_t rare_sums(size_t n, double p) {
  size_t most = n * (n + 1) / 2, num = 0;
  double *chances = ppi_tool_must(ppi_alloc((most + 1) * sizeof *chances));
  double sum = 0;
  for (size_t i = 0; i <= most; i++) chances[i] = i == 0;
  for (size_t rank = 1; rank <= n; rank++)
    for (size_t i = rank * (rank + 1) / 2 + 1; i-- > 0;)
      chances[i] = (chances[i] + (i >= rank ? chances[i - rank] : 0)) / 2;
  while (num < most && (sum += chances[num]) <= p) num++;
  ppi_free(chances);
  return num;
}

static look_bounds bounds_of(double error, double until, size_t num) {
  double degrees = (double)num - 1;
  bool has_ranks = num >= FEWEST_RANKS && num <= MOST_RANKS;
  return (look_bounds){.num = num,
                       .rank = has_ranks ? rare_sums(num, error / 2) : 0,
                       .error = error,
                       .until = until,
                       .sure = ppi_student_quantile(error / 2, degrees),
                       .power = ppi_student_quantile(0.1, degrees)};
}

typedef struct look_interval {
  double low, middle, high;
} look_interval;

static look_interval student_interval(const ppi_turn_figure *figure,
                                      const look_bounds *bounds) {
  double n = (double)figure->num;
  double spread = sqrt(figure->squares / (n - 1) / n) + LEAST_SPREAD;
  double reach = bounds->sure * spread;
  return (look_interval){figure->mean - reach, figure->mean,
                         figure->mean + reach};
}

// Bounds and median of the means of each two changes (Hodges and Lehmann,
// 1963).
static look_interval rank_interval(const ppi_turn_figure *figure, size_t rank) {
  size_t n = figure->num, num = 0;
  double *means = ppi_tool_must(ppi_alloc(n * (n + 1) / 2 * sizeof *means));
  for (size_t i = 0; i < n; i++)
    for (size_t k = i; k < n; k++)
      means[num++] = (figure->changes[i] + figure->changes[k]) / 2;
  double median = ppi_median_of(means, num);
  const look_interval out = {means[rank - 1] - LEAST_SPREAD, median,
                             means[num - rank] + LEAST_SPREAD};
  ppi_free(means);
  return out;
}

// Intersects the interval of this look with earlier ones: all hold together.
static void narrow(ppi_turn_figure *figure, const look_interval *interval) {
  double low = PPI_MAX(figure->low, interval->low);
  double high = PPI_MIN(figure->high, interval->high);
  if (low > high) return;
  figure->low = low;
  figure->high = high;
}

static look_interval interval_of(const ppi_turn_figure *figure,
                                 const look_bounds *bounds) {
  return bounds->rank ? rank_interval(figure, bounds->rank)
                      : student_interval(figure, bounds);
}

static void decide(ppi_turn_figure *figure, const look_bounds *usual) {
  ppi_decision *out = &figure->decision;
  if (figure->num < PPI_TURNS_LEAST) return;
  look_bounds bounds = *usual;
  if (figure->num != usual->num)
    bounds = bounds_of(usual->error, usual->until, figure->num);
  const look_interval interval = interval_of(figure, &bounds);
  narrow(figure, &interval);
  double reach = (interval.high - interval.low) / 2;
  out->is_tested = true;
  out->ratio = exp(interval.middle);
  out->low = exp(figure->low);
  out->high = exp(figure->high);
  out->detectable = expm1(reach * (1 + bounds.power / bounds.sure));
  if (figure->low > 0)
    out->verdict = PPI_VERDICT_SLOWER;
  else if (figure->high < 0)
    out->verdict = PPI_VERDICT_FASTER;
  else if (PPI_MAX(-figure->low, figure->high) <= log1p(bounds.until))
    out->verdict = PPI_VERDICT_SAME;
}

// Lists the programs still in, best first by the first stage.
static size_t order(const ppi_turns *turns, size_t *out) {
  size_t num = 0;
  for (size_t i = 0; i < turns->num_programs; i++) {
    if (turns->is_out[i]) continue;
    size_t at = num++;
    double mean = ppi_turns_figure(turns, i, 0)->mean;
    for (; at && ppi_turns_figure(turns, out[at - 1], 0)->mean > mean; at--)
      out[at] = out[at - 1];
    out[at] = i;
  }
  return num;
}

// Decides which of two programs is behind, by their rounds' first stages.
static void settle(ppi_turns *turns, size_t a, size_t b,
                   const look_bounds *bounds) {
  const ppi_turn_figure *of_a = ppi_turns_figure(turns, a, 0);
  const ppi_turn_figure *of_b = ppi_turns_figure(turns, b, 0);
  size_t num = bounds->num;
  if (of_a->num != num || of_b->num != num) return;
  ppi_turn_figure apart = {
      .changes = ppi_tool_must(ppi_alloc(num * sizeof *apart.changes))};
  for (size_t i = 0; i < num; i++)
    add_change(&apart, of_b->changes[i] - of_a->changes[i]);
  const look_interval interval = interval_of(&apart, bounds);
  ppi_free(apart.changes);
  turns->is_behind[1 + a] |= interval.high < 0;
  turns->is_behind[1 + b] |= interval.low > 0;
  turns->are_alike =
      PPI_MAX(-interval.low, interval.high) <= log1p(bounds->until);
}

static void settle_all(ppi_turns *turns, const look_bounds *bounds) {
  for (size_t i = 0; i < turns->num_programs; i++) {
    const ppi_turn_figure *figure = ppi_turns_figure(turns, i, 0);
    if (turns->is_out[i]) continue;
    turns->is_behind[0] |= figure->high < 0;
    turns->is_behind[1 + i] |= figure->low > 0;
    for (size_t k = 0; k < i; k++)
      if (!turns->is_out[k]) settle(turns, k, i, bounds);
  }
}

// Of two the worse one stays until it is surely that.
static void halve(ppi_turns *turns) {
  size_t *places =
      ppi_tool_must(ppi_alloc(turns->num_programs * sizeof *places));
  size_t num = order(turns, places);
  for (size_t i = (num + 1) / 2; i < num; i++)
    turns->is_out[places[i]] = num > 2 || turns->is_behind[1 + places[i]];
  ppi_free(places);
}

static bool all_decided(const ppi_turns *turns) {
  size_t num = 0;
  for (size_t i = 0; i < turns->num_programs; i++) {
    if (turns->is_out[i]) continue;
    num++;
    for (size_t k = 0; k < turns->num_stages; k++)
      if (ppi_turns_figure(turns, i, k)->decision.verdict ==
          PPI_VERDICT_AMBIGUOUS)
        return false;
  }
  return num < 2 || (num == 2 && turns->are_alike);
}

bool ppi_turns_end_round(ppi_turns *turns) {
  turns->num_rounds++;
  for (size_t i = 0; i < turns->num_programs; i++)
    if (!turns->is_out[i]) turns->rounds_of[i] = turns->num_rounds;
  if (turns->num_rounds < turns->looks[turns->next_look]) return true;
  const look_bounds bounds = bounds_of(error_at(turns, turns->next_look),
                                       turns->until, turns->num_rounds);
  turns->next_look++;
  for (size_t i = 0; i < turns->num_programs; i++)
    for (size_t k = 0; !turns->is_out[i] && k < turns->num_stages; k++)
      decide(ppi_turns_figure(turns, i, k), &bounds);
  settle_all(turns, &bounds);
  if (turns->next_look == turns->num_looks) return false;
  halve(turns);
  return !all_decided(turns);
}

// ---- the result, as a table with an answer in words ----

static ppi_cell time_of(double log_ns) {
  return isfinite(log_ns) ? ppi_cell_time((uint64_t)llround(exp(log_ns)))
                          : (ppi_cell){0};
}

// A change, where it is tested.
static ppi_cell change_of(const ppi_decision *decision, double share) {
  return decision->is_tested ? ppi_cell_decimal(100 * share) : (ppi_cell){0};
}

// clang-format off
#define COLUMNS(each) \
  each(name, NULL, "Name", 10, 1, text(own->name)) \
  each(category, NULL, NULL, 0, 0, text(own->category)) \
  each(side, NULL, "Side", 6, 2, text(ppi_compare_side(own))) \
  each(metric, NULL, "Metric", 6, 0, text(ppi_metric_name(result->metric))) \
  each(new, NULL, "New", 3, 3, count(program + 1)) \
  each(runs, NULL, "Runs", 4, 4, count(figure->num)) \
  each(base, "ns", "Base / new", 10, 0, as(time_of(logs[0]))) \
  each(time, "ns", "", 0, 0, as(time_of(logs[num * (program + 1)]))) \
  each(change, "%", "Change(%)", 9, 5, as(change_of(found, found->ratio - 1))) \
  each(change_low, "%", "From / to", 9, 6, as(change_of(found, found->low - 1))) \
  each(change_high, "%", "", 0, 7, as(change_of(found, found->high - 1))) \
  each(detectable, "%", "Sees(%)", 7, 0, \
       as(change_of(found, found->detectable))) \
  each(verdict, NULL, "Verdict", 9, 8, text(ppi_verdict_name(found->verdict)))
// clang-format on
PPI_VIEW_TABLE(turns, COLUMNS);
static const ppi_view_kind kind = {PPI_VIEW_OF(turns, "try", "Try")};

static void add_row(const ppi_turns_result *result, size_t program,
                    size_t stage, ppi_view *view) {
  const ppi_compare_stage *own = result->stages[stage];
  const ppi_turn_figure *figure =
      ppi_turns_figure(result->turns, program, stage);
  const ppi_decision *found = &figure->decision;
  const double *logs = result->logs + stage;
  size_t num = result->turns->num_stages;
  ppi_cell *cells = ppi_tool_row(view);
  PPI_VIEW_PUT(COLUMNS, cells);
}

static void put_change(const ppi_turns_result *result, size_t program,
                       size_t stage, ppi_page *out) {
  const ppi_decision *decision =
      &ppi_turns_figure(result->turns, program, stage)->decision;
  ppi_tool_put(out, "%s is surely %s: %+.1f %% (%+.1f to %+.1f %%)",
               result->stages[stage]->name, ppi_verdict_name(decision->verdict),
               100 * (decision->ratio - 1), 100 * (decision->low - 1),
               100 * (decision->high - 1));
}

// The largest of the stages' smallest detectable changes.
static double worst_detectable(const ppi_turns *turns, size_t program) {
  double most = 0;
  for (size_t i = 0; i < turns->num_stages; i++)
    most =
        PPI_MAX(most, ppi_turns_figure(turns, program, i)->decision.detectable);
  return most;
}

static void put_answer(const ppi_turns_result *result, size_t program,
                       ppi_page *out) {
  const ppi_turns *turns = result->turns;
  size_t num = 0, same = 0;
  for (size_t i = 0; i < turns->num_stages; i++) {
    ppi_verdict verdict = ppi_turns_figure(turns, program, i)->decision.verdict;
    same += verdict == PPI_VERDICT_SAME;
    if (verdict > PPI_VERDICT_SLOWER) continue;
    ppi_page_format(out, "%s", num++ ? "; " : "");
    if (num == 1) ppi_page_format(out, "New %zu: ", program + 1);
    put_change(result, program, i, out);
  }
  if (num == 0 && same == turns->num_stages)
    ppi_page_format(out, "New %zu: no stage changed by more than %.3g %%",
                    program + 1, 100 * turns->until);
  else if (num == 0)
    ppi_page_format(out,
                    "New %zu: no change was found; one of %.3g %% would have "
                    "been, in any stage",
                    program + 1, 100 * worst_detectable(turns, program));
  ppi_page_format(out, "; %zu runs a side%s\n", turns->rounds_of[program],
                  !turns->is_out[program] ? ""
                  : turns->is_behind[1 + program]
                      ? ", then dropped: surely slower than another"
                      : ", then dropped as one of the worse half");
}

static void put_command(size_t command, ppi_page *out) {
  if (command)
    ppi_page_format(out, "New %zu", command);
  else
    ppi_page_text(out, "base");
}

static double mean_of(const ppi_turns *turns, size_t command) {
  return command ? ppi_turns_figure(turns, command - 1, 0)->mean : 0;
}

// Ranks all commands by the first stage, and says which one is surely the best.
static void put_ranking(const ppi_turns_result *result, ppi_page *out) {
  const ppi_turns *turns = result->turns;
  size_t places[1 + PPI_TURNS_MOST], num_ahead = 0;
  for (size_t i = 0; i <= turns->num_programs; i++) {
    size_t at = i;
    for (; at && mean_of(turns, places[at - 1]) > mean_of(turns, i); at--)
      places[at] = places[at - 1];
    places[at] = i;
    num_ahead += !turns->is_behind[i];
  }
  ppi_page_text(out, "By ");
  ppi_page_visible(out, result->stages[0]->name);
  ppi_page_text(out, ", the best first");
  for (size_t i = 0; i <= turns->num_programs; i++) {
    ppi_page_text(out, i ? ", " : ": ");
    put_command(places[i], out);
  }
  ppi_page_text(
      out, num_ahead == 1 ? "; surely the best" : "; not surely different");
  for (size_t i = 0, num = 0; i <= turns->num_programs; i++) {
    if (turns->is_behind[places[i]]) continue;
    ppi_page_text(out, num++ ? ", " : ": ");
    put_command(places[i], out);
  }
  ppi_page_text(out, "\n");
}

static void put_notes(const ppi_turns_result *result, ppi_page *out) {
  for (size_t i = 0; i < result->turns->num_programs; i++) {
    if (result->turns->num_programs > 1)
      ppi_tool_put(out, "New %zu is %s\n", i + 1, result->commands[i + 1]);
    put_answer(result, i, out);
  }
  if (result->turns->num_programs > 1) put_ranking(result, out);
  ppi_page_bytes(out, result->notes->bytes, result->notes->len);
}

int ppi_turns_print(const ppi_turns_result *result, int code) {
  const ppi_turns *turns = result->turns;
  ppi_view view = {.kind = &kind};
  ppi_page page = {.is_raw = result->options->raw};
  for (size_t i = 0; i < turns->num_programs; i++)
    for (size_t k = 0; k < turns->num_stages; k++) add_row(result, i, k, &view);
  put_notes(result, &view.note);
  ppi_tool_rows_all(&page, &view, result->options, "pprof.try/1");
  ppi_view_clear(&view);
  return ppi_tool_output_page(result->options, &page, code);
}
