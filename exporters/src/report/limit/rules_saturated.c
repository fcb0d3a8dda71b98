// SPDX-License-Identifier: Apache-2.0
//
// Rules for a saturated server, which sets the rate: utilization law, forced
// flow (Denning, Buzen 1978); bounds (Lazowska et al. 1984).
#include "report/limit/rules.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/findings/words.h"
#include "report/limit/find.h"
#include "report/limit/row_calls.h"
#include "report/limit/say.h"

// ---- stations by use ----

static double rank_of(const ppi_station *station) {
  static const double ahead[] = {[PPI_STATION_THREADS] = 0,
                                 [PPI_STATION_DEVICE] = 0.02,
                                 [PPI_STATION_ONE_AT_A_TIME] = 0.05,
                                 [PPI_STATION_ELSEWHERE] = 0};
  return station->use + ahead[station->kind];
}

uint32_t ppi_limit_busiest(const ppi_limit_model *model) {
  uint32_t best = PPI_NONE;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (!station->is_relevant || station->use < ppi_saturated) continue;
    if (best == PPI_NONE || rank_of(station) > rank_of(&model->stations[best]))
      best = (uint32_t)i;
  }
  return best;
}

double ppi_limit_turn_use(const ppi_limit_model *model, size_t at) {
  const ppi_station *station = &model->stations[at];
  double servers_ns = (double)station->servers * (double)model->time_ns;
  double ns = (double)station->working_ns + (double)station->in_turn_ns;
  return servers_ns > 0 ? ns / servers_ns : 0;
}

// The part of a station's time that half of its greatest stage saves.
static double saved_part(const ppi_limit_model *model, uint32_t at) {
  const ppi_station *station = &model->stations[at];
  const ppi_limit_stage *stage = &station->stages[0];
  double all_ns = (double)(station->working_ns + station->in_turn_ns);
  return all_ns > 0
             ? (double)(stage->working_ns + stage->in_turn_ns) / all_ns / 2
             : 0;
}

// The time in which a station's rows wait for work of station `of`, or do it.
static double awaited_use(const ppi_limit_model *model,
                          const ppi_station *station, uint32_t of) {
  double servers_ns = (double)station->servers * (double)model->time_ns, ns = 0;
  const ppi_station *other = &model->stations[of];
  for (size_t i = 0; i < station->num_stages; i++) {
    if (station->stages[i].awaits == of)
      ns += (double)station->stages[i].in_turn_ns;
    if (station->kind == PPI_STATION_THREADS &&
        other->kind == PPI_STATION_ONE_AT_A_TIME &&
        station->stages[i].name == other->name)
      ns += (double)station->stages[i].working_ns;
  }
  return servers_ns > 0 ? ns / servers_ns : 0;
}

double ppi_limit_gain(const ppi_limit_model *model, uint32_t at,
                      uint32_t *out_next) {
  const ppi_station *top = &model->stations[at];
  double most = 0, before = 0;
  *out_next = at;
  if (!top->num_stages) return 0;
  double saved = saved_part(model, at);
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    double use = ppi_limit_turn_use(model, i);
    // Places that are not full may be more.
    bool may_be_more = station->kind == PPI_STATION_ONE_AT_A_TIME && i != at &&
                       use < ppi_saturated;
    if (!station->is_relevant || may_be_more) continue;
    before = PPI_MAX(before, use);
    // Calls that wait for the halved stage wait less, too.
    use -= saved * (i == at ? use : awaited_use(model, station, at));
    if (i != at) use *= 1 - station->batches_save;
    if (use <= most) continue;
    most = use;
    *out_next = (uint32_t)i;
  }
  return most > 0 ? before / most - 1 : 0;
}

// ---- rules ----

// Names stations that are as busy as the busiest, which has `use`; without
// `all` only threads count. Answers their number.
static size_t list_alike(ppi_limit_search *search, double use, bool all,
                         char *to, size_t size) {
  const ppi_limit_model *model = search->model;
  size_t num = 0;
  *to = 0;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    double turn_use = ppi_limit_turn_use(model, i);
    if (!station->is_relevant || !station->num_stages ||
        turn_use + 0.03 < use || (!all && station->kind != PPI_STATION_THREADS))
      continue;
    const char *name = ppi_limit_station_name(model, (uint32_t)i);
    ppi_limit_add_name(search->out, name);
    ppi_words_add(to, size, "%s%s (%s)", num++ ? ", " : "",
                  ppi_words_name(name).text,
                  ppi_words_percent(PPI_MIN(turn_use, 1.0), 1).text);
  }
  if (num >= 2) {
    search->out->claim = PPI_CLAIM_BALANCED;
    search->out->verdict = "balanced";
    search->out->utilization = use;
  } else {
    search->out->num_names = 0;
  }
  return num;
}

bool ppi_limit_balanced(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  uint32_t top = ppi_limit_busiest(model), next;
  char list[256];
  if (top == PPI_NONE || !model->stations[top].num_stages) return false;
  double gain = ppi_limit_gain(model, top, &next);
  if (gain >= 0.03 ||
      list_alike(search, model->stations[top].use, true, list, sizeof list) < 2)
    return false;
  search->out->bound = gain;
  PPI_SAY(search->out->sentence,
          "No single stage is the limit: %s are all busy. Half of one brings "
          "%s at most.",
          list, ppi_words_percent(gain, 1).text);
  PPI_SAY(search->out->next,
          "make all of these cheaper, or give each more servers.");
  return true;
}

bool ppi_limit_saturated(ppi_limit_search *search) {
  uint32_t top = ppi_limit_busiest(search->model);
  if (top == PPI_NONE || !search->model->stations[top].num_stages) return false;
  ppi_limit_say(search, top);
  return true;
}

// The range of other threads that rows of the station wait for most, by time;
// PPI_NONE: they wait more for devices, which then have that time.
static uint32_t awaited_in_turn(ppi_limit_search *search, size_t at,
                                double *out_ns) {
  const ppi_limit_model *model = search->model;
  double *times_ns = ppi_alloc((model->num_names + 1) * sizeof *times_ns);
  *out_ns = (double)model->stations[at].in_turn_ns;
  search->failed |= !times_ns;
  for (size_t i = 0; times_ns && i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    ppi_inside inside[PPI_MOST_INSIDE];
    if (!ppi_call_is_on_thread(call) || model->rows[call->row].station != at ||
        model->names[call->name].waits == PPI_WAITS_DEVICE ||
        !ppi_call_is_top_wait(model, (uint32_t)i))
      continue;
    size_t num = ppi_calls_inside(model, call, inside);
    for (size_t k = 0; k < num; k++) {
      double ns = (double)ppi_model_within(model, inside[k].from_ns,
                                           inside[k].call->end_ns);
      times_ns[inside[k].call->name] += ns;
      *out_ns -= ns;
    }
  }
  uint32_t most =
      times_ns ? ppi_limit_greatest(times_ns, model->num_names) : PPI_NONE;
  if (most != PPI_NONE && times_ns[most] <= *out_ns) most = PPI_NONE;
  if (most != PPI_NONE) *out_ns = times_ns[most];
  ppi_free(times_ns);
  return most;
}

static void say_turn(ppi_limit_search *search, size_t at) {
  const ppi_limit_model *model = search->model;
  const ppi_station *station = &model->stations[at];
  ppi_limit *out = search->out;
  ppi_words stage = ppi_words_name(ppi_limit_station_stage(model, station));
  double units = (double)PPI_MAX(model->num_counted, 1), waits_ns;
  double ns = (double)station->working_ns + (double)station->in_turn_ns;
  uint32_t by = awaited_in_turn(search, at, &waits_ns);
  const char *awaited = by == PPI_NONE ? NULL : model->names[by].text;
  ppi_limit_begin(search, PPI_CLAIM_LIMIT, "in turn",
                  ppi_limit_turn_use(model, at),
                  ppi_limit_station_stage(model, station));
  out->demand_ns = ns / units;
  if (awaited) ppi_limit_add_name(out, awaited);
  PPI_SAY(
      out->sentence,
      "%s is the limit: %s in turn take its thread%s %s of the time, %s "
      "%s. It waits for %s %s of that.",
      stage.text,
      awaited ? "its own work and that of others" : "launches and device work",
      station->servers == 1 ? "" : "s",
      ppi_words_percent(PPI_MIN(out->utilization, 1.0), 1).text,
      ppi_words_time(out->demand_ns).text, ppi_limit_a_unit(model),
      awaited ? ppi_words_name(awaited).text : "the device",
      ppi_words_percent(waits_ns, ns).text);
  if (awaited)
    PPI_SAY(out->next, "give %s more threads, or make %s shorter.", stage.text,
            ppi_words_name(awaited).text);
  else
    PPI_SAY(out->next,
            "let %s launch ahead of what it waits for, or give it more threads "
            "and streams.",
            stage.text);
}

// Several threads are always taken.
static bool say_turns_alike(ppi_limit_search *search, size_t best) {
  double use = ppi_limit_turn_use(search->model, best);
  char list[256];
  if (list_alike(search, use, false, list, sizeof list) < 2) return false;
  PPI_SAY(search->out->sentence,
          "No single stage is the limit: the threads of %s are all taken, "
          "working and waiting in turn.",
          list);
  PPI_SAY(search->out->next,
          "let each begin the next one ahead of what it waits for.");
  return true;
}

// A thread that waits for its own device work is taken, though neither the
// thread nor the device is always busy.
bool ppi_limit_in_turn(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  size_t best = SIZE_MAX;
  if (!search->blame.num_units) return false;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (!station->is_relevant || !station->num_stages ||
        station->kind != PPI_STATION_THREADS || !station->in_turn_ns)
      continue;
    if (best == SIZE_MAX ||
        ppi_limit_turn_use(model, i) > ppi_limit_turn_use(model, best))
      best = i;
  }
  if (best == SIZE_MAX || ppi_limit_turn_use(model, best) < ppi_saturated)
    return false;
  if (!say_turns_alike(search, best)) say_turn(search, best);
  return true;
}

bool ppi_limit_closed_line(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const ppi_blame *blame = &search->blame;
  uint32_t at = ppi_limit_greatest(blame->line_ns, model->num_stations);
  if (!search->is_closed || at == PPI_NONE) return false;
  if (blame->line_ns[at] < 0.4 * blame->latency_ns ||
      model->stations[at].use < 0.6 || !model->stations[at].num_stages)
    return false;
  ppi_limit_say(search, at);
  return true;
}

// ---- the limit moves ----

enum { PARTS = 8 };

typedef struct part_uses {
  double uses[PARTS];
} part_uses;

static void add_use(const ppi_limit_model *model, uint32_t call, part_uses *to,
                    double servers) {
  const ppi_limit_call *of = &model->calls[call];
  double length = (double)(of->end_ns - of->start_ns);
  uint64_t within_ns = ppi_call_within(model, of);
  double part_ns = (double)(model->to_ns - model->from_ns) / PARTS;
  if (!within_ns || length <= 0 || part_ns <= 0) return;
  double works = (double)model->working_ns[call] / (double)within_ns;
  for (size_t i = 0; i < PARTS; i++) {
    uint64_t from_ns = model->from_ns + (uint64_t)((double)i * part_ns);
    uint64_t to_ns = model->from_ns + (uint64_t)((double)(i + 1) * part_ns);
    uint64_t ns =
        PPI_MIN(to_ns, of->end_ns) > PPI_MAX(from_ns, of->start_ns)
            ? PPI_MIN(to_ns, of->end_ns) - PPI_MAX(from_ns, of->start_ns)
            : 0;
    to->uses[i] += works * (double)ns / (servers * part_ns);
  }
}

static bool moves_between(const part_uses *first, const part_uses *second,
                          const size_t *busiest, uint32_t a, uint32_t b,
                          size_t *out_at) {
  enum { LEAST = 2 };
  size_t num_a = 0, num_b = 0, last_a = 0, first_b = PARTS;
  for (size_t i = 0; i < PARTS; i++) {
    bool is_a = busiest[i] == a && first->uses[i] >= 0.88;
    bool is_b = busiest[i] == b && second->uses[i] >= 0.88;
    if (is_a) last_a = i;
    if (is_b && first_b == PARTS) first_b = i;
    num_a += is_a;
    num_b += is_b;
    if (is_a && second->uses[i] >= 0.75) return false;
    if (is_b && first->uses[i] >= 0.75) return false;
  }
  *out_at = first_b;
  return num_a >= LEAST && num_b >= LEAST && last_a < first_b;
}

static void say_moves(ppi_limit_search *search, uint32_t a, uint32_t b,
                      const part_uses *uses, size_t at) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  double after_ns =
      (double)(model->to_ns - model->from_ns) / PARTS * (double)at;
  const char *second = ppi_limit_station_name(model, b);
  ppi_limit_begin(search, PPI_CLAIM_LIMIT, "moves", uses[b].uses[PARTS - 1],
                  ppi_limit_station_name(model, a));
  ppi_limit_add_name(out, second);
  PPI_SAY(out->sentence,
          "The limit moves: first %s (busy %s), after %s %s (busy %s).",
          ppi_words_name(ppi_limit_station_name(model, a)).text,
          ppi_words_percent(PPI_MIN(uses[a].uses[0], 1.0), 1).text,
          ppi_words_time(after_ns).text, ppi_words_name(second).text,
          ppi_words_percent(PPI_MIN(uses[b].uses[PARTS - 1], 1.0), 1).text);
  PPI_SAY(out->next, "look at the two parts of the run separately.");
}

static part_uses *uses_by_part(const ppi_limit_model *model) {
  part_uses *uses = ppi_alloc((model->num_stations + 1) * sizeof *uses);
  for (size_t i = 0; uses && i < model->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[i];
    if (row->station == PPI_NONE) continue;
    const ppi_station *station = &model->stations[row->station];
    for (size_t k = 0; k < row->num_parts; k++)
      add_use(model, row->parts[k], &uses[row->station], station->servers);
  }
  return uses;
}

bool ppi_limit_moves(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  part_uses *uses = uses_by_part(model);
  size_t busiest[PARTS] = {0}, at;
  search->failed |= !uses;
  for (size_t i = 0; uses && i < PARTS; i++)
    for (size_t k = 0; k < model->num_stations; k++)
      if (model->stations[k].is_relevant &&
          uses[k].uses[i] > uses[busiest[i]].uses[i])
        busiest[i] = k;
  bool found = false;
  for (size_t i = 0; uses && i < PARTS && !found; i++) {
    for (size_t k = i + 1; k < PARTS && !found; k++) {
      uint32_t a = (uint32_t)busiest[i], b = (uint32_t)busiest[k];
      found = a != b && moves_between(&uses[a], &uses[b], busiest, a, b, &at);
      if (found) say_moves(search, a, b, uses, at);
    }
  }
  ppi_free(uses);
  return found;
}
