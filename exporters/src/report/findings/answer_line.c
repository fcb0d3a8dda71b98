// SPDX-License-Identifier: Apache-2.0
//
// Makes the sentence of the answer.
#include "report/findings/answer_line.h"

#include "report/figures/ranks.h"
#include "report/findings/parts.h"

// ---- where requests get tokens ----

// The class with the most time; classes with divided times come first.
static const ppi_report_serving *find_class(const ppi_figures *figures) {
  const ppi_report_serving *found = NULL;
  for (size_t i = 0; i < figures->num_serving; i++) {
    const ppi_report_serving *one = &figures->serving[i];
    if (!one->sums.tokens_out) continue;
    bool divides = !one->sums.num_undivided;
    bool found_divides = found && !found->sums.num_undivided;
    if (!found || divides > found_divides ||
        (divides == found_divides &&
         one->sums.spreads[PPI_SERVING_E2E].sum >
             found->sums.spreads[PPI_SERVING_E2E].sum))
      found = one;
  }
  return found;
}

// The greatest part that has no name in the line yet.
static int greatest_part(const ppi_serving_slow *slow, unsigned named) {
  int greatest = -1;
  for (int i = 0; i < PPI_NUM_SERVING_PARTS; i++)
    if (!(named & 1u << i) &&
        (greatest < 0 || slow->parts_ns[i] > slow->parts_ns[greatest]))
      greatest = i;
  return greatest;
}

// Parts of at least a twentieth, the greatest first.
static void put_parts(const ppi_serving_slow *slow, double sum_ns, char *to,
                      size_t size) {
  enum { LEAST = 20 };
  unsigned named = 0;
  for (;;) {
    int part = greatest_part(slow, named);
    if (part < 0 || LEAST * (double)slow->parts_ns[part] < sum_ns) return;
    ppi_words_add(to, size, "%s%s %s", *to ? ", " : "",
                  ppi_serving_part_name((ppi_serving_part)part),
                  ppi_words_percent((double)slow->parts_ns[part], sum_ns).text);
    named |= 1u << part;
  }
}

static const char *next_of(int part) {
  switch (part) {
    case PPI_SERVING_BEFORE:
      return "look at what comes before the queue: tokenizer, router.";
    case PPI_SERVING_QUEUED:
      return "serve more requests at a time, make iterations shorter, or add a "
             "server.";
    case PPI_SERVING_PREFILLED:
    case PPI_SERVING_TO_FIRST:
      return "make prompts shorter, or cache what they have in common.";
    case PPI_SERVING_MIXED:
      return "prefill fewer tokens in an iteration, or on another server.";
    case PPI_SERVING_REST:
      return "look at what comes after the last token.";
    default:
      return "make iterations shorter: --view serving says what one costs.";
  }
}

static void put_usual(const ppi_report_serving *of, char *to, size_t size) {
  const ppi_histogram *times = of->sums.times;
  ppi_words_put(to, size, "%s to the first token",
                ppi_words_time((double)ppi_histogram_quantile(
                                   &times[PPI_SERVING_TTFT], 0.5))
                    .text);
  if (of->sums.spreads[PPI_SERVING_TPOT].n)
    ppi_words_add(to, size, ", then one each %s",
                  ppi_words_time((double)ppi_histogram_quantile(
                                     &times[PPI_SERVING_TPOT], 0.5))
                      .text);
}

static bool ppi_serving_line(ppi_search *search) {
  const ppi_report_serving *of = find_class(search->figures);
  char usual[128], parts[256] = "";
  ppi_serving_slow slow;
  double sum_ns = 0;
  if (!of) return false;
  ppi_serving_slowest(&of->sums, &slow);
  for (int i = 0; i < PPI_NUM_SERVING_PARTS; i++)
    sum_ns += (double)slow.parts_ns[i];
  if (sum_ns <= 0) return false;
  put_usual(of, usual, sizeof usual);
  put_parts(&slow, sum_ns, parts, sizeof parts);
  PPI_SAY(search->out->answer, "%s: %s; of the slowest: %s.",
          ppi_words_name(of->name).text, usual, parts);
  PPI_SAY(search->out->answer_next, "%s", next_of(greatest_part(&slow, 0)));
  return true;
}

// Whether slow units take little more than usual ones.
static const char *steadily(const ppi_answer *answer,
                            const ppi_answer_row *row) {
  enum { FEW = 10, MANY = 100 };
  uint64_t usual_ns = ppi_answer_quantile(answer, row, 50);
  uint64_t slow_ns = answer->num_units < MANY
                         ? row->max_ns
                         : ppi_answer_quantile(answer, row, 99);
  bool is_steady =
      answer->num_units >= FEW && 2 * slow_ns <= 3 * usual_ns &&
      2 * ppi_part_mean(answer, row->total_ns) <= 3 * (double)usual_ns;
  return is_steady ? ", steadily" : "";
}

// With too few processors, a stage that computes may be on none for half of its
// time.
static void put_threads(const ppi_cpu_sums *sums, char *to, size_t size) {
  double ready = ppi_processor_ready(sums);
  double queued = ppi_processor_queued(sums);
  const char *does = ready >= PPI_COMPUTES ? "computes"
                     : ready <= PPI_WAITS  ? "waits"
                                           : "computes and waits";
  ppi_words_put(to, size, "; it %s (%s of its time on a processor)", does,
                ppi_words_percent(ppi_processor_share(sums), 1).text);
  if (queued > PPI_WAITS)
    ppi_words_add(to, size, ", and waits for a free one (%s)",
                  ppi_words_percent(queued, 1).text);
}

static void put_why(const ppi_search *search, const ppi_costly *costly,
                    char *to, size_t size) {
  ppi_cpu_sums sums = ppi_processor_of(search->figures, costly->name);
  double share = ppi_processor_share(&sums);
  if (costly->row->where == PPI_WHERE_DEVICE)
    ppi_words_put(to, size, ", on %s",
                  ppi_words_name(costly->row->device).text);
  else if (sums.num_known && share < 0)
    ppi_words_put(to, size,
                  "; too few calls show whether it computes or waits");
  else if (share < 0)
    ppi_words_put(to, size, "; whether it computes or waits was not recorded%s",
                  ppi_figures_are_imported(search->figures)
                      ? ""
                      : " (PPROF_SET='cpu=[\"*\"]' records it)");
  else
    put_threads(&sums, to, size);
}

static void put_deeper(const ppi_figures *figures, const ppi_costly *costly,
                       char *to, size_t size) {
  const ppi_deep deep = ppi_deep_of(figures, costly);
  if (*deep.way)
    ppi_words_put(to, size, ", %s of it in %s",
                  ppi_words_percent(deep.share, 1).text, deep.way);
}

static void put_stage(ppi_search *search, const ppi_costly *costly) {
  char why[128];
  char where[160] = "";
  put_why(search, costly, why, sizeof why);
  if (costly->row->where == PPI_WHERE_HOST)
    put_deeper(search->figures, costly, where, sizeof where);
  PPI_SAY(search->out->answer, "%s takes %s%s%s%s.",
          ppi_costly_name(costly).text,
          ppi_part_of_usual(search, costly->row, costly->sum_ns).text,
          steadily(search->answer, costly->row), where, why);
}

// For a line with other content.
static void keep_all(ppi_findings *findings) {
  for (size_t i = 0; i < findings->num; i++)
    findings->items[i].in_answer = false;
}

static const char *greatest_queue(const ppi_search *search, uint64_t *out_ns) {
  const ppi_figures *figures = search->figures;
  const char *device = NULL;
  *out_ns = 0;
  for (size_t i = 0; i < figures->num_devices; i++) {
    const ppi_part queue = {.device = figures->devices[i].name,
                            .wheres = PPI_PART_QUEUE};
    uint64_t sum_ns = ppi_part_sum(search->answer, &queue);
    if (sum_ns <= *out_ns) continue;
    *out_ns = sum_ns;
    device = queue.device;
  }
  return device;
}

// The range that covers each whole request; NULL: none or several.
static const char *whole_request(const ppi_figures *figures) {
  const char *name = NULL;
  for (size_t r = 0; r < figures->num_request_runs; r++) {
    const ppi_request_run *run = figures->request_runs[r];
    size_t num = 0;
    for (size_t i = 0; i < run->num_cells; i++) {
      const ppi_request_stage *stage = &run->stages[run->cells[i].stage];
      if (!stage->is_whole) continue;
      if (name && strcmp(name, stage->name) != 0) return NULL;
      name = stage->name;
      num++;
    }
    if (num != run->num_rows) return NULL;
  }
  return name;
}

// For time in no stage: nobody has marked the work there.
static void put_unmarked(ppi_search *search, const char *time) {
  uint64_t num_left = ppi_ranks_left_out(search->figures, search->base);
  bool is_request = search->base == PPI_BASE_REQUEST;
  const char *whole = is_request ? whole_request(search->figures) : NULL;
  if (num_left)
    PPI_SAY(search->out->answer,
            "%s lie in no stage; %llu of %zu logs have no %ss and are not in "
            "this.",
            time, (unsigned long long)num_left, search->figures->num_inputs,
            search->unit);
  else if (whole)
    PPI_SAY(search->out->answer,
            "%s lie in %s and in no stage inside it: mark what happens there.",
            time, ppi_words_name(whole).text);
  else
    PPI_SAY(search->out->answer,
            "%s lie in no stage%s: mark what happens there.", time,
            is_request ? " inside the request" : "");
}

// Nothing recorded went on.
static void put_between(ppi_search *search, const ppi_answer_row *row) {
  ppi_words time = ppi_part_of_usual(search, row, row->total_ns);
  ppi_hops hops;
  search->failed |= ppi_hops_of(search->figures, &hops) != PPROF_STATUS_OK;
  bool is_line = ppi_part_in_flight(search->answer) >= PPI_SEVERAL;
  if (!search->failed && search->base == PPI_BASE_REQUEST && hops.name)
    PPI_SAY(search->out->answer, "%s lie between stages, most %s %s begins.",
            time.text, is_line ? "in line before" : "before",
            ppi_words_name(hops.name).text);
  else
    put_unmarked(search, time.text);
}

static void put_greatest(ppi_search *search, const ppi_costly *costly) {
  const ppi_answer *answer = search->answer;
  ppi_part work = {.wheres = PPI_PART_WORK};
  ppi_part waiting = {.wheres = PPI_PART_WAITING};
  const ppi_part between = {.wheres = 1u << PPI_WHERE_BETWEEN};
  const ppi_answer_row *stage = ppi_part_greatest(answer, &work);
  const ppi_answer_row *wait = ppi_part_greatest(answer, &waiting);
  uint64_t queue_ns;
  const char *device = greatest_queue(search, &queue_ns);
  if (stage) work.name = stage->name;
  if (wait) waiting.name = wait->name;
  uint64_t stage_ns = stage ? ppi_part_sum(answer, &work) : 0;
  uint64_t wait_ns = wait ? ppi_part_sum(answer, &waiting) : 0;
  uint64_t between_ns = ppi_part_sum(answer, &between);
  if (stage_ns >= queue_ns && stage_ns >= wait_ns && stage_ns >= between_ns) {
    put_stage(search, costly);
    return;
  }
  keep_all(search->out);
  if (queue_ns >= wait_ns && queue_ns >= between_ns) {
    PPI_SAY(search->out->answer, "%s is queueing for %s, which serves others.",
            ppi_part_of_unit(search, queue_ns).text,
            ppi_words_name(device).text);
  } else if (wait_ns >= between_ns) {
    PPI_SAY(search->out->answer, "%s is waiting for others, in %s.",
            ppi_part_of_usual(search, wait, wait_ns).text,
            ppi_words_name(wait->name).text);
  } else {
    put_between(search, ppi_part_greatest(answer, &between));
  }
}

// The line of a device that sets the pace names its greatest stage.
static bool is_on_device_of(const char *line, const ppi_costly *costly) {
  if (!costly->row || costly->inside) return false;
  ppi_words device = ppi_words_name(costly->row->device);
  return costly->row->where == PPI_WHERE_DEVICE &&
         strncmp(line, device.text, strlen(device.text)) == 0;
}

// "rank 1: " if there are several runs: different runs have no common average.
static void put_run(ppi_search *search, const ppi_limit *limit) {
  ppi_ranks ranks;
  pprof_status status = ppi_ranks_of(search->figures, PPI_NUM_BASES, &ranks);
  search->failed |= status != PPROF_STATUS_OK;
  if (status != PPROF_STATUS_OK) return;
  for (size_t i = 0; i < ranks.num && ranks.num > 1; i++)
    if (strcmp(ranks.items[i].input->uuid, limit->uuid) == 0)
      PPI_SAY(search->out->process, "%s", ranks.items[i].name);
  ppi_ranks_clear(&ranks);
}

// The verdict of the limit model comes before all parts.
static void put_limit(ppi_search *search, const ppi_limit *limit) {
  ppi_findings *out = search->out;
  PPI_SAY(out->answer, "%s%s%s", out->process, *out->process ? ": " : "",
          limit->sentence);
  for (size_t i = 0; i < limit->num_more; i++)
    PPI_ADD(out->answer, " %s", limit->more[i]);
  PPI_SAY(out->answer_next, "%s", limit->next);
}

// Without a limit and a finding the next step is more units, of few.
static void put_next(ppi_search *search) {
  ppi_findings *out = search->out;
  for (size_t i = 0; i < out->num; i++)
    if (out->items[i].in_answer) return;
  if (search->base != PPI_BASE_WALL && search->answer->num_units >= 5) return;
  PPI_SAY(out->answer_next, "record five %ss or more: they show what limits.",
          search->base == PPI_BASE_WALL ? "step" : search->unit);
}

void ppi_answer_line(ppi_search *search) {
  const ppi_costly costly = ppi_part_costly(search->answer);
  const ppi_limit *limit = &search->figures->limit;
  const char *line = search->out->answer;
  // A finding may have given the answer: the limit is that run's all the same.
  if (limit->claim != PPI_CLAIM_NONE) put_run(search, limit);
  if (search->impossible.is_any) {
    keep_all(search->out);
    PPI_SAY(search->out->answer, "%s", search->impossible.text);
    return;
  }
  if (ppi_serving_line(search)) {
    keep_all(search->out);
    return;
  }
  if (!*line && limit->claim != PPI_CLAIM_NONE) {
    keep_all(search->out);
    put_limit(search, limit);
    return;
  }
  if (!search->answer->num_units && search->figures->runs_unopened &&
      !ppi_figures_are_imported(search->figures))
    PPI_SAY(search->out->answer,
            "Nothing was recorded: no window opened. `capture` in the "
            "configuration says when one does (docs/capture.md).");
  else if (!*line && search->answer->total_ns) {
    put_greatest(search, &costly);
    put_next(search);
  } else if (!is_on_device_of(line, &costly))
    keep_all(search->out);
}
