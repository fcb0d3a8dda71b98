// SPDX-License-Identifier: Apache-2.0
//
// Finds the tail of requests.
#include "report/findings/rules.h"

#include "report/findings/tail.h"

// The greatest cause of the difference, as the end of a sentence.
static void put_part(const ppi_tail *tail, char *to, size_t size) {
  static const char *const before[] = {
      [PPI_TAIL_STAGE] = "is more of ",
      [PPI_TAIL_CONTENDED] = "is ",
      [PPI_TAIL_HOP] = "passes before ",
      [PPI_TAIL_QUEUE] = "is queueing for devices"};
  static const char *const after[] = {
      [PPI_TAIL_STAGE] = "",
      [PPI_TAIL_CONTENDED] = " beside other requests on its device",
      [PPI_TAIL_HOP] = " begins, while nothing recorded works for them",
      [PPI_TAIL_QUEUE] = ""};
  ppi_words_put(to, size, "%s%s%s", before[tail->part],
                tail->stage ? ppi_words_name(tail->stage).text : "",
                after[tail->part]);
}

static void put_tail(const ppi_tail *tail, double more_ns,
                     ppi_finding *finding) {
  char part[128];
  put_part(tail, part, sizeof part);
  PPI_SAY(finding->text,
          "The slowest 1 %% of requests take %s or more, a usual one %s: %s of "
          "the difference %s.",
          ppi_words_time((double)tail->slow_from_ns).text,
          ppi_words_time(tail->usual_ns).text,
          ppi_words_percent(tail->part_ns, more_ns).text, part);
  PPI_SAY(finding->sure, "%llu slow requests of %llu; at least %s",
          (unsigned long long)tail->num_slow, (unsigned long long)tail->num,
          ppi_words_percent(tail->part_ns - tail->error_ns, more_ns).text);
  PPI_SAY(finding->next, "%s",
          tail->part == PPI_TAIL_STAGE
              ? "find out what these requests have in common."
              : "let fewer be in flight, or smooth out when they come.");
  ppi_finding_value_add(finding, "slow_from", (double)tail->slow_from_ns, "ns");
  ppi_finding_value_add(finding, "usual", tail->usual_ns, "ns");
  ppi_finding_value_add(finding, "share", 100 * tail->part_ns / more_ns, "%");
}

// Few requests never explain much of all time: a tail is a problem of its own.
void ppi_rule_tail(ppi_search *search) {
  enum { LEAST = 10 };
  ppi_tail tail;
  search->failed |= ppi_tail_of(search->figures, &tail) != PPROF_STATUS_OK;
  if (search->failed || tail.num_slow < LEAST) return;
  double more_ns = tail.slow_ns - tail.usual_ns;
  // Slow requests take at least half again as long as usual ones: else there is
  // no tail.
  if (2 * more_ns < tail.usual_ns ||
      100 * (tail.part_ns - tail.error_ns) < search->threshold * more_ns)
    return;
  double slow = (double)tail.num_slow / (double)tail.num;
  ppi_finding *finding =
      ppi_search_add(search, PPI_FACT, slow * more_ns / tail.slow_ns);
  if (!finding) return;
  finding->is_problem = true;
  put_tail(&tail, more_ns, finding);
}

void ppi_rule_few_requests(ppi_search *search) {
  double num = (double)search->answer->num_all;
  if (search->base != PPI_BASE_REQUEST || num >= search->threshold) return;
  ppi_finding *finding = ppi_search_add(search, PPI_FACT, 0);
  if (!finding) return;
  PPI_SAY(finding->text, "%.0f request%s nothing about the slowest 1 %%.", num,
          num == 1 ? " says" : "s say");
  PPI_SAY(finding->next, "record %g or more for the tail.", search->threshold);
  ppi_finding_value_add(finding, "requests", num, "");
}
