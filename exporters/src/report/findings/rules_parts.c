// SPDX-License-Identifier: Apache-2.0
//
// Finds the part of a unit's time that dominates.
#include "report/findings/rules.h"

#include "report/findings/parts.h"

static bool reaches(const ppi_search *search, double share) {
  return share > 0 && 100 * share >= search->threshold;
}

// The values of all findings here: the time, the number of units and the share.
static void put_values(const ppi_search *search, uint64_t sum_ns,
                       ppi_finding *finding) {
  const ppi_answer *answer = search->answer;
  PPI_SAY(finding->sure, "%llu %s%s, each moment counted once",
          (unsigned long long)answer->num_units, search->unit,
          answer->num_units == 1 ? "" : "s");
  ppi_finding_value_add(finding, "time_avg", ppi_part_mean(answer, sum_ns),
                        "ns");
  ppi_finding_value_add(finding, "share", 100 * ppi_part_share(answer, sum_ns),
                        "%");
}

// The advice depends on the stage's known CPU use.
static void put_next(const ppi_search *search, const ppi_costly *costly,
                     ppi_finding *finding) {
  ppi_cpu_sums sums = ppi_processor_of(search->figures, costly->name);
  double ready = ppi_processor_ready(&sums);
  double queued = ppi_processor_queued(&sums);
  const ppi_deep deep = ppi_deep_of(search->figures, costly);
  if (ppi_part_has_outliers(search->answer, costly->row))
    PPI_SAY(finding->next,
            "look at the longest %s alone: pprof-report html shows what lay in "
            "it.",
            search->unit);
  else if (costly->row->where == PPI_WHERE_DEVICE)
    PPI_SAY(finding->next, "make it cheaper on the device.");
  else if (ready >= 0 && 2 * queued > ready)
    PPI_SAY(finding->next, "%s", PPI_NEXT_PROCESSOR);
  else if (ready >= PPI_COMPUTES)
    PPI_SAY(finding->next,
            "make its code cheaper: perf, or a profile by lines, says where.");
  else if (ready >= 0 && ready <= PPI_WAITS)
    PPI_SAY(finding->next,
            "find out what it waits for: a device, a lock, a disk or another "
            "process.");
  else
    PPI_SAY(finding->next, "look into %s first: mark what it consists of.",
            ppi_words_name(deep.name ? deep.name : costly->name).text);
}

void ppi_rule_dominates(ppi_search *search) {
  const ppi_costly costly = ppi_part_costly(search->answer);
  double share = ppi_part_share(search->answer, costly.sum_ns);
  if (!costly.row || !reaches(search, share)) return;
  ppi_finding *finding = ppi_search_add(search, PPI_FACT, share);
  finding->in_answer = true;
  PPI_SAY(finding->text, "%s takes %s.", ppi_costly_name(&costly).text,
          ppi_part_of_usual(search, costly.row, costly.sum_ns).text);
  put_next(search, &costly, finding);
  put_values(search, costly.sum_ns, finding);
}

// ---- queueing ----

// The part of the queueing for `device` that exceeds the clock error.
static double known_part(const ppi_figures *figures, const char *device) {
  double delay_ns = 0, error_ns = 0;
  for (size_t i = 0; i < figures->num_queues; i++) {
    const ppi_report_queue *queue = &figures->queues[i];
    if (strcmp(queue->device, device) != 0) continue;
    delay_ns += (double)queue->sums.delay.sum;
    error_ns += (double)queue->sums.error_ns;
  }
  return delay_ns > error_ns ? 1 - error_ns / delay_ns : 0;
}

static void put_in_flight(const ppi_search *search, ppi_finding *finding) {
  double in_flight = ppi_part_in_flight(search->answer);
  ppi_finding_value_add(finding, "in_flight", in_flight, "");
}

static void queue_for(ppi_search *search, const char *device) {
  const ppi_answer *answer = search->answer;
  ppi_part queue = {.device = device, .wheres = PPI_PART_QUEUE};
  uint64_t sum_ns = ppi_part_sum(answer, &queue);
  double share = ppi_part_share(answer, sum_ns);
  double known = known_part(search->figures, device);
  if (!reaches(search, share * known)) return;
  ppi_finding *finding = ppi_search_add(search, PPI_PROBLEM, share);
  PPI_SAY(finding->text, "%s is queueing for %s; %s requests are in flight.",
          ppi_part_of_unit(search, sum_ns).text, ppi_words_name(device).text,
          ppi_words_number(ppi_part_in_flight(answer)).text);
  PPI_SAY(finding->next,
          "allow fewer in flight: the rate stays, the latency falls.");
  put_values(search, sum_ns, finding);
  put_in_flight(search, finding);
  PPI_SAY(finding->sure, "at least %s after the clock error",
          ppi_words_percent(share * known, 1).text);
}

// With one request at a time nothing waits for another request: the time lacks
// markers.
static void queue_before_stage(ppi_search *search) {
  ppi_hops hops;
  search->failed |= ppi_hops_of(search->figures, &hops) != PPROF_STATUS_OK;
  double share = hops.all_ns ? (double)hops.hop_ns / (double)hops.all_ns : 0;
  share = PPI_MIN(share, 1.0);
  double in_flight = ppi_part_in_flight(search->answer);
  if (search->failed || !hops.name || !reaches(search, share)) return;
  ppi_finding *finding = ppi_search_add(search, PPI_PROBLEM, share);
  uint64_t mean_ns = (uint64_t)(share * (double)search->answer->total_ns);
  PPI_SAY(finding->text,
          "%s pass before %s begins, while nothing recorded works for it; %s "
          "requests are in flight.",
          ppi_part_of_unit(search, mean_ns).text,
          ppi_words_name(hops.name).text, ppi_words_number(in_flight).text);
  PPI_SAY(finding->next, "%s",
          in_flight < PPI_SEVERAL
              ? "mark what happens there."
              : "more workers for this stage, or fewer requests in flight.");
  put_values(search, mean_ns, finding);
  put_in_flight(search, finding);
}

void ppi_rule_queueing(ppi_search *search) {
  const ppi_figures *figures = search->figures;
  if (search->base != PPI_BASE_REQUEST) return;
  for (size_t i = 0; i < figures->num_devices; i++)
    queue_for(search, figures->devices[i].name);
  queue_before_stage(search);
}

// ---- waiting ----

void ppi_rule_waiting(ppi_search *search) {
  const ppi_answer *answer = search->answer;
  ppi_part waiting = {.wheres = PPI_PART_WAITING};
  uint64_t sum_ns = ppi_part_sum(answer, &waiting);
  const ppi_answer_row *row = ppi_part_greatest(answer, &waiting);
  double share = ppi_part_share(answer, sum_ns);
  if (!row || !reaches(search, share)) return;
  ppi_finding *finding = ppi_search_add(search, PPI_PROBLEM, share);
  PPI_SAY(finding->text,
          "%s is waiting for others while nothing else works, most of it in "
          "%s.",
          ppi_part_of_usual(search, row, sum_ns).text,
          ppi_words_name(row->name).text);
  PPI_SAY(finding->next,
          "find out who comes late: compare the ranks' logs; do other work "
          "meanwhile.");
  put_values(search, sum_ns, finding);
}

typedef struct readers {
  const ppi_report_name *names;
  size_t num;
} readers;

// Names are sorted by category.
static readers readers_of(const ppi_figures *figures) {
  readers all = {.names = figures->names};
  for (size_t i = 0; i < figures->num_names; i++) {
    if (figures->names[i].category != PPROF_CATEGORY_DATALOADER) continue;
    if (!all.num++) all.names = &figures->names[i];
  }
  return all;
}

static bool is_reader(const readers *all, const char *name) {
  for (size_t i = 0; i < all->num; i++)
    if (strcmp(all->names[i].name, name) == 0) return true;
  return false;
}

// Rows on the host count time without device work for the unit.
void ppi_rule_input_bound(ppi_search *search) {
  const ppi_answer *answer = search->answer;
  const ppi_part host = {.wheres = 1u << PPI_WHERE_HOST};
  const ppi_answer_row *greatest = NULL;
  readers all = readers_of(search->figures);
  uint64_t sum_ns = 0;
  for (size_t i = 0; i < answer->num_rows; i++) {
    const ppi_answer_row *row = &answer->rows[i];
    if (!ppi_part_has(&host, row) || !is_reader(&all, row->name)) continue;
    sum_ns += row->total_ns;
    if (!greatest || row->total_ns > greatest->total_ns) greatest = row;
  }
  double share = ppi_part_share(answer, sum_ns);
  if (!reaches(search, share)) return;
  ppi_finding *finding = ppi_search_add(search, PPI_PROBLEM, share);
  PPI_SAY(finding->text, "%s go into reading data%s, in %s.",
          ppi_part_of_usual(search, greatest, sum_ns).text,
          search->figures->num_devices ? " while no device works" : "",
          ppi_words_name(greatest->name).text);
  PPI_SAY(finding->next,
          "read ahead: more loader workers, or cheaper decoding.");
  put_values(search, sum_ns, finding);
}
