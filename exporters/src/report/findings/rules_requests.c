// SPDX-License-Identifier: Apache-2.0
//
// Finds the tail of requests.
#include "report/findings/rules.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "base/map.h"
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

// The time that one request has of a part.
typedef struct piece {
  ppi_tail_part part;
  uint32_t number;    // of `stage`
  const char *stage;  // "": of none
  size_t request;     // its rank by length
  double ns;
} piece;

typedef struct pieces {
  piece *items;
  size_t num, capacity;
  uint32_t **numbers;  // of names + 1, by run and stage; 0: not known
  ppi_map names;
} pieces;

static uint64_t key_of(const void *item) {
  const piece *at = item;
  return (uint64_t)at->part << 32 | at->number;
}

static bool add_piece(pieces *all, const piece *added, ppi_tail_part part,
                      uint64_t ns) {
  if (!ns) return true;
  if (!PPI_ROOM(all->items, all->capacity, all->num + 1)) return false;
  piece *item = &all->items[all->num++];
  *item = *added;
  item->part = part;
  item->ns = (double)ns;
  return true;
}

// Runs have stages of the same names. 0: out of memory.
static uint32_t number_of(pieces *all, const ppi_steady_request *from,
                          uint32_t stage) {
  uint32_t *number = &all->numbers[from->run_index][stage];
  if (!*number)
    *number =
        (uint32_t)ppi_map_number(
            &all->names, ppi_map_key_of(from->run->stages[stage].name, "")) +
        1;
  return *number;
}

static bool add_request(pieces *all, const ppi_steady_request *from,
                        size_t at) {
  const ppi_request_row *row = from->row;
  const ppi_request_run *run = from->run;
  uint32_t **numbers = &all->numbers[from->run_index];
  piece item = {.stage = "", .request = at};
  if (!*numbers) *numbers = ppi_alloc((run->num_stages + 1) * sizeof **numbers);
  bool added = *numbers && add_piece(all, &item, PPI_TAIL_QUEUE, row->queue_ns);
  for (size_t i = 0; i < row->num_cells && added; i++) {
    const ppi_request_cell *cell = &run->cells[row->first_cell + i];
    item.stage = run->stages[cell->stage].name;
    item.number = number_of(all, from, cell->stage);
    added = item.number &&
            add_piece(all, &item, PPI_TAIL_STAGE, cell->own_ns) &&
            add_piece(all, &item, PPI_TAIL_CONTENDED, cell->contended_ns) &&
            add_piece(all, &item, PPI_TAIL_HOP, cell->hop_ns);
  }
  return added;
}

// The slowest hundredth, and the half around the median.
static size_t slow_from(size_t num) {
  return num - num / 100;
}
static bool is_usual(size_t num, size_t at) {
  return at >= num / 4 && at < num - num / 4;
}

// Of parts with equal differences, the first by name wins.
static bool is_greatest(const piece *at, double part_ns, const ppi_tail *out) {
  if (part_ns <= 0 || part_ns != out->part_ns) return part_ns > out->part_ns;
  if (at->part != out->part) return at->part < out->part;
  return out->stage && strcmp(at->stage, out->stage) < 0;
}

// `from` to `to`: pieces of one part. A request without such a piece counts as
// 0.
static void judge(const pieces *all, size_t from, size_t to, ppi_tail *out) {
  double usual = 0, sum = 0, squares = 0, one = 0;
  double num_usual = (double)(out->num - 2 * (out->num / 4));
  double num_slow = (double)out->num_slow;
  for (size_t i = from; i < to; i++) {
    const piece *at = &all->items[i];
    if (is_usual(out->num, at->request)) usual += at->ns;
    if (at->request < slow_from(out->num)) continue;
    one += at->ns;
    if (i + 1 < to && at[1].request == at->request) continue;
    sum += one;
    squares += one * one;
    one = 0;
  }
  double mean = sum / num_slow;
  double variance = (squares / num_slow - mean * mean) / (num_slow - 1);
  double part_ns = mean - usual / num_usual;
  if (!is_greatest(&all->items[from], part_ns, out)) return;
  out->part = all->items[from].part;
  out->stage = *all->items[from].stage ? all->items[from].stage : NULL;
  out->part_ns = part_ns;
  out->error_ns = variance > 0 ? 1.96 * sqrt(variance) : 0;
}

static bool judge_all(pieces *all, ppi_tail *out) {
  if (!ppi_sort(all->items, all->num, sizeof *all->items, key_of, NULL))
    return false;
  for (size_t from = 0, to; from < all->num; from = to) {
    for (to = from + 1; to < all->num; to++)
      if (key_of(&all->items[to]) != key_of(&all->items[from])) break;
    judge(all, from, to, out);
  }
  return true;
}

static bool gather(const ppi_steady_request *list, pieces *all, ppi_tail *out) {
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
  pieces all = {0};
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
    done = all.numbers && gather(list, &all, out) && judge_all(&all, out);
  }
  for (size_t i = 0; all.numbers && i < figures->num_request_runs; i++)
    ppi_free(all.numbers[i]);
  ppi_free(all.numbers);
  ppi_map_clear(&all.names);
  ppi_free(all.items);
  ppi_free(list);
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
