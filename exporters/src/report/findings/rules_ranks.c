// SPDX-License-Identifier: Apache-2.0
//
// Finds the rank that others wait for.
#include "report/findings/rules.h"

#include <stdlib.h>

#include "base/mem.h"
#include "report/figures/ranks.h"
#include "report/findings/parts.h"

// One rank's own part of an average unit.
typedef struct rank {
  const char *name;
  const ppi_answer *answer;
  double work_ns;  // without waiting for others
} rank;

PPI_ORDER(compare_ranks, rank, PPI_UP(work_ns) PPI_BY_TEXT(name))

// The ranks with enough units, sorted by work, least first.
static rank *list_ranks(const ppi_rank *ranks, size_t num, size_t *out_num) {
  enum { LEAST = 20 };
  const ppi_part waiting = {.wheres = PPI_PART_WAITING};
  rank *list = ppi_alloc((num + 1) * sizeof *list);
  *out_num = 0;
  for (size_t i = 0; list && i < num; i++) {
    const ppi_answer *answer = ranks[i].answer;
    if (answer->num_units < LEAST) continue;
    uint64_t wait_ns = ppi_part_sum(answer, &waiting);
    list[(*out_num)++] =
        (rank){ranks[i].name, answer,
               ppi_part_mean(answer, answer->total_ns - wait_ns)};
  }
  if (*out_num > 1) qsort(list, *out_num, sizeof *list, compare_ranks);
  return list;
}

// The median of the others; of two, the greater one.
static const rank *usual_of(const rank *list, size_t num) {
  return &list[(num - 1) / 2];
}

// Whether a rank waits at least this long in half of its units. A rank that
// never waits for others has to end that much earlier than the slow one.
static bool waits(const rank *usual, const rank *slow, double least_ns) {
  const ppi_part waiting = {.wheres = PPI_PART_WAITING};
  const ppi_answer_row *row = ppi_part_greatest(usual->answer, &waiting);
  if (row)
    return (double)ppi_answer_quantile(usual->answer, row, 50) >= least_ns;
  double usual_ns = (double)ppi_histogram_quantile(&usual->answer->times, 0.5);
  double slow_ns = (double)ppi_histogram_quantile(&slow->answer->times, 0.5);
  return slow_ns - usual_ns >= least_ns;
}

// The stage that is longer by most on the slow rank.
static const char *slow_stage(const rank *usual, const rank *slow,
                              double *out_slow_ns, double *out_usual_ns) {
  const char *found = NULL;
  double most_ns = 0;
  for (size_t i = 0; i < slow->answer->num_rows; i++) {
    const ppi_part part = {.name = slow->answer->rows[i].name,
                           .wheres = PPI_PART_WORK};
    // Skips rows that are too small; that leaves few to compare.
    bool is_small =
        1000 * slow->answer->rows[i].total_ns < slow->answer->total_ns;
    if (is_small || !ppi_part_has(&part, &slow->answer->rows[i])) continue;
    double slow_ns =
        ppi_part_mean(slow->answer, ppi_part_sum(slow->answer, &part));
    if (slow_ns <= most_ns) continue;
    double usual_ns =
        ppi_part_mean(usual->answer, ppi_part_sum(usual->answer, &part));
    if (slow_ns - usual_ns <= most_ns) continue;
    most_ns = slow_ns - usual_ns;
    found = part.name;
    *out_slow_ns = slow_ns;
    *out_usual_ns = usual_ns;
  }
  return found;
}

typedef struct waits_sum {
  double least_ns;
  uint64_t num;
} waits_sum;

static void count_wait(void *context, uint64_t ns, uint64_t num) {
  waits_sum *sum = context;
  if ((double)ns >= sum->least_ns) sum->num += num;
}

// The share of the others' units with such a wait: "all of theirs".
static ppi_words waits_of_others(const rank *list, size_t num_others,
                                 double least_ns) {
  const ppi_part waiting = {.wheres = PPI_PART_WAITING};
  waits_sum sum = {.least_ns = least_ns};
  uint64_t num_units = 0;
  ppi_words words;
  for (size_t i = 0; i < num_others; i++) {
    const ppi_answer_row *row = ppi_part_greatest(list[i].answer, &waiting);
    num_units += list[i].answer->num_units;
    if (row) ppi_histogram_each(&row->times, count_wait, &sum);
  }
  PPI_SAY(words.text, "%.16s of theirs",
          sum.num == num_units
              ? "all"
              : ppi_words_percent((double)sum.num, (double)num_units).text);
  return words;
}

// The slow rank is the last of the list.
static void put_rank(const ppi_search *search, const rank *list, size_t num,
                     double least_ns, ppi_finding *finding) {
  double slow_ns = 0, usual_ns = 0;
  const rank *slow = &list[num - 1], *usual = usual_of(list, num);
  const char *stage = slow_stage(usual, slow, &slow_ns, &usual_ns);
  const ppi_part waiting = {.wheres = PPI_PART_WAITING};
  bool is_reported = ppi_part_greatest(usual->answer, &waiting) != NULL;
  PPI_SAY(finding->text, "%s works %s of %s, the others usually %s%s.",
          ppi_words_name(slow->name).text, ppi_words_time(slow->work_ns).text,
          search->a_unit, ppi_words_time(usual->work_ns).text,
          is_reported ? ": they wait for it" : "");
  PPI_SAY(finding->sure, "%llu %ss of it%s%s",
          (unsigned long long)slow->answer->num_units, search->unit,
          is_reported ? "; others wait in " : "",
          is_reported ? waits_of_others(list, num - 1, least_ns).text : "");
  if (stage)
    PPI_SAY(finding->next, "look at %s there: %s, on a usual one %s.",
            ppi_words_name(stage).text, ppi_words_time(slow_ns).text,
            ppi_words_time(usual_ns).text);
  ppi_finding_value_add(finding, "work_slow", slow->work_ns, "ns");
  ppi_finding_value_add(finding, "work_usual", usual->work_ns, "ns");
}

// "rank 0 waits for rank 1" if that is much of a unit; of many ranks, a usual
// one.
static void put_answer(ppi_search *search, const rank *usual,
                       const rank *slow) {
  const double much = 0.2;
  const ppi_part waiting = {.wheres = PPI_PART_WAITING};
  const ppi_answer_row *row = ppi_part_greatest(usual->answer, &waiting);
  if (!row || *search->out->answer) return;
  double wait_ns =
      ppi_part_mean(usual->answer, ppi_part_sum(usual->answer, &waiting));
  if (wait_ns < much * search->unit_ns) return;
  PPI_SAY(search->out->answer,
          "%s waits for %s: %s of %s %s (%s), in %s; %s works %s, %s %s.",
          ppi_words_name(usual->name).text, ppi_words_name(slow->name).text,
          ppi_words_time(wait_ns).text, ppi_words_time(search->unit_ns).text,
          search->a_unit, ppi_words_percent(wait_ns, search->unit_ns).text,
          ppi_words_name(row->name).text, ppi_words_name(slow->name).text,
          ppi_words_time(slow->work_ns).text, ppi_words_name(usual->name).text,
          ppi_words_time(usual->work_ns).text);
}

static void look(ppi_search *search, const ppi_rank *ranks, size_t num_ranks) {
  size_t num;
  rank *list = list_ranks(ranks, num_ranks, &num);
  search->failed |= !list;
  if (list && num > 1) {
    const rank *slow = &list[num - 1], *usual = usual_of(list, num);
    double more_ns = slow->work_ns - usual->work_ns;
    double least_ns = (search->threshold - 1) * usual->work_ns;
    ppi_finding *finding = NULL;
    if (more_ns > 0 && more_ns >= least_ns && waits(usual, slow, least_ns))
      finding = ppi_search_add(search, PPI_PROBLEM,
                               PPI_MIN(more_ns / search->unit_ns, 1.0));
    if (finding) put_rank(search, list, num, least_ns, finding);
    if (finding) put_answer(search, usual, slow);
  }
  ppi_free(list);
}

void ppi_rule_slow_rank(ppi_search *search) {
  ppi_ranks ranks;
  search->failed |=
      ppi_ranks_of(search->figures, search->base, &ranks) != PPROF_STATUS_OK;
  ppi_ranks_keep(&ranks, 0);
  if (ranks.num > 1 && !ranks.are_apart) look(search, ranks.items, ranks.num);
  ppi_ranks_clear(&ranks);
}
