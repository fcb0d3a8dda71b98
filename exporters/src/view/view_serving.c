// SPDX-License-Identifier: Apache-2.0
//
// Builds the Serving view: the waiting, prefill and decode of requests of each
// class, and their tokens. docs/serving.md defines its terms.
#include <inttypes.h>

#include "view/view.h"

static bool has_slo(const ppi_slo *slo) {
  return slo->ttft_ns || slo->itl_ns || slo->tpot_ns || slo->e2e_ns;
}

static ppi_cell per_second(uint64_t num, uint64_t span_ns) {
  if (!span_ns) return (ppi_cell){0};
  return ppi_cell_decimal((double)num * 1e9 / (double)span_ns);
}

static ppi_cell at_a_time(uint64_t sum_ns, uint64_t span_ns) {
  if (!span_ns) return (ppi_cell){0};
  return ppi_cell_decimal((double)sum_ns / (double)span_ns);
}

// clang-format off
#define ROW(each) \
  each(name, NULL, "Name", 15, 1, text(from->name)) \
  each(category, NULL, NULL, 0, 0, text(from->category_name)) \
  each(measure, NULL, "Time", 15, 2, text(ppi_serving_time_name(time))) \
  each(n, NULL, "Count", 8, 3, count(spread->n)) \
  each(avg, "ns", "Avg / P50 / P90 / P99 / Max", 40, 4, average(spread)) \
  each(p50, "ns", "", 0, 5, quantile(times, 50)) \
  each(p90, "ns", "", 0, 6, quantile(times, 90)) \
  each(p99, "ns", "", 0, 7, quantile(times, 99)) \
  each(max, "ns", "", 0, 8, if (spread->n, ppi_cell_most(spread)))
// The end-to-end row has the figures of the class as a whole. Little: L of all
// requests, divided by rate x W of the whole ones.
#define CLASS(each) \
  each(requests, NULL, NULL, 0, 0, count(sums->num_whole)) \
  each(cut, NULL, NULL, 0, 0, count(sums->num_cut)) \
  each(without_tokens, NULL, NULL, 0, 0, count(sums->num_silent)) \
  each(tokens_in, NULL, NULL, 0, 0, count(sums->tokens_in)) \
  each(tokens_out, NULL, NULL, 0, 0, count(sums->tokens_out)) \
  each(request_rate, "1/s", NULL, 0, 0, \
       as(per_second(sums->num_whole, span_ns))) \
  each(token_rate, "1/s", NULL, 0, 0, \
       as(per_second(sums->tokens_out, span_ns))) \
  each(waiting, NULL, NULL, 0, 0, \
       if (!sums->num_undivided, at_a_time(sums->waiting_ns, span_ns))) \
  each(running, NULL, NULL, 0, 0, \
       if (!sums->num_undivided, at_a_time(sums->running_ns, span_ns))) \
  each(little, "%", NULL, 0, 0, \
       ratio((int64_t)(sums->waiting_ns + sums->running_ns), \
             sums->spreads[PPI_SERVING_E2E].sum)) \
  each(good, NULL, NULL, 0, 0, if (is_judged, ppi_cell_count(sums->num_good))) \
  each(goodput, "1/s", NULL, 0, 0, \
       if (is_judged, per_second(sums->num_good, span_ns))) \
  each(unequal, NULL, NULL, 0, 0, count(sums->num_unequal))
// Figures of both kinds of iterations together; the first of their rows has
// them.
#define ITERATIONS(each) \
  each(batch, NULL, NULL, 0, 0, \
       decimal((double)sums->batch / (double)sums->n)) \
  each(batch_max, NULL, NULL, 0, 0, count(sums->most)) \
  each(prefills, NULL, NULL, 0, 0, count(sums->prefills)) \
  each(base, "ns", NULL, 0, 0, if (is_known, ppi_cell_decimal(fit.base_ns))) \
  each(per_request, "ns", NULL, 0, 0, \
       if (is_known, ppi_cell_decimal(fit.request_ns))) \
  each(per_prefill, "ns", NULL, 0, 0, \
       if (is_known && sums->prefills, ppi_cell_decimal(fit.prefill_ns))) \
  each(per_prefill_token, "ns", NULL, 0, 0, \
       if (token_ns > 0, ppi_cell_decimal(token_ns)))
#define SLOWEST(each) \
  each(slow, NULL, NULL, 0, 0, count(slow.n)) \
  each(slow_from, "ns", NULL, 0, 0, time(from_ns))
#define PARTS(each) \
  each(slow_before_queue, "%", NULL, 0, 0) \
  each(slow_queue, "%", NULL, 0, 0) \
  each(slow_prefill, "%", NULL, 0, 0) \
  each(slow_to_first_token, "%", NULL, 0, 0) \
  each(slow_decode, "%", NULL, 0, 0) \
  each(slow_prefill_in, "%", NULL, 0, 0) \
  each(slow_to_last_token, "%", NULL, 0, 0) \
  each(slow_rest, "%", NULL, 0, 0)
#define COLUMNS(each) \
  ROW(each) CLASS(each) ITERATIONS(each) SLOWEST(each) PARTS(each)
// clang-format on
PPI_VIEW_TABLE(serving, COLUMNS);
PPI_VIEW_CELLS(COLUMNS);

static void put_class(const ppi_figures *figures, const ppi_serving *sums,
                      ppi_cell *cells) {
  uint64_t span_ns = sums->span_ns;
  bool is_judged = has_slo(&figures->details.slo);
  PPI_VIEW_PUT(CLASS, cells + CELL_requests);
}

static uint64_t parts_sum(const ppi_serving_slow *slow) {
  uint64_t sum_ns = 0;
  for (int i = 0; i < PPI_NUM_SERVING_PARTS; i++) sum_ns += slow->parts_ns[i];
  return sum_ns;
}

static void put_slow(const ppi_serving *sums, ppi_cell *cells) {
  ppi_serving_slow slow;
  uint64_t from_ns = ppi_serving_slowest(sums, &slow);
  uint64_t sum_ns = parts_sum(&slow);
  if (!slow.n) return;
  PPI_VIEW_PUT(SLOWEST, cells + CELL_slow);
  for (int i = 0; i < PPI_NUM_SERVING_PARTS; i++)
    if (ppi_serving_part_is_known(&slow, (ppi_serving_part)i))
      cells[CELL_slow_before_queue + i] =
          ppi_cell_ratio((int64_t)slow.parts_ns[i], sum_ns);
}

// The cost of a prompt token: that of a prefill by the mean tokens of a
// request. 0: unknown, as with several names that prefill.
static double per_token(const ppi_figures *figures,
                        const ppi_iteration_fit *fit) {
  uint64_t tokens = 0, requests = 0;
  size_t num = 0;
  for (size_t i = 0; i < figures->num_serving; i++) {
    const ppi_serving *sums = &figures->serving[i].sums;
    num += sums->iterations.prefills > 0;
    if (!sums->spreads[PPI_SERVING_QUEUE].n) continue;
    tokens += sums->tokens_in;
    requests += sums->num_whole;
  }
  if (num != 1 || !tokens || fit->prefill_ns <= 0) return 0;
  return fit->prefill_ns * (double)requests / (double)tokens;
}

static void put_iterations(const ppi_figures *figures,
                           const ppi_iterations *sums, ppi_cell *cells) {
  ppi_iteration_fit fit = {0};
  bool is_known = ppi_iterations_fit(sums, &fit);
  double token_ns = is_known && sums->prefills ? per_token(figures, &fit) : 0;
  PPI_VIEW_PUT(ITERATIONS, cells + CELL_batch);
}

static bool is_first_iteration(const ppi_serving *sums, ppi_serving_time time) {
  return time == PPI_SERVING_ITERATION ||
         (time == PPI_SERVING_ITERATION_MIXED &&
          !sums->spreads[PPI_SERVING_ITERATION].n);
}

static void add_row(ppi_view *view, const ppi_figures *figures,
                    const ppi_report_serving *from, ppi_serving_time time) {
  const ppi_spread *spread = &from->sums.spreads[time];
  const ppi_histogram *times = &from->sums.times[time];
  bool is_whole = time == PPI_SERVING_E2E && ppi_serving_is_class(&from->sums);
  if (!spread->n && !is_whole) return;
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(ROW, cells);
  if (is_whole) put_class(figures, &from->sums, cells);
  if (is_whole) put_slow(&from->sums, cells);
  if (is_first_iteration(&from->sums, time))
    put_iterations(figures, &from->sums.iterations, cells);
}

// ---- the note below the table ----

static void put_rate(ppi_page *page, uint64_t num, uint64_t span_ns) {
  double rate = span_ns ? (double)num * 1e9 / (double)span_ns : 0;
  if (rate > 0 && rate < 0.95) {
    ppi_page_rate(page, rate);
    ppi_page_text(page, "/s");
  } else if (span_ns) {
    ppi_page_format(page, "%.1f/s", rate);
  } else {
    ppi_page_text(page, "-/s");
  }
}

static void put_at_a_time(ppi_page *page, const char *what, uint64_t sum_ns,
                          uint64_t span_ns) {
  double num = span_ns ? (double)sum_ns / (double)span_ns : 0;
  ppi_page_format(page, "%s %.2f", what, num);
}

static void put_good(ppi_page *page, const ppi_figures *figures,
                     const ppi_serving *sums) {
  const ppi_cell share =
      ppi_cell_ratio((int64_t)sums->num_good, sums->num_whole);
  if (!has_slo(&figures->details.slo)) return;
  ppi_page_format(page, "; good %" PRIu64 " = ", sums->num_good);
  ppi_page_cell(page, &share, ppi_page_visible, "-");
  ppi_page_text(page, " %, ");
  put_rate(page, sums->num_good, sums->span_ns);
}

static void put_ms(ppi_page *page, double ns, const char *what) {
  ppi_page_fixed(page, ns / 1e6, 2);
  ppi_page_text(page, what);
}

static void put_slowest(ppi_page *page, const ppi_serving *sums) {
  ppi_serving_slow slow;
  uint64_t from_ns = ppi_serving_slowest(sums, &slow);
  uint64_t sum_ns = parts_sum(&slow);
  if (!sum_ns) return;
  ppi_page_format(page, "  the slowest %" PRIu64 ", from ", slow.n);
  put_ms(page, (double)from_ns, " ms on: ");
  const char *before = "";
  for (int i = 0; i < PPI_NUM_SERVING_PARTS; i++) {
    if (!ppi_serving_part_is_known(&slow, (ppi_serving_part)i)) continue;
    double share = 100 * (double)slow.parts_ns[i] / (double)sum_ns;
    ppi_page_format(page, "%s%s ", before,
                    ppi_serving_part_name((ppi_serving_part)i));
    before = ", ";
    ppi_page_fixed(page, share, 0);
    ppi_page_text(page, " %");
  }
  ppi_page_text(page, "\n");
}

static void put_summary(ppi_page *page, const ppi_figures *figures,
                        const ppi_report_serving *from) {
  const ppi_serving *sums = &from->sums;
  uint64_t span_ns = sums->span_ns;
  ppi_page_visible(page, from->name);
  ppi_page_format(page, ": %" PRIu64 " requests, ", sums->num_whole);
  put_rate(page, sums->num_whole, span_ns);
  ppi_page_format(page,
                  " (beside them %" PRIu64 " cut); tokens in %" PRIu64
                  ", out %" PRIu64 ", ",
                  sums->num_cut, sums->tokens_in, sums->tokens_out);
  put_rate(page, sums->tokens_out, span_ns);
  if (sums->num_undivided) {
    put_at_a_time(page, "\n  at a time", sums->waiting_ns + sums->running_ns,
                  span_ns);
    ppi_page_text(page, " under way");
  } else {
    put_at_a_time(page, "\n  at a time waiting", sums->waiting_ns, span_ns);
    put_at_a_time(page, ", running", sums->running_ns, span_ns);
  }
  put_good(page, figures, sums);
  ppi_page_text(page, "\n");
  put_slowest(page, sums);
}

static void put_iteration(ppi_page *page, const ppi_figures *figures,
                          const ppi_report_serving *from) {
  const ppi_iterations *sums = &from->sums.iterations;
  ppi_iteration_fit fit;
  if (!sums->n) return;
  ppi_page_visible(page, from->name);
  ppi_page_format(page, ": %" PRIu64 " times, each of ", sums->n);
  ppi_page_fixed(page, (double)sums->batch / (double)sums->n, 2);
  ppi_page_format(
      page, " requests, %" PRIu64 " at most; %" PRIu64 " for the first time\n",
      sums->most, sums->prefills);
  if (!ppi_iterations_fit(sums, &fit)) return;
  ppi_page_text(page, "  without a prefill, by least squares, ");
  put_ms(page, fit.base_ns, " ms + ");
  put_ms(page, fit.request_ns, " ms a request");
  if (sums->prefills) {
    ppi_page_text(page, "; for each prefill ");
    put_ms(page, fit.prefill_ns, " ms more");
    double token_ns = per_token(figures, &fit);
    if (token_ns > 0)
      ppi_page_format(page, ", %.2f us a token", token_ns / 1e3);
  }
  ppi_page_text(page, "\n");
}

// With tokens after its end, a request's end-to-end time is not TTFT + (n - 1)
// x TPOT. Without its schedule, it has only the time of its first token.
static void put_gaps(ppi_page *page, const ppi_figures *figures) {
  uint64_t num = 0, unequal = 0, undivided = 0;
  for (size_t i = 0; i < figures->num_serving; i++) {
    num += figures->serving[i].sums.num_whole;
    unequal += figures->serving[i].sums.num_unequal;
    undivided += figures->serving[i].sums.num_undivided;
  }
  if (unequal)
    ppi_page_format(page,
                    "%" PRIu64 " of %" PRIu64
                    " requests got tokens after their end, which are in no "
                    "figure.\n",
                    unequal, num);
  if (undivided)
    ppi_page_format(page,
                    "%" PRIu64
                    " requests do not say when they were scheduled: how their "
                    "TTFT divides is unknown.\n",
                    undivided);
}

static void put_note(ppi_view *view, const ppi_figures *figures) {
  ppi_page *page = &view->note;
  for (size_t i = 0; i < figures->num_serving; i++)
    if (ppi_serving_is_class(&figures->serving[i].sums))
      put_summary(page, figures, &figures->serving[i]);
  for (size_t i = 0; i < figures->num_serving; i++)
    put_iteration(page, figures, &figures->serving[i]);
  put_gaps(page, figures);
  ppi_page_text(
      page,
      "Queue: from the arrival until a range serves the request first. "
      "Prefill: from there to the first token;\n"
      "some servers call this TTFT. TTFT here: both, from the arrival. ITL: "
      "each gap between tokens.\n"
      "Prefill in: of these the gaps in which another request was scheduled, "
      "and the iterations in which one was.\n"
      "TPOT: (end to end - TTFT) / (n - 1). Iteration: a range that serves.\n");
  if (has_slo(&figures->details.slo))
    ppi_page_text(page,
                  "Good: TTFT, TPOT, end to end and each gap within "
                  "what --slo asks for.\n");
}

static void build_serving(const ppi_figures *figures,
                          const ppi_report_options *options, ppi_view *out) {
  (void)options;
  for (size_t i = 0; i < figures->num_serving; i++)
    for (int time = 0; time < PPI_NUM_SERVING_TIMES; time++)
      add_row(out, figures, &figures->serving[i], (ppi_serving_time)time);
  if (!out->num_rows)
    out->reason = "no request was marked; see docs/serving.md";
  else
    put_note(out, figures);
}

PPI_VIEW(serving, "Serving Summary", .has_quantiles = true,
         .only_with_rows = true, .build = build_serving);
