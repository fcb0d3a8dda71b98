// SPDX-License-Identifier: Apache-2.0
//
// Makes the sentence of the answer where requests get tokens.
#include "report/findings/serving_line.h"

#include <string.h>

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
  for (size_t len = 0;; len = strlen(to)) {
    int part = greatest_part(slow, named);
    if (part < 0 || LEAST * (double)slow->parts_ns[part] < sum_ns) return;
    ppi_words_put(to + len, size - len, "%s%s %s", len ? ", " : "",
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
  size_t len = strlen(to);
  if (of->sums.spreads[PPI_SERVING_TPOT].n)
    ppi_words_put(to + len, size - len, ", then one each %s",
                  ppi_words_time((double)ppi_histogram_quantile(
                                     &times[PPI_SERVING_TPOT], 0.5))
                      .text);
}

bool ppi_serving_line(ppi_search *search) {
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
