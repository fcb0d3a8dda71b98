// SPDX-License-Identifier: Apache-2.0
//
// Rules for requests that stand in line though nothing is saturated.
#include "report/limit/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "base/sort.h"
#include "report/findings/words.h"
#include "report/limit/find.h"
#include "report/limit/say.h"

// ---- a replay ----

// Replays one station, first come, first served, with the recorded arrivals
// (Lindley 1952; Kiefer, Wolfowitz 1955), to find what causes its waiting.

typedef struct replay_job {
  uint64_t arrival_ns, start_ns, service_ns;
  uint32_t name, row;
} replay_job;

typedef struct ppi_replay {
  replay_job *jobs;  // by arrival
  size_t num, capacity;
  uint32_t servers;
  uint64_t *free_ns;  // by server
} ppi_replay;

// Consecutive calls of a request on one row of the station are one job.
static bool add_unit(const ppi_limit_model *model, const ppi_limit_unit *unit,
                     uint32_t station, ppi_replay *to) {
  uint64_t ready_ns = unit->start_ns, around_ns = unit->start_ns;
  bool goes_on = false;
  for (size_t i = 0; i < unit->num; i++) {
    const ppi_limit_call *call =
        &model->calls[model->unit_calls[unit->first + i]];
    if (call->flags & (PPI_CALL_DEVICE | PPI_CALL_LOOSE)) continue;
    bool is_here = model->rows[call->row].station == station;
    uint64_t length_ns = call->end_ns - call->start_ns;
    replay_job *last = to->num ? &to->jobs[to->num - 1] : NULL;
    if (is_here && goes_on && last->row == call->row) {
      last->service_ns = call->end_ns - last->start_ns;
    } else if (is_here) {
      // A call inside a call that waits for it arrives with the outer one.
      const replay_job job = {ready_ns <= call->start_ns ? ready_ns : around_ns,
                              call->start_ns, length_ns, call->name, call->row};
      if (!PPI_PUSH(to->jobs, to->num, to->capacity, job)) return false;
    }
    goes_on = is_here;
    if (call->end_ns > ready_ns) around_ns = call->start_ns;
    ready_ns = PPI_MAX(ready_ns, call->end_ns);
  }
  return true;
}

PPI_ORDER(compare_jobs, replay_job, PPI_UP(arrival_ns) PPI_UP(start_ns))

static bool replay_prepare(const ppi_limit_model *model, uint32_t station,
                           ppi_replay *out) {
  *out = (ppi_replay){.servers = model->stations[station].servers};
  out->free_ns = ppi_alloc((out->servers + 1) * sizeof *out->free_ns);
  if (!out->free_ns) return false;
  for (size_t i = 0; i < model->num_units; i++)
    if (!add_unit(model, &model->units[i], station, out)) return false;
  if (out->num > 1) qsort(out->jobs, out->num, sizeof *out->jobs, compare_jobs);
  return true;
}

static double replay_run(const ppi_replay *replay,
                         uint64_t (*service)(const void *context, size_t job),
                         const void *context) {
  double waits_ns = 0;
  for (size_t i = 0; i < replay->servers; i++) replay->free_ns[i] = 0;
  for (size_t i = 0; i < replay->num; i++) {
    uint64_t arrival_ns = replay->jobs[i].arrival_ns;
    size_t first = 0;
    for (size_t k = 1; k < replay->servers; k++)
      if (replay->free_ns[k] < replay->free_ns[first]) first = k;
    uint64_t start_ns = PPI_MAX(arrival_ns, replay->free_ns[first]);
    waits_ns += (double)(start_ns - arrival_ns);
    replay->free_ns[first] = start_ns + service(context, i);
  }
  return waits_ns;
}

static double replay_waited(const ppi_replay *replay) {
  double waits_ns = 0;
  for (size_t i = 0; i < replay->num; i++)
    waits_ns += (double)(replay->jobs[i].start_ns - replay->jobs[i].arrival_ns);
  return waits_ns;
}

static void replay_clear(ppi_replay *replay) {
  ppi_free(replay->jobs);
  ppi_free(replay->free_ns);
}

// ---- the cause of waiting ----

// The same replay with some calls shorter.
typedef struct what_if {
  const ppi_replay *replay;
  uint64_t *services;  // of each job
  uint64_t median_ns;
} what_if;

static uint64_t service_of(const void *context, size_t job) {
  return ((const what_if *)context)->services[job];
}

static void restore(what_if *with) {
  for (size_t i = 0; i < with->replay->num; i++)
    with->services[i] = with->replay->jobs[i].service_ns;
}

static uint64_t median_of(const what_if *with, size_t from, size_t to) {
  size_t num = to - from;
  uint64_t *values = ppi_alloc((num + 1) * sizeof *values), median_ns;
  if (!values) return 0;
  for (size_t i = 0; i < num; i++)
    values[i] = with->replay->jobs[from + i].service_ns;
  ppi_sort_numbers(values, num);
  median_ns = ppi_quantile_of(values, num, 0.5);
  ppi_free(values);
  return median_ns;
}

// First calls of each row that took as long as ten usual ones.
static uint64_t cap_cold(what_if *with, const ppi_limit_model *model,
                         uint32_t *out_name) {
  uint8_t *seen = ppi_alloc(model->num_rows + 1);
  uint64_t most_ns = 0;
  for (size_t i = 0; seen && i < with->replay->num; i++) {
    const replay_job *job = &with->replay->jobs[i];
    bool is_first = !seen[job->row];
    seen[job->row] = 1;
    if (!is_first || job->service_ns < 10 * with->median_ns) continue;
    with->services[i] = with->median_ns;
    if (job->service_ns > most_ns) *out_name = job->name;
    most_ns = PPI_MAX(most_ns, job->service_ns);
  }
  ppi_free(seen);
  return most_ns;
}

static void cap_drift(what_if *with) {
  uint64_t first_calls_ns = median_of(with, 0, with->replay->num / 5);
  for (size_t i = 0; i < with->replay->num; i++)
    with->services[i] =
        PPI_MIN(with->replay->jobs[i].service_ns, first_calls_ns * 13 / 10);
}

static size_t cap_long(what_if *with) {
  size_t num = 0;
  for (size_t i = 0; i < with->replay->num; i++) {
    if (with->services[i] <= 4 * with->median_ns) continue;
    with->services[i] = with->median_ns;
    num++;
  }
  return num;
}

// ---- verdicts ----

static void start_saying(ppi_limit_search *search, uint32_t at,
                         const char *verdict) {
  const ppi_station *station = &search->model->stations[at];
  ppi_limit_begin(search, PPI_CLAIM_LIMIT, verdict, station->use,
                  ppi_limit_station_stage(search->model, station));
}

static void say_cold(ppi_limit_search *search, uint32_t at, uint32_t name,
                     uint64_t cold_ns, const what_if *with, double part) {
  ppi_limit *out = search->out;
  ppi_words text = ppi_words_name(search->model->names[name].text);
  start_saying(search, at, "cold");
  PPI_SAY(out->sentence,
          "The first call of %s took %s, %s usual ones; requests behind it "
          "waited: %s of all waiting.",
          text.text, ppi_words_time((double)cold_ns).text,
          ppi_words_number((double)cold_ns / (double)with->median_ns).text,
          ppi_words_percent(part, 1).text);
  PPI_SAY(out->next, "load %s and warm it up before the first request.",
          text.text);
}

static void say_slower(ppi_limit_search *search, uint32_t at, double first_ns,
                       double last_ns) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  const ppi_station *station = &model->stations[at];
  ppi_words text = ppi_words_name(ppi_limit_station_stage(model, station));
  start_saying(search, at, "drift");
  PPI_SAY(out->sentence,
          "%s gets slower: %s a call at first, %s at the end. Its %s %s busy "
          "%s on average.",
          text.text, ppi_words_time(first_ns).text,
          ppi_words_time(last_ns).text,
          station->servers == 1 ? "thread" : "threads",
          station->servers == 1 ? "is" : "are",
          ppi_words_percent(station->use, 1).text);
  PPI_SAY(out->next, "find out what grows in %s.", text.text);
}

static void say_long(ppi_limit_search *search, uint32_t at, size_t num,
                     const what_if *with, double part) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  ppi_words text =
      ppi_words_name(ppi_limit_station_stage(model, &model->stations[at]));
  start_saying(search, at, "long calls");
  PPI_SAY(out->sentence,
          "%zu of %zu calls of %s, over %s (usually %s), keep the others "
          "waiting: %s of all waiting for it.",
          num, with->replay->num, text.text,
          ppi_words_time(4.0 * (double)with->median_ns).text,
          ppi_words_time((double)with->median_ns).text,
          ppi_words_percent(part, 1).text);
  PPI_SAY(out->next,
          "find out what these calls share, or give them a thread of their "
          "own.");
}

// A single call does not show whether it worked.
static void say_one_long(ppi_limit_search *search, uint32_t at,
                         const what_if *with, double part) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  ppi_words text =
      ppi_words_name(ppi_limit_station_stage(model, &model->stations[at]));
  uint64_t longest_ns = 0;
  for (size_t i = 0; i < with->replay->num; i++)
    longest_ns = PPI_MAX(longest_ns, with->replay->jobs[i].service_ns);
  start_saying(search, at, "long calls");
  out->claim = PPI_CLAIM_UNRECORDED;
  PPI_SAY(out->sentence,
          "One call of %s took %s (usually %s), and requests behind it waited: "
          "%s of all waiting. Whether it worked or the program was stopped is "
          "not recorded.",
          text.text, ppi_words_time((double)longest_ns).text,
          ppi_words_time((double)with->median_ns).text,
          ppi_words_percent(part, 1).text);
  PPI_SAY(out->next, "record CPU use: it shows whether the call worked.");
}

static double all_lines(const ppi_limit_search *search) {
  double ns = 0;
  for (size_t i = 0; i < search->model->num_stations; i++)
    ns += search->blame.line_ns[i];
  return ns;
}

// The time that all requests save if a station's greatest stage takes half:
// half of the stage's own time, and the part of the lines that a less busy
// server removes. The busiest server drains a burst last, wherever requests
// wait.
static double saved_ns(const ppi_limit_search *search, size_t at) {
  const ppi_limit_model *model = search->model;
  const ppi_blame *blame = &search->blame;
  const ppi_limit_stage *stage = &model->stations[at].stages[0];
  uint32_t next;
  double gain = ppi_limit_gain(model, (uint32_t)at, &next);
  double own_ns = blame->alone_ns[stage->name] + blame->device_ns[at];
  // Blame of a stage inside another range has the outer range's name.
  if (blame->own_ns[stage->name] <= 0 && blame->device_ns[at] <= 0)
    own_ns = (double)stage->working_ns * (double)blame->num_units /
             (double)PPI_MAX(model->num_counted, 1);
  return own_ns / 2 + all_lines(search) * gain / (1 + gain);
}

static void say_line(ppi_limit_search *search, uint32_t at) {
  const ppi_limit_model *model = search->model;
  const ppi_blame *blame = &search->blame;
  ppi_limit *out = search->out;
  double units = (double)blame->num_units, line_ns = all_lines(search);
  double use = 0;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (!station->is_relevant || !station->num_stages) continue;
    use = PPI_MAX(use, ppi_limit_turn_use(model, i));
    if (saved_ns(search, i) > saved_ns(search, at)) at = (uint32_t)i;
  }
  const ppi_station *station = &model->stations[at];
  ppi_words stage = ppi_words_name(ppi_limit_station_stage(model, station));
  start_saying(search, at, "bursts");
  if (station->kind == PPI_STATION_DEVICE)
    ppi_limit_add_name(out, ppi_station_name(model, station));
  PPI_SAY(out->sentence,
          "Requests stand in line %s of %s (%s): they come unevenly, as no "
          "stage is busy for more than %s. Less of %s saves the most.",
          ppi_words_time(line_ns / units).text,
          ppi_words_time(blame->latency_ns / units).text,
          ppi_words_percent(line_ns, blame->latency_ns).text,
          ppi_words_percent(PPI_MIN(use, 1.0), 1).text, stage.text);
  PPI_SAY(
      out->next, "smoother arrivals, or make %s shorter%s.", stage.text,
      station->kind == PPI_STATION_THREADS ? " or give it more threads" : "");
}

static bool say_why(ppi_limit_search *search, uint32_t at, what_if *with) {
  const ppi_replay *replay = with->replay;
  restore(with);
  double was_ns = replay_waited(replay);
  double all_ns = replay_run(replay, service_of, with);
  uint32_t name = PPI_NONE;
  if (all_ns <= 0 || all_ns < 0.5 * was_ns || all_ns > 2 * was_ns) return false;
  uint64_t cold_ns = cap_cold(with, search->model, &name);
  double less = 1 - replay_run(replay, service_of, with) / all_ns;
  if (name != PPI_NONE && less >= 0.6) {
    say_cold(search, at, name, cold_ns, with, less);
    return true;
  }
  cap_drift(with);
  less = 1 - replay_run(replay, service_of, with) / all_ns;
  double first_ns = (double)median_of(with, 0, replay->num / 5);
  double last_ns =
      (double)median_of(with, replay->num - replay->num / 5, replay->num);
  if (less >= 0.5 && last_ns >= 1.3 * first_ns) {
    say_slower(search, at, first_ns, last_ns);
    return true;
  }
  restore(with);
  size_t num = cap_long(with);
  less = 1 - replay_run(replay, service_of, with) / all_ns;
  if (less < 0.6 || 100 * num > 15 * replay->num) return false;
  if (num == 1)
    say_one_long(search, at, with, less);
  else
    say_long(search, at, num, with, less);
  return true;
}

bool ppi_limit_in_line(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  const ppi_blame *blame = &search->blame;
  uint32_t at = ppi_limit_greatest(blame->line_ns, model->num_stations);
  if (at == PPI_NONE || !model->stations[at].num_stages ||
      all_lines(search) < 0.2 * blame->latency_ns)
    return false;
  ppi_replay replay;
  what_if with = {.replay = &replay};
  bool is_done = replay_prepare(model, at, &replay);
  with.services = ppi_alloc((replay.num + 1) * sizeof *with.services);
  is_done = is_done && with.services;
  search->failed |= !is_done;
  if (is_done) {
    with.median_ns = PPI_MAX(median_of(&with, 0, replay.num), 1);
    if (replay.num < 20 || !say_why(search, at, &with)) say_line(search, at);
  }
  replay_clear(&replay);
  ppi_free(with.services);
  return is_done;
}

// ---- a stage that gets slower ----

// Medians by fifths of a stage's calls; false: too few.
static bool medians_by_fifth(const ppi_limit_model *model, uint32_t name,
                             double *out) {
  enum { FIFTHS = 5 };
  const ppi_limit_name *of = &model->names[name];
  uint64_t *values = ppi_alloc((of->num + 1) * sizeof *values);
  if (!values || of->num < 50) {
    ppi_free(values);
    return false;
  }
  for (size_t s = 0; s < FIFTHS; s++) {
    size_t from = of->num * s / FIFTHS, to = of->num * (s + 1) / FIFTHS;
    for (size_t i = from; i < to; i++) {
      const ppi_limit_call *call = &model->calls[model->by_name[of->first + i]];
      values[i - from] = call->end_ns - call->start_ns;
    }
    ppi_sort_numbers(values, to - from);
    out[s] = (double)ppi_quantile_of(values, to - from, 0.5);
  }
  ppi_free(values);
  return true;
}

// How busy the station is in the last eighth of the window.
static double late_use(const ppi_limit_model *model,
                       const ppi_station *station) {
  uint64_t from_ns = model->to_ns - (model->to_ns - model->from_ns) / 8;
  uint64_t all_ns = ppi_model_within(model, from_ns, model->to_ns), ns = 0;
  for (size_t i = 0; i < station->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[station->rows[i]];
    for (size_t k = 0; k < row->num_outer; k++) {
      const ppi_limit_call *call = &model->calls[row->outer[k]];
      if (call->end_ns > from_ns)
        ns += ppi_model_within(model, PPI_MAX(call->start_ns, from_ns),
                               call->end_ns);
    }
  }
  return all_ns ? (double)ns / ((double)all_ns * (double)station->servers) : 0;
}

bool ppi_limit_slower(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    double medians[5];
    if (!station->is_relevant || !station->num_stages ||
        ppi_name_mostly_waits(&model->names[station->stages[0].name]) ||
        !medians_by_fifth(model, station->stages[0].name, medians))
      continue;
    bool rises = medians[4] >= 1.6 * medians[0];
    for (size_t k = 1; k < 5; k++) rises &= medians[k] >= 0.93 * medians[k - 1];
    if (!rises || late_use(model, station) < 0.8) continue;
    say_slower(search, (uint32_t)i, medians[0], medians[4]);
    return true;
  }
  return false;
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
