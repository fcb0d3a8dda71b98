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

// The time in which a station's rows wait for work of station `of`.
static double awaited_use(const ppi_limit_model *model,
                          const ppi_station *station, uint32_t of) {
  double servers_ns = (double)station->servers * (double)model->time_ns, ns = 0;
  for (size_t i = 0; i < station->num_stages; i++)
    if (station->stages[i].awaits == of)
      ns += (double)station->stages[i].in_turn_ns;
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
    if (!station->is_relevant) continue;
    double use = ppi_limit_turn_use(model, i);
    before = PPI_MAX(before, use);
    // What waits for the halved stage waits for less, too.
    use -= saved * (i == at ? use : awaited_use(model, station, at));
    if (use <= most) continue;
    most = use;
    *out_next = (uint32_t)i;
  }
  return most > 0 ? before / most - 1 : 0;
}

// ---- words ----

static double unit_demand(const ppi_limit_model *model,
                          const ppi_limit_stage *stage) {
  return model->num_counted
             ? (double)stage->working_ns / (double)model->num_counted
             : 0;
}

const char *ppi_limit_station_name(const ppi_limit_model *model,
                                   uint32_t station) {
  const ppi_station *of = &model->stations[station];
  if (of->kind == PPI_STATION_DEVICE) return ppi_station_name(model, of);
  return of->num_stages ? model->names[of->stages[0].name].text : "";
}

// The server that stands for a station; PPI_LIMIT_SERVERS: none does.
static uint32_t server_of(const ppi_limit_search *search, uint32_t station) {
  const ppi_limit *out = search->out;
  uint32_t at = 0;
  while (at < out->num_servers && search->servers[at] != station) at++;
  return at < out->num_servers ? at : PPI_LIMIT_SERVERS;
}

// The limit after this one; "": a unit takes its time.
static void name_next(ppi_limit_search *search, const char *stage,
                      uint32_t server, uint32_t next) {
  ppi_limit *out = search->out;
  const char *name = next < out->num_servers ? out->servers[next].name : "";
  bool is_other = next != server && strcmp(name, stage) == 0;
  PPI_SAY(out->next_limit, "%s%s", is_other ? "the thread of " : "", name);
}

void ppi_limit_put_bound(ppi_limit_search *search, uint32_t station,
                         const char *stage, char *to, size_t size) {
  ppi_limit *out = search->out;
  double factors[PPI_LIMIT_DEMANDS];
  char known[sizeof out->demands->name];  // cut like the names of demands
  uint32_t next, server = server_of(search, station);
  PPI_SAY(known, "%s", stage);
  for (size_t i = 0; i < PPI_LIMIT_DEMANDS; i++) {
    const ppi_limit_demand *demand = &out->demands[i];
    bool is_it = i < out->num_demands && demand->server == server &&
                 strcmp(demand->name, known) == 0;
    factors[i] = is_it ? 0.5 : 1;
  }
  out->bound = ppi_limit_bound(out, factors, &next);
  name_next(search, stage, server, next);
  ppi_words name = ppi_words_name(stage);
  ppi_words gain = ppi_words_percent(out->bound, 1);
  if (*out->next_limit)
    ppi_words_put(to, size,
                  "Halving %s raises the rate by at most %s; then %s %slimits.",
                  name.text, gain.text, ppi_words_name(out->next_limit).text,
                  next == server ? "still " : "");
  else
    ppi_words_put(to, size, "Halving %s raises the rate by at most %s.",
                  name.text, gain.text);
}

static bool runs_one_stage(const ppi_station *station) {
  return 10 * station->stages[0].working_ns >= 9 * station->working_ns;
}

static void list_stages(const ppi_limit_model *model,
                        const ppi_station *station, char *to, size_t size) {
  enum { MOST = 3 };
  size_t len = 0;
  *to = 0;
  for (size_t i = 0; i < station->num_stages && i < MOST && len < size; i++) {
    if (i && 50 * station->stages[i].working_ns < station->working_ns) break;
    ppi_words_put(
        to + len, size - len, "%s%s", i ? ", " : "",
        ppi_words_name(model->names[station->stages[i].name].text).text);
    len += strlen(to + len);
  }
}

static void put_threads(ppi_limit_search *search, const ppi_station *station,
                        const char *bound) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  const ppi_limit_stage *stage = &station->stages[0];
  ppi_words name = ppi_words_name(model->names[stage->name].text);
  ppi_words use = ppi_words_percent(PPI_MIN(station->use, 1.0), 1);
  ppi_words time = ppi_words_time(out->demand_ns);
  char stages[160], threads[32];
  list_stages(model, station, stages, sizeof stages);
  if (station->servers == 1)
    PPI_SAY(threads, "thread");
  else
    PPI_SAY(threads, "%u threads", (unsigned)station->servers);
  if (runs_one_stage(station))
    PPI_SAY(out->sentence,
            "%s is the limit: its %s %s busy %s of the time, %s %s. %s",
            name.text, threads, station->servers == 1 ? "is" : "are", use.text,
            time.text, ppi_limit_a_unit(model), bound);
  else
    PPI_SAY(out->sentence,
            "The %s that run%s %s %s the limit: busy %s. The greatest part is "
            "%s, %s %s. %s",
            threads, station->servers == 1 ? "s" : "", stages,
            station->servers == 1 ? "is" : "are", use.text, name.text,
            time.text, ppi_limit_a_unit(model), bound);
  PPI_SAY(out->next, "make %s cheaper, or give it more threads.", name.text);
}

static void put_device(ppi_limit_search *search, const ppi_station *station,
                       const char *bound) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  ppi_words name = ppi_words_name(model->names[station->stages[0].name].text);
  PPI_SAY(out->sentence,
          "%s is the limit: busy %s. The greatest part is %s, %s %s. %s",
          ppi_words_name(ppi_station_name(model, station)).text,
          ppi_words_percent(PPI_MIN(station->use, 1.0), 1).text, name.text,
          ppi_words_time(out->demand_ns).text, ppi_limit_a_unit(model), bound);
  PPI_SAY(out->next,
          "make %s cheaper on the device; faster host code brings nothing.",
          name.text);
}

static void put_one_at_a_time(ppi_limit_search *search,
                              const ppi_station *station, const char *bound) {
  ppi_limit *out = search->out;
  ppi_words name = ppi_words_name(search->model->names[station->name].text);
  PPI_SAY(out->sentence,
          "%s is the limit: only %u thread%s %s in it at a time, and it is "
          "busy %s. %s",
          name.text, (unsigned)station->servers,
          station->servers == 1 ? "" : "s",
          station->servers == 1 ? "is" : "are",
          ppi_words_percent(PPI_MIN(station->use, 1.0), 1).text, bound);
  PPI_SAY(out->next,
          "hold %s for less, or let more in; more threads will not help.",
          name.text);
}

static void put_elsewhere(ppi_limit_search *search, const ppi_station *station,
                          const char *bound) {
  ppi_limit *out = search->out;
  ppi_words name = ppi_words_name(search->model->names[station->name].text);
  PPI_SAY(out->sentence,
          "%s is the limit: it takes %u request%s at a time, on no thread "
          "here, and is busy %s. %s",
          name.text, (unsigned)station->servers,
          station->servers == 1 ? "" : "s",
          ppi_words_percent(PPI_MIN(station->use, 1.0), 1).text, bound);
  PPI_SAY(out->next,
          "let what serves %s take more at a time, or make it cheaper.",
          name.text);
}

void ppi_limit_say(ppi_limit_search *search, uint32_t at) {
  const ppi_limit_model *model = search->model;
  const ppi_station *station = &model->stations[at];
  ppi_limit *out = search->out;
  char bound[256];
  out->claim = PPI_CLAIM_LIMIT;
  out->verdict = "limit";
  out->utilization = station->use;
  out->demand_ns = unit_demand(model, &station->stages[0]);
  ppi_limit_add_name(out, model->names[station->stages[0].name].text);
  if (station->num_rows)
    ppi_limit_add_name(out, ppi_station_name(model, station));
  ppi_limit_put_bound(search, at, model->names[station->stages[0].name].text,
                      bound, sizeof bound);
  if (station->kind == PPI_STATION_THREADS)
    put_threads(search, station, bound);
  else if (station->kind == PPI_STATION_DEVICE)
    put_device(search, station, bound);
  else if (station->kind == PPI_STATION_ELSEWHERE)
    put_elsewhere(search, station, bound);
  else
    put_one_at_a_time(search, station, bound);
}

// ---- rules ----

bool ppi_limit_balanced(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  uint32_t top = ppi_limit_busiest(model), next;
  if (top == PPI_NONE || !model->stations[top].num_stages) return false;
  double gain = ppi_limit_gain(model, top, &next);
  size_t num = 0;
  for (size_t i = 0; i < model->num_stations; i++)
    num += model->stations[i].is_relevant && i != top &&
           ppi_limit_turn_use(model, i) + 0.03 >= model->stations[top].use;
  if (gain >= 0.03 || !num) return false;
  ppi_limit *out = search->out;
  char list[256];
  size_t len = 0;
  out->claim = PPI_CLAIM_BALANCED;
  out->verdict = "balanced";
  out->utilization = model->stations[top].use;
  out->bound = gain;
  *list = 0;
  for (size_t i = 0; i < model->num_stations && len < sizeof list; i++) {
    const ppi_station *station = &model->stations[i];
    if (!station->is_relevant || !station->num_stages ||
        ppi_limit_turn_use(model, i) + 0.03 < model->stations[top].use)
      continue;
    ppi_limit_add_name(out, ppi_limit_station_name(model, (uint32_t)i));
    ppi_words_put(
        list + len, sizeof list - len, "%s%s (%s)", len ? ", " : "",
        ppi_words_name(ppi_limit_station_name(model, (uint32_t)i)).text,
        ppi_words_percent(PPI_MIN(ppi_limit_turn_use(model, i), 1.0), 1).text);
    len += strlen(list + len);
  }
  PPI_SAY(out->sentence,
          "No single stage is the limit: %s are all busy. Half of one brings "
          "%s at most.",
          list, ppi_words_percent(gain, 1).text);
  PPI_SAY(out->next, "make all of these cheaper, or give each more servers.");
  return true;
}

bool ppi_limit_saturated(ppi_limit_search *search) {
  uint32_t top = ppi_limit_busiest(search->model);
  if (top == PPI_NONE || !search->model->stations[top].num_stages) return false;
  ppi_limit_say(search, top);
  return true;
}

// The range with the most time in which rows of the station wait for their own
// work elsewhere.
static const ppi_limit_name *waits_in_turn(const ppi_limit_model *model,
                                           size_t at) {
  const ppi_limit_name *found = NULL;
  for (size_t i = 0; i < model->num_names; i++) {
    const ppi_limit_name *name = &model->names[i];
    if (!name->num || name->waits == PPI_WAITS_NOT) continue;
    const ppi_limit_call *call = &model->calls[model->by_name[name->first]];
    if (ppi_call_is_on_thread(call) && model->rows[call->row].station == at &&
        (!found || name->time_ns > found->time_ns))
      found = name;
  }
  return found;
}

static void say_turn(ppi_limit_search *search, size_t at) {
  const ppi_limit_model *model = search->model;
  const ppi_station *station = &model->stations[at];
  ppi_limit *out = search->out;
  ppi_words stage = ppi_words_name(model->names[station->stages[0].name].text);
  double units = (double)PPI_MAX(model->num_counted, 1);
  double ns = (double)station->working_ns + (double)station->in_turn_ns;
  const ppi_limit_name *by = waits_in_turn(model, at);
  const char *awaited =
      by && by->waits_for != PPI_NONE ? model->names[by->waits_for].text : NULL;
  out->claim = PPI_CLAIM_LIMIT;
  out->verdict = "in turn";
  out->utilization = ppi_limit_turn_use(model, at);
  out->demand_ns = ns / units;
  ppi_limit_add_name(out, model->names[station->stages[0].name].text);
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
      ppi_words_percent((double)station->in_turn_ns, ns).text);
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
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  char list[256] = "";
  size_t num = 0;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (!station->is_relevant || !station->num_stages ||
        station->kind != PPI_STATION_THREADS ||
        ppi_limit_turn_use(model, i) + 0.03 < ppi_limit_turn_use(model, best))
      continue;
    const char *stage = ppi_limit_station_name(model, (uint32_t)i);
    size_t len = strlen(list);
    ppi_limit_add_name(out, stage);
    ppi_words_put(
        list + len, sizeof list - len, "%s%s (%s)", len ? ", " : "",
        ppi_words_name(stage).text,
        ppi_words_percent(PPI_MIN(ppi_limit_turn_use(model, i), 1), 1).text);
    num++;
  }
  if (num < 2) {
    out->num_names = 0;
    return false;
  }
  out->claim = PPI_CLAIM_BALANCED;
  out->verdict = "balanced";
  out->utilization = ppi_limit_turn_use(model, best);
  PPI_SAY(out->sentence,
          "No single stage is the limit: the threads of %s are all taken, "
          "working and waiting in turn.",
          list);
  PPI_SAY(out->next, "let each begin the next one ahead of what it waits for.");
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

bool ppi_limit_nearly(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  uint32_t best = PPI_NONE;
  double line_ns = 0;
  if (!search->blame.num_units) return false;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (!station->is_relevant) continue;
    line_ns += search->blame.line_ns[i];
    if (best == PPI_NONE || station->use > model->stations[best].use)
      best = (uint32_t)i;
  }
  if (best == PPI_NONE || model->stations[best].use < 0.8 ||
      line_ns < 0.25 * search->blame.latency_ns ||
      !model->stations[best].num_stages)
    return false;
  ppi_limit_say(search, best);
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
  out->claim = PPI_CLAIM_LIMIT;
  out->verdict = "moves";
  ppi_limit_add_name(out, ppi_limit_station_name(model, a));
  ppi_limit_add_name(out, ppi_limit_station_name(model, b));
  out->utilization = uses[b].uses[PARTS - 1];
  PPI_SAY(out->sentence,
          "The limit moves: first %s (busy %s), after %s %s (busy %s).",
          ppi_words_name(ppi_limit_station_name(model, a)).text,
          ppi_words_percent(PPI_MIN(uses[a].uses[0], 1.0), 1).text,
          ppi_words_time(after_ns).text,
          ppi_words_name(ppi_limit_station_name(model, b)).text,
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
