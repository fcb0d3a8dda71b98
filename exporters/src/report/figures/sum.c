// SPDX-License-Identifier: Apache-2.0
//
// Adds up and frees figures: sorted tables and sums. Integer sums and tables in
// the order of names make the order of merging irrelevant.
#include "report/figures/sum.h"

#include "base/mem.h"
#include "report/figures/fields.h"
#include "report/figures/path_rows.h"
#include "report/figures/request_rows.h"
#include "report/figures/rows.h"

// The error bound and the cost are the worst run's. A sum is crash-safe if all
// runs are.
static void add_totals(ppi_figures *into, const ppi_figures *from) {
  bool first = into->num_inputs == 0;
  for (int key = 0; key < PPI_NUM_TOTALS; key++) {
    uint64_t *mine = &into->totals[key], other = from->totals[key];
    switch (key) {
      case PPI_TOTAL_CLOCK_ERROR_NS:
      case PPI_TOTAL_OWN_COST:
      case PPI_TOTAL_INCOMPLETE:
        *mine = PPI_MAX(*mine, other);
        break;
      case PPI_TOTAL_CRASH_SAFE:
        *mine = first ? other : PPI_MIN(*mine, other);
        break;
      default:
        *mine += other;
    }
  }
}

void ppi_report_perf_merge(ppi_report_perf *into, const ppi_report_perf *from) {
  bool is_first = into->num_stated == 0;
  into->num_steps += from->num_steps;
  ppi_spread_merge(&into->batch, &from->batch);
  ppi_spread_merge(&into->reader, &from->reader);
  into->num_stated += from->num_stated;
  into->items += from->items;
  into->speed_max = PPI_MAX(into->speed_max, from->speed_max);
  if (from->num_stated && (is_first || from->speed_min < into->speed_min))
    into->speed_min = from->speed_min;
}

static const ppi_field scalars[] = {
    PPI_FIGURE(ppi_figures, sum, distribution),
    PPI_FIGURE(ppi_figures, sum, outside.num),
    PPI_FIGURE(ppi_figures, net, outside.sums),
    PPI_FIGURE(ppi_figures, sum, kernels),
    PPI_FIGURE(ppi_figures, spread, phases),
    PPI_FIGURES(ppi_figures, sum, base_ns, num_disbelieved),
    PPI_FIGURE(ppi_figures, answer, answers)};
static const ppi_fields all_scalars = PPI_FIELDS(ppi_figures, scalars);

bool ppi_figures_kept_run(ppi_figures *figures, ppi_kept_run *run) {
  bool done = PPI_PUSH(figures->kept_runs, figures->num_kept_runs,
                       figures->kept_runs_capacity, run);
  if (done) __atomic_fetch_add(&run->num_owners, 1, __ATOMIC_RELAXED);
  return done;
}

static bool add_tables(ppi_figures *into, const ppi_figures *from) {
  for (ppi_figures_table table = 0; table < PPI_NUM_FIGURES_TABLES; table++)
    if (table != PPI_FIGURES_inputs && table != PPI_FIGURES_memory &&
        table != PPI_FIGURES_places &&
        !ppi_figures_merge_table(into, from, table))
      return false;
  bool done = ppi_figures_add_memory(into, from);
  for (size_t i = 0; i < from->num_request_runs && done; i++)
    done = ppi_figures_request_run(into, from->request_runs[i]);
  for (size_t i = 0; i < from->num_kept_runs && done; i++)
    done = ppi_figures_kept_run(into, from->kept_runs[i]);
  for (size_t i = 0; i < from->courses.num && done; i++)
    done = ppi_courses_add(&into->courses, &from->courses.items[i]);
  return done && ppi_path_rows_merge(into, from);
}

// Keeps the run with the stronger claim, then with the greater utilization,
// then with more units.
static void add_limit(ppi_limit *into, const ppi_limit *from) {
  static const int says[PPI_NUM_CLAIMS] = {[PPI_CLAIM_KEEPS_UP] = 1,
                                           [PPI_CLAIM_BALANCED] = 2,
                                           [PPI_CLAIM_PART] = 2,
                                           [PPI_CLAIM_UNRECORDED] = 3,
                                           [PPI_CLAIM_LIMIT] = 4};
  bool is_more = says[from->claim] != says[into->claim]
                     ? says[from->claim] > says[into->claim]
                 : from->utilization != into->utilization
                     ? from->utilization > into->utilization
                     : from->units > into->units;
  if (is_more) *into = *from;
}

static bool has_time(const ppi_figures *figures) {
  bool any = false;
  for (int i = 0; i < PPI_NUM_BASES; i++)
    any |= figures->answers[i].total_ns > 0;
  return any;
}

bool ppi_row_is_of_kind(const ppi_answer_row *row) {
  return !*row->child && *row->name && row->where < PPI_WHERE_BETWEEN &&
         !ppi_is_of_interpreter(row->name);
}

bool ppi_answer_has_stage(const ppi_answer *answer) {
  for (size_t i = 0; i < answer->num_rows; i++)
    if (ppi_row_is_of_kind(&answer->rows[i])) return true;
  return false;
}

static bool has_stage(const ppi_figures *figures) {
  return ppi_answer_has_stage(&figures->answers[PPI_BASE_WALL]);
}

// Iterations are no units if not all runs have the same loop. A launcher, which
// has no stage, does not count.
static void add_loop(ppi_figures *into, const ppi_figures *from) {
  ppi_figures_loop *loop = &into->loop;
  if (!has_time(from) || (has_stage(into) && !has_stage(from))) return;
  if (!has_time(into) || (!has_stage(into) && has_stage(from))) {
    *loop = from->loop;
    return;
  }
  loop->is_unlike |=
      from->loop.is_unlike || strcmp(loop->stages, from->loop.stages) != 0;
  if (strcmp(loop->thread, from->loop.thread) != 0) *loop->thread = 0;
  loop->start_stage_ns = 0;
}

ppi_base_kind ppi_figures_base(const ppi_figures *figures) {
  ppi_base_kind kind = PPI_BASE_REQUEST;
  while (kind > PPI_BASE_WALL &&
         (!figures->answers[kind].num_units ||
          (kind == PPI_BASE_ITERATION && figures->loop.is_unlike)))
    kind--;
  return kind;
}

bool ppi_figures_add(ppi_figures *into, const ppi_figures *from) {
  add_loop(into, from);
  add_limit(&into->limit, &from->limit);
  ppi_machine_figures_add(&into->machine, &from->machine);
  ppi_interpreter_figures_add(&into->interpreter, &from->interpreter);
  add_totals(into, from);
  ppi_report_perf_merge(&into->perf, &from->perf);
  bool done =
      ppi_fields_merge(&all_scalars, into, from) && add_tables(into, from);
  for (size_t i = 0; i < from->num_inputs && done; i++)
    done = ppi_figures_add_row(into, PPI_FIGURES_inputs, &from->inputs[i]);
  return done;
}

void ppi_figures_clear_kinds(ppi_figures *figures) {
  for (uint32_t i = 0; figures->kinds && i < figures->num_kinds; i++)
    ppi_answer_clear(&figures->kinds[i]);
  for (size_t i = 0; i < figures->num_inputs; i++) figures->inputs[i].kind = 0;
  ppi_free(figures->kinds);
  figures->kinds = NULL;
  figures->num_kinds = 0;
}

void ppi_figures_clear(ppi_figures *figures) {
  ppi_figures_clear_kinds(figures);
  for (ppi_figures_table table = 0; table < PPI_NUM_FIGURES_TABLES; table++)
    ppi_figures_clear_table(figures, table);
  ppi_path_rows_clear(figures);
  ppi_courses_clear(&figures->courses);
  for (size_t i = 0; i < figures->num_request_runs; i++)
    ppi_request_run_release(figures->request_runs[i]);
  for (size_t i = 0; i < figures->num_kept_runs; i++)
    ppi_kept_run_release(figures->kept_runs[i]);
  ppi_free(figures->request_runs);
  ppi_free(figures->kept_runs);
  ppi_fields_clear(&all_scalars, figures);
  *figures = (ppi_figures){0};
}

static void carry_runs(ppi_carry *carry, ppi_figures *figures) {
  ppi_carry_room(carry, &figures->request_runs, &figures->num_request_runs,
                 sizeof *figures->request_runs);
  for (size_t i = 0; i < figures->num_request_runs; i++)
    ppi_request_run_carry(carry, &figures->request_runs[i]);
  ppi_carry_room(carry, &figures->kept_runs, &figures->num_kept_runs,
                 sizeof *figures->kept_runs);
  for (size_t i = 0; i < figures->num_kept_runs; i++)
    ppi_kept_run_carry(carry, &figures->kept_runs[i]);
}

void ppi_report_details_carry(ppi_carry *carry, ppi_report_details *details) {
  char *iteration = (char *)details->iteration;
  PPI_CARRY_FROM(carry, details, by_thread, no_iterations);
  ppi_carry_text(carry, &iteration);
  PPI_CARRY_FROM(carry, details, one_way, joins);
  PPI_CARRY_FROM(carry, details, slo, warmup);
  details->iteration = iteration;
}

void ppi_figures_carry(ppi_carry *carry, ppi_figures *figures) {
  for (ppi_figures_table table = 0; table < PPI_NUM_FIGURES_TABLES; table++)
    ppi_figures_carry_table(carry, figures, table);
  ppi_path_rows_carry(carry, figures);
  carry_runs(carry, figures);
  ppi_courses_carry(carry, &figures->courses);
  for (size_t i = 0; i < PPI_NUM_BASES; i++)
    ppi_answer_carry(carry, &figures->answers[i]);
  PPI_CARRY_FROM(carry, figures, machine, interpreter);
  PPI_CARRY_FROM(carry, figures, loop, loop);
  ppi_limit_carry(carry, &figures->limit);
  PPI_CARRY_FROM(carry, figures, distribution, perf);
  PPI_CARRY_FROM(carry, figures, phases, num_disbelieved);
  PPI_CARRY_FROM(carry, figures, totals, totals);
}

// ---- divisors of energy ----

static uint64_t num_of(const ppi_answer *answer) {
  return PPI_MAX(answer->num_units, answer->num_all) + answer->num_cold;
}

void ppi_figures_energy_units(const ppi_figures *figures,
                              ppi_energy_unit out[PPI_ENERGY_UNITS]) {
  out[0] =
      (ppi_energy_unit){"request", num_of(&figures->answers[PPI_BASE_REQUEST])};
  out[1] = (ppi_energy_unit){"step", num_of(&figures->answers[PPI_BASE_STEP])};
  out[2] = (ppi_energy_unit){"token", 0};
  uint64_t num_served = 0;
  for (size_t i = 0; i < figures->num_serving; i++) {
    const ppi_serving *sums = &figures->serving[i].sums;
    if (!ppi_serving_is_class(sums)) continue;
    out[2].num += sums->tokens_out;
    num_served += sums->num_whole;
  }
  // Requests without stages of their own are known to serving alone.
  out[0].num = PPI_MAX(out[0].num, num_served);
}

double ppi_figures_energy_of_stages(const ppi_figures *figures) {
  double joules = 0;
  for (size_t i = 0; i < figures->num_energy; i++)
    if (figures->energy[i].kind <= PPI_ENERGY_SHORT)
      joules += figures->energy[i].joules;
  return joules;
}

double ppi_figures_items_of(const ppi_figures *figures, const char *name) {
  double items = 0;
  for (size_t i = 0; i < figures->num_work; i++)
    if (strcmp(figures->work[i].name, name) == 0)
      items += figures->work[i].items;
  return items;
}
