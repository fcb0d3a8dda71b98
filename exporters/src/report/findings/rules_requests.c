// SPDX-License-Identifier: Apache-2.0
//
// Finds the tail of requests.
#include "report/findings/rules.h"

#include <math.h>

#include "base/mem.h"
#include "base/sort.h"
#include "report/figures/figures.h"
#include "report/figures/request_rows.h"

// ---- what the slowest requests have more of ----

// The parts that are longer in the slowest requests than in usual ones.
typedef enum ppi_tail_part {
  PPI_TAIL_STAGE = 0,  // a stage's work
  PPI_TAIL_CONTENDED,  // the same, while its device also served others
  PPI_TAIL_HOP,        // nothing went on before the stage
  PPI_TAIL_QUEUE       // queueing for devices
} ppi_tail_part;

// All zero: no requests.
typedef struct ppi_tail {
  uint64_t num, num_slow;    // warm requests; the slowest hundredth
  uint64_t slow_from_ns;     // the shortest of these
  double usual_ns, slow_ns;  // means: of the middle half, of the slow ones
  ppi_tail_part part;        // the part that explains most of the difference
  const char *stage;         // the part's stage; NULL: none
  double part_ns,
      error_ns;  // that part of the difference; half its interval of 95 %
} ppi_tail;

// What requests have of a part, in the order of their lengths.
typedef struct sums {
  double usual_ns, slow_ns;
  double squares;  // of the slow ones' times
  double last_ns;  // of the last slow request, not added yet
  size_t last;
} sums;

// The parts of one name, of all runs.
typedef struct stage_sums {
  const char *name;
  sums parts[PPI_TAIL_QUEUE];
} stage_sums;

typedef struct tails {
  stage_sums *stages;
  size_t num, capacity;
  sums queue;
  uint32_t **numbers;  // of names + 1, by run and stage; 0: not known
  ppi_map names;
  ppi_tail *out;
} tails;

// The slowest hundredth, and the half around the median.
static size_t slow_from(size_t num) {
  return num - num / 100;
}
static bool is_usual(size_t num, size_t at) {
  return at >= num / 4 && at < num - num / 4;
}

static void end_request(sums *to) {
  to->slow_ns += to->last_ns;
  to->squares += to->last_ns * to->last_ns;
  to->last_ns = 0;
}

static void add_time(const tails *all, sums *to, size_t at, uint64_t ns) {
  if (!ns) return;
  if (is_usual(all->out->num, at)) to->usual_ns += (double)ns;
  if (at < slow_from(all->out->num)) return;
  if (to->last != at) end_request(to);
  to->last = at;
  to->last_ns += (double)ns;
}

// Runs have stages of the same names. NULL: out of memory.
static stage_sums *sums_of(tails *all, const ppi_steady_request *from,
                           uint32_t stage) {
  uint32_t *number = &all->numbers[from->run_index][stage];
  const char *name = from->run->stages[stage].name;
  if (*number) return &all->stages[*number - 1];
  size_t at = ppi_map_number(&all->names, ppi_map_key_of(name, ""));
  if (at == SIZE_MAX ||
      !PPI_REACH(all->stages, all->num, all->capacity, at + 1))
    return NULL;
  *number = (uint32_t)at + 1;
  all->stages[at].name = name;
  return &all->stages[at];
}

static bool add_request(tails *all, const ppi_steady_request *from, size_t at) {
  const ppi_request_row *row = from->row;
  const ppi_request_run *run = from->run;
  uint32_t **numbers = &all->numbers[from->run_index];
  if (!*numbers) *numbers = ppi_alloc((run->num_stages + 1) * sizeof **numbers);
  if (!*numbers) return false;
  add_time(all, &all->queue, at, row->queue_ns);
  for (size_t i = 0; i < row->num_cells; i++) {
    const ppi_request_cell *cell = &run->cells[row->first_cell + i];
    stage_sums *to = sums_of(all, from, cell->stage);
    if (!to) return false;
    add_time(all, &to->parts[PPI_TAIL_STAGE], at, cell->own_ns);
    add_time(all, &to->parts[PPI_TAIL_CONTENDED], at, cell->contended_ns);
    add_time(all, &to->parts[PPI_TAIL_HOP], at, cell->hop_ns);
  }
  return true;
}

// Of parts with equal differences, the first by name wins.
static bool is_greatest(ppi_tail_part part, const char *stage, double part_ns,
                        const ppi_tail *out) {
  if (part_ns <= 0 || part_ns != out->part_ns) return part_ns > out->part_ns;
  if (part != out->part) return part < out->part;
  return out->stage && strcmp(stage, out->stage) < 0;
}

// A request without the part counts as 0.
static void judge(ppi_tail_part part, const char *stage, sums *from,
                  ppi_tail *out) {
  double num_usual = (double)(out->num - 2 * (out->num / 4));
  double num_slow = (double)out->num_slow;
  end_request(from);
  double mean = from->slow_ns / num_slow;
  double variance = (from->squares / num_slow - mean * mean) / (num_slow - 1);
  double part_ns = mean - from->usual_ns / num_usual;
  if (!is_greatest(part, stage, part_ns, out)) return;
  out->part = part;
  out->stage = *stage ? stage : NULL;
  out->part_ns = part_ns;
  out->error_ns = variance > 0 ? 1.96 * sqrt(variance) : 0;
}

static void judge_all(tails *all) {
  for (int part = 0; part < PPI_TAIL_QUEUE; part++)
    for (size_t i = 0; i < all->num; i++)
      judge((ppi_tail_part)part, all->stages[i].name,
            &all->stages[i].parts[part], all->out);
  judge(PPI_TAIL_QUEUE, "", &all->queue, all->out);
}

static bool gather(const ppi_steady_request *list, tails *all) {
  ppi_tail *out = all->out;
  bool added = true;
  for (size_t i = 0; i < out->num && added; i++) {
    double length_ns = (double)list[i].row->length_ns;
    bool is_slow = i >= slow_from(out->num);
    if (is_slow) out->slow_ns += length_ns / (double)out->num_slow;
    if (is_usual(out->num, i))
      out->usual_ns += length_ns / (double)(out->num - 2 * (out->num / 4));
    if (is_slow || is_usual(out->num, i)) added = add_request(all, &list[i], i);
  }
  return added;
}

static pprof_status ppi_tail_of(const ppi_figures *figures, ppi_tail *out) {
  tails all = {.out = out};
  ppi_steady_request *list;
  size_t num_requests, num_cold;
  *out = (ppi_tail){0};
  pprof_status status =
      ppi_steady_requests(figures, &list, &num_requests, &num_cold);
  bool done = status == PPROF_STATUS_OK;
  out->num = done ? num_requests : 0;
  out->num_slow = out->num / 100;
  if (done && out->num_slow > 1) {
    out->slow_from_ns = list[slow_from(num_requests)].row->length_ns;
    all.numbers = ppi_alloc(figures->num_request_runs * sizeof *all.numbers);
    done = all.numbers && gather(list, &all);
    if (done) judge_all(&all);
  }
  for (size_t i = 0; all.numbers && i < figures->num_request_runs; i++)
    ppi_free(all.numbers[i]);
  PPI_FREE_ALL(all.numbers, all.stages, list);
  ppi_map_clear(&all.names);
  return done ? PPROF_STATUS_OK : PPROF_STATUS_NO_MEMORY;
}

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
              : "allow fewer in flight, or spread their arrivals.");
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
  finding->is_problem = true;
  put_tail(&tail, more_ns, finding);
}

void ppi_rule_few_requests(ppi_search *search) {
  double num = (double)search->answer->num_all;
  if (search->base != PPI_BASE_REQUEST || num >= search->threshold) return;
  ppi_finding *finding = ppi_search_add(search, PPI_FACT, 0);
  PPI_SAY(finding->text, "%.0f request%s nothing about the slowest 1 %%.", num,
          num == 1 ? " says" : "s say");
  PPI_SAY(finding->next, "record %g or more for the tail.", search->threshold);
  ppi_finding_value_add(finding, "requests", num, "");
}
