// SPDX-License-Identifier: Apache-2.0
//
// Rules for runs in which nothing is saturated: arrival of requests, replicas,
// idle time before stages, and runs that keep up.
#include "report/limit/rules.h"

#include <math.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/findings/words.h"
#include "report/limit/find.h"
#include "report/limit/say.h"

// ---- how requests come ----

static size_t begins_after_ends(const ppi_limit_model *model,
                                const uint64_t *ends, uint64_t eps_ns) {
  size_t num = 0;
  for (size_t i = 0; i < model->num_units; i++) {
    uint64_t start_ns = model->units[i].start_ns;
    size_t before =
        ppi_count_below(ends, model->num_units, sizeof *ends, start_ns + 1);
    num += before && ends[before - 1] + eps_ns >= start_ns;
  }
  return num;
}

static void find_closed(ppi_limit_search *search, const uint64_t *ends) {
  const ppi_limit_model *model = search->model;
  double latency_ns = 0, num = (double)model->num_units;
  for (size_t i = 0; i < model->num_units; i++)
    latency_ns += (double)(model->units[i].end_ns - model->units[i].start_ns);
  for (size_t i = 0; i < PPI_NUM_SLACKS; i++) {
    double eps = (double)ppi_slacks_ns[i];
    if (eps > 0.1 * latency_ns / num) return;
    double part =
        (double)begins_after_ends(model, ends, ppi_slacks_ns[i]) / num;
    double chance = 1 - exp(-eps * num / (double)PPI_MAX(model->span_ns, 1));
    if (part < 0.7 || part - chance < 0.3) continue;
    search->is_closed = true;
    return;
  }
}

// The most requests under way at a time, and how long they are as many. Above
// 4, one less counts as the same.
static void find_under_way(ppi_limit_search *search, ppi_border *borders) {
  const ppi_limit_model *model = search->model;
  enum { MOST = 4096 };
  uint64_t *ns = ppi_alloc(MOST * sizeof *ns), last_ns = 0, all_ns = 0;
  size_t open = 0, most = 0;
  if (!ns) return;
  for (size_t i = 0; i < model->num_units; i++) {
    borders[2 * i] = ppi_begin_border(model->units[i].start_ns);
    borders[2 * i + 1] = ppi_end_border(model->units[i].end_ns);
  }
  ppi_sort_keyed(borders, 2 * model->num_units);
  for (size_t i = 0; i < 2 * model->num_units; i++) {
    uint64_t within_ns = ppi_model_within(model, last_ns, borders[i].key);
    ns[PPI_MIN(open, (size_t)MOST - 1)] += within_ns;
    all_ns += within_ns;
    last_ns = borders[i].key;
    open += (size_t)(long)ppi_border_change(&borders[i]);
  }
  for (size_t i = 0; i < MOST; i++)
    if (200 * ns[i] > all_ns) most = i;
  uint64_t full_ns = ns[most] + (most > 4 ? ns[most - 1] : 0);
  search->under_way = (double)most;
  search->full_part = all_ns ? (double)full_ns / (double)all_ns : 0;
  ppi_free(ns);
}

void ppi_limit_find_arrivals(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  if (model->unit_kind != PPI_UNIT_REQUEST || !model->num_units) return;
  uint64_t *ends = ppi_alloc((model->num_units + 1) * sizeof *ends);
  ppi_border *borders = ppi_alloc((2 * model->num_units + 1) * sizeof *borders);
  search->failed |= !ends || !borders;
  if (!search->failed) {
    for (size_t i = 0; i < model->num_units; i++)
      ends[i] = model->units[i].end_ns;
    ppi_sort_numbers(ends, model->num_units);
    find_closed(search, ends);
    find_under_way(search, borders);
  }
  ppi_free(ends);
  ppi_free(borders);
}

// ---- too few under way ----

static double greatest_use(const ppi_limit_model *model, uint32_t *out_at) {
  double use = 0;
  *out_at = PPI_NONE;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (!station->is_relevant || !station->num_stages ||
        station->kind == PPI_STATION_ONE_AT_A_TIME ||
        station->kind == PPI_STATION_ELSEWHERE || station->use <= use)
      continue;
    use = station->use;
    *out_at = (uint32_t)i;
  }
  return use;
}

typedef struct part {
  const char *name;
  double ns;
  bool is_elsewhere;  // on no thread
  bool has_beside;    // other branches run beside it, or beside a longer one
} part;

// The stage with the most device time of requests, on all of its streams;
// PPI_NONE: none.
static uint32_t greatest_on_devices(const ppi_limit_search *search,
                                    double *out_ns) {
  const ppi_limit_model *model = search->model;
  uint32_t found = PPI_NONE;
  *out_ns = 0;
  for (size_t i = 0; i < model->num_stations; i++) {
    double ns = 0;
    if (!model->stations[i].num_stages) continue;
    for (size_t k = 0; k < model->num_stations; k++)
      if (model->stations[k].num_stages &&
          model->stations[k].stages[0].name ==
              model->stations[i].stages[0].name)
        ns += search->blame.device_ns[k];
    if (ns <= *out_ns) continue;
    *out_ns = ns;
    found = model->stations[i].stages[0].name;
  }
  return found;
}

// The name with the most time of requests with nothing beside it, on threads, a
// device or elsewhere.
static part greatest_part(const ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const ppi_blame *blame = &search->blame;
  uint32_t own = ppi_limit_greatest(blame->alone_ns, model->num_names);
  uint32_t away = ppi_limit_greatest(blame->elsewhere_ns, model->num_names);
  double device_ns;
  uint32_t device = greatest_on_devices(search, &device_ns);
  uint32_t edge = ppi_limit_greatest(blame->edge_ns, model->num_names);
  part out = {.name = ""};
  if (own != PPI_NONE) {
    uint32_t longest = ppi_limit_greatest(blame->own_ns, model->num_names);
    double most_ns = blame->own_ns[longest];
    out = (part){model->names[own].text, blame->alone_ns[own], false,
                 blame->alone_ns[own] < 0.95 * most_ns};
  }
  if (away != PPI_NONE && blame->elsewhere_ns[away] > out.ns)
    out =
        (part){model->names[away].text, blame->elsewhere_ns[away], true, false};
  if (edge != PPI_NONE && blame->edge_ns[edge] > out.ns)
    out = (part){model->names[edge].text, blame->edge_ns[edge], false, false};
  if (device != PPI_NONE && device_ns > out.ns)
    out = (part){model->names[device].text, device_ns, false, false};
  return out;
}

static const char *beside_of(const part *of) {
  return of->has_beside ? " that nothing runs beside" : "";
}

// A range that few requests are in at a time, and that is handed on late;
// PPI_NONE: none.
static uint32_t crowded_range(const ppi_limit_model *model) {
  const double least = 0.7;
  uint32_t found = PPI_NONE;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (station->kind == PPI_STATION_ONE_AT_A_TIME && station->use >= least &&
        station->num_stages &&
        (found == PPI_NONE || station->use > model->stations[found].use))
      found = (uint32_t)i;
  }
  return found;
}

// The time in which a batch fills, or else threads are idle, before the stage
// with most of that time.
static double greatest_idle(const ppi_limit_search *search, uint32_t *out) {
  const ppi_blame *blame = &search->blame;
  size_t names = search->model->num_names;
  uint32_t idle = ppi_limit_greatest(blame->idle_ns, names);
  uint32_t batch = ppi_limit_greatest(blame->batch_ns, names);
  double idle_ns = idle == PPI_NONE ? 0 : blame->idle_ns[idle];
  double batch_ns = batch == PPI_NONE ? 0 : blame->batch_ns[batch];
  if (out) *out = batch_ns >= idle_ns ? batch : idle;
  return PPI_MAX(batch_ns, idle_ns);
}

bool ppi_limit_too_few(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const ppi_blame *blame = &search->blame;
  uint32_t at;
  double use = greatest_use(model, &at);
  if (!search->is_closed || search->full_part < 0.6 || !blame->num_units)
    return false;
  part most = greatest_part(search);
  if (most.ns <= 0 || greatest_idle(search, NULL) > most.ns) return false;
  // Threads that wait for a processor do so between their calls, too.
  bool is_taken = use >= 0.8 && model->queued >= 0.2;
  uint32_t crowded = is_taken ? at : crowded_range(model);
  if (crowded != PPI_NONE) {
    ppi_limit_say(search, crowded);
    return true;
  }
  double units = (double)blame->num_units;
  ppi_limit *out =
      ppi_limit_begin(search, PPI_CLAIM_PART, "concurrency", use, most.name);
  out->demand_ns = most.ns / units;
  char busy[80] = "";
  if (at != PPI_NONE)
    PPI_SAY(busy, ", and no thread or device is busy for more than %s",
            ppi_words_percent(use, 1).text);
  PPI_SAY(out->sentence,
          "Never more than %.0f request%s in flight%s. %s has the most of each "
          "request%s: %s of %s.",
          search->under_way, search->under_way > 1 ? "s are" : " is", busy,
          ppi_words_name(most.name).text, beside_of(&most),
          ppi_words_time(most.ns / units).text,
          ppi_words_time(blame->latency_ns / units).text);
  PPI_SAY(out->next,
          "find the bound (client, pool, semaphore), and raise it%s.",
          most.is_elsewhere ? ", if the server behind it can take more" : "");
  return true;
}

// ---- a slow replica ----

typedef struct row_times {
  uint64_t quarter_ns, median_ns, upper_ns;
  size_t num;
} row_times;

static row_times times_of(const ppi_limit_model *model, uint32_t row,
                          uint32_t name, uint64_t *room) {
  const ppi_limit_row *of = &model->rows[row];
  size_t num = 0;
  for (size_t i = 0; i < of->num_outer; i++) {
    const ppi_limit_call *call = &model->calls[of->outer[i]];
    if (call->name == name) room[num++] = call->end_ns - call->start_ns;
  }
  ppi_sort_numbers(room, num);
  return (row_times){ppi_quantile_of(room, num, 0.25),
                     ppi_quantile_of(room, num, 0.5),
                     ppi_quantile_of(room, num, 0.75), num};
}

static bool is_slow(const row_times *all, size_t num, size_t at) {
  uint64_t others_ns = 0, upper_ns = 0;
  for (size_t i = 0; i < num; i++) {
    if (all[i].num < 12) return false;
    if (i == at) continue;
    others_ns = PPI_MAX(others_ns, all[i].median_ns);
    upper_ns = PPI_MAX(upper_ns, all[i].upper_ns);
  }
  return others_ns && all[at].median_ns >= 2 * others_ns &&
         all[at].quarter_ns > upper_ns;
}

static uint64_t others_median(const row_times *all, size_t num, size_t at) {
  uint64_t ns = 0;
  for (size_t i = 0; i < num; i++)
    if (i != at) ns = PPI_MAX(ns, all[i].median_ns);
  return ns;
}

static bool say_replica(ppi_limit_search *search, const ppi_station *station,
                        const row_times *times, size_t at) {
  const ppi_limit_model *model = search->model;
  const char *stage = model->names[station->stages[0].name].text;
  const char *row = model->rows[station->rows[at]].name;
  ppi_limit *out =
      ppi_limit_begin(search, PPI_CLAIM_PART, "replica", station->use, stage);
  ppi_limit_add_name(out, row);
  PPI_SAY(
      out->sentence, "%s is slow: %s takes %s a call there, %s elsewhere.",
      ppi_words_name(*row ? row : stage).text, ppi_words_name(stage).text,
      ppi_words_time((double)times[at].median_ns).text,
      ppi_words_time((double)others_median(times, station->num_rows, at)).text);
  PPI_SAY(out->next, "find out what differs there, or take it out.");
  return true;
}

bool ppi_limit_replica(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const ppi_blame *blame = &search->blame;
  uint64_t *room = ppi_alloc((model->num_calls + 1) * sizeof *room);
  row_times *times = ppi_alloc((model->num_rows + 1) * sizeof *times);
  bool found = false;
  search->failed |= !room || !times;
  for (size_t i = 0; i < model->num_stations && room && times && !found; i++) {
    const ppi_station *station = &model->stations[i];
    if (station->kind != PPI_STATION_THREADS || station->num_rows < 2 ||
        !station->is_relevant || !station->num_stages)
      continue;
    uint32_t name = station->stages[0].name;
    if (blame->own_ns[name] + blame->line_ns[i] < 0.2 * blame->latency_ns)
      continue;
    for (size_t k = 0; k < station->num_rows; k++)
      times[k] = times_of(model, station->rows[k], name, room);
    for (size_t k = 0; k < station->num_rows && !found; k++)
      found = is_slow(times, station->num_rows, k) &&
              say_replica(search, station, times, k);
  }
  ppi_free(room);
  ppi_free(times);
  return found;
}

// ---- idle before a stage ----

// Whether the idle times before the stage have about one length, as from a
// timer.
static bool is_timer(const ppi_blame *blame, uint32_t name, uint64_t *out_low,
                     uint64_t *out_high) {
  uint64_t *values = ppi_alloc((blame->num_idles + 1) * sizeof *values);
  size_t num = 0;
  if (!values) return false;
  for (size_t i = 0; i < blame->num_idles; i++)
    if (blame->idles[i].name == name) values[num++] = blame->idles[i].ns;
  ppi_sort_numbers(values, num);
  *out_low = ppi_quantile_of(values, num, 0.1);
  *out_high = ppi_quantile_of(values, num, 0.9);
  ppi_free(values);
  return num >= 5 && 10 * *out_high <= 13 * *out_low;
}

static void say_batch(ppi_limit_search *search, uint32_t name) {
  const ppi_blame *blame = &search->blame;
  ppi_words text = ppi_words_name(search->model->names[name].text);
  double units = (double)blame->num_units, ns = blame->batch_ns[name];
  search->out->verdict = "batch timer";
  PPI_SAY(
      search->out->sentence,
      "Each request waits %s of %s (%s) for the thread of %s to fill a batch.",
      ppi_words_time(ns / units).text,
      ppi_words_time(blame->latency_ns / units).text,
      ppi_words_percent(ns, blame->latency_ns).text, text.text);
  PPI_SAY(search->out->next, "set a shorter timer for batches of %s.",
          text.text);
}

static void say_idle(ppi_limit_search *search, uint32_t name) {
  const ppi_blame *blame = &search->blame;
  ppi_words text = ppi_words_name(search->model->names[name].text);
  double units = (double)blame->num_units, ns = blame->idle_ns[name];
  uint64_t low_ns, high_ns;
  bool times = is_timer(blame, name, &low_ns, &high_ns);
  char why[96] = "something that is not recorded";
  if (times)
    PPI_SAY(why, "always %s to %s, like a timer",
            ppi_words_time((double)low_ns).text,
            ppi_words_time((double)high_ns).text);
  search->out->verdict = times ? "timer" : "idle";
  PPI_SAY(search->out->sentence,
          "%s of %s a request (%s) pass before %s while its thread is idle: "
          "%s.",
          ppi_words_time(ns / units).text,
          ppi_words_time(blame->latency_ns / units).text,
          ppi_words_percent(ns, blame->latency_ns).text, text.text, why);
  PPI_SAY(search->out->next, "mark or record what %s waits for.", text.text);
}

bool ppi_limit_idle(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const ppi_blame *blame = &search->blame;
  uint32_t at;
  double ns = greatest_idle(search, &at);
  if (ns < 0.25 * blame->latency_ns || ns < greatest_part(search).ns ||
      !blame->num_units)
    return false;
  search->out->claim = PPI_CLAIM_UNRECORDED;
  if (blame->batch_ns[at] >= ns)
    say_batch(search, at);
  else
    say_idle(search, at);
  ppi_limit_add_name(search->out, model->names[at].text);
  return true;
}

// ---- none of these ----

bool ppi_limit_keeps_up(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const ppi_blame *blame = &search->blame;
  if (model->unit_kind != PPI_UNIT_REQUEST || !blame->num_units) return false;
  uint32_t at;
  double use = greatest_use(model, &at), waits_ns = 0;
  double units = (double)blame->num_units;
  part most = greatest_part(search);
  if (most.ns <= 0) return false;
  for (size_t i = 0; i < model->num_stations; i++)
    waits_ns += blame->line_ns[i];
  for (size_t i = 0; i < model->num_names; i++) waits_ns += blame->batch_ns[i];
  bool keeps_up = waits_ns < 0.2 * blame->latency_ns;
  ppi_limit *out =
      ppi_limit_begin(search, keeps_up ? PPI_CLAIM_KEEPS_UP : PPI_CLAIM_PART,
                      keeps_up ? "keeps up" : "latency", use, most.name);
  out->demand_ns = most.ns / units;
  const char *busiest =
      at == PPI_NONE ? most.name
                     : ppi_limit_station_stage(model, &model->stations[at]);
  char busy[160] = "";
  if (at != PPI_NONE)
    PPI_SAY(busy, "no stage is busy for more than %s (%s), ",
            ppi_words_percent(use, 1).text, ppi_words_name(busiest).text);
  PPI_SAY(out->sentence,
          "%s%srequests wait %s of their time; arrivals set the rate. Of %s %s "
          "has the most%s: %s.",
          keeps_up ? "Keeps up: " : "Latency, not rate: ", busy,
          ppi_words_percent(waits_ns, blame->latency_ns).text,
          ppi_words_time(blame->latency_ns / units).text,
          ppi_words_name(most.name).text, beside_of(&most),
          ppi_words_time(most.ns / units).text);
  PPI_SAY(out->next, "nothing for the rate; for the latency make %s shorter%s.",
          ppi_words_name(most.name).text,
          keeps_up ? "" : ", or give it more threads");
  return true;
}
