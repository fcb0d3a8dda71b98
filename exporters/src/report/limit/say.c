// SPDX-License-Identifier: Apache-2.0
//
// Writes words that several rules need, and the sentence about a server that is
// the limit.
#include "report/limit/say.h"

#include <string.h>

#include "base/base.h"
#include "report/findings/words.h"
#include "report/limit/find.h"
#include "report/limit/rules.h"

void ppi_limit_add_name(ppi_limit *out, const char *name) {
  if (out->num_names == PPI_LIMIT_NAMES || !*name) return;
  for (size_t i = 0; i < out->num_names; i++)
    if (strcmp(out->names[i], name) == 0) return;
  PPI_SAY(out->names[out->num_names], "%s", name);
  out->num_names++;
}

ppi_limit *ppi_limit_begin(ppi_limit_search *search, ppi_limit_claim claim,
                           const char *verdict, double utilization,
                           const char *name) {
  ppi_limit *out = search->out;
  out->claim = claim;
  out->verdict = verdict;
  out->utilization = utilization;
  ppi_limit_add_name(out, name);
  return out;
}

const char *ppi_limit_unit_name(const ppi_limit_model *model) {
  static const char *const names[] = {[PPI_UNIT_NONE] = "run",
                                      [PPI_UNIT_REQUEST] = "request",
                                      [PPI_UNIT_STEP] = "step",
                                      [PPI_UNIT_ITERATION] = "iteration"};
  return names[model->unit_kind];
}

const char *ppi_limit_a_unit(const ppi_limit_model *model) {
  static const char *const names[] = {[PPI_UNIT_NONE] = "a run",
                                      [PPI_UNIT_REQUEST] = "a request",
                                      [PPI_UNIT_STEP] = "a step",
                                      [PPI_UNIT_ITERATION] = "an iteration"};
  return names[model->unit_kind];
}

// Whether few rounds have calls of the name.
static bool is_rare(const ppi_limit_model *model, uint32_t name) {
  bool is_round = model->unit_kind == PPI_UNIT_STEP ||
                  model->unit_kind == PPI_UNIT_ITERATION;
  return is_round && 2 * model->names[name].num <= model->num_units;
}

void ppi_limit_advise(ppi_limit_search *search, uint32_t name,
                      const char *else_do) {
  const ppi_limit_model *model = search->model;
  ppi_words text = ppi_words_name(model->names[name].text);
  if (is_rare(model, name))
    PPI_SAY(search->out->next,
            "do %s less often, or beside the %ss: in another thread or "
            "process.",
            text.text, ppi_limit_unit_name(model));
  else
    PPI_SAY(search->out->next, "make %s cheaper, or %s.", text.text, else_do);
}

// ---- a server that is the limit ----

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
  // Threads work in it, too.
  bool is_place =
      search->model->stations[station].kind == PPI_STATION_ONE_AT_A_TIME;
  PPI_SAY(known, "%s", stage);
  for (size_t i = 0; i < PPI_LIMIT_DEMANDS; i++) {
    const ppi_limit_demand *demand = &out->demands[i];
    bool is_it = i < out->num_demands &&
                 (demand->server == server ||
                  (is_place &&
                   out->servers[demand->server].kind != PPI_SERVER_DEVICE)) &&
                 strcmp(demand->name, known) == 0;
    factors[i] = is_it ? 0.5 : 1;
  }
  // Half of one stage brings no more than half of everything: twice the rate.
  out->bound = PPI_MIN(ppi_limit_bound(out, factors, &next), 1.0);
  name_next(search, stage, server, next);
  ppi_words name = ppi_words_name(stage);
  ppi_words gain = ppi_words_percent(out->bound, 1);
  if (*out->next_limit)
    ppi_words_put(to, size,
                  next == server
                      ? "Halving %s raises the rate by at most %s; %s stays "
                        "the limit."
                      : "Halving %s raises the rate by at most %s; then %s "
                        "limits.",
                  name.text, gain.text, ppi_words_name(out->next_limit).text);
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
  *to = 0;
  for (size_t i = 0; i < station->num_stages && i < MOST; i++) {
    if (i && 50 * station->stages[i].working_ns < station->working_ns) break;
    ppi_words_add(
        to, size, "%s%s", i ? ", " : "",
        ppi_words_name(model->names[station->stages[i].name].text).text);
  }
}

// The part of its rows' work that is on a processor.
static double computing(const ppi_limit_model *model,
                        const ppi_station *station) {
  double ns = 0;
  for (size_t i = 0; i < station->num_rows; i++)
    ns += (double)model->rows[station->rows[i]].cpu_ns;
  return PPI_MIN(ns / (double)PPI_MAX(station->working_ns, 1), 1.0);
}

// Whether tasks wait for the station's only thread at their ends.
static bool is_event_loop(const ppi_limit_model *model,
                          const ppi_station *station) {
  for (size_t i = 0; i < model->num_calls && station->num_rows == 1; i++) {
    const ppi_limit_call *call = &model->calls[i];
    const ppi_interval *wait = &model->waits[i];
    if (call->row == station->rows[0] && call->flags & PPI_CALL_LOOSE &&
        wait->from_ns < wait->to_ns && wait->to_ns == call->end_ns)
      return true;
  }
  return false;
}

// The advice for threads that always serve `name`.
static void put_threads_next(ppi_limit_search *search,
                             const ppi_station *station, uint32_t name) {
  const ppi_limit_model *model = search->model;
  ppi_words text = ppi_words_name(model->names[name].text);
  const double least_computing = 0.1, most_queued = 0.2;
  const char by_hook[] = "loop: ";  // what holds the thread of an event loop
  ppi_limit *out = search->out;
  if (is_event_loop(model, station) ||
      strncmp(model->names[name].text, by_hook, sizeof by_hook - 1) == 0)
    PPI_SAY(out->next,
            "make %s cheaper, or run it beside the event loop: "
            "`asyncio.to_thread(...)`, or in a process of its own.",
            text.text);
  else if (model->names[name].category == PPROF_CATEGORY_DATALOADER)
    PPI_SAY(out->next,
            "read ahead, with more workers for %s (threads or processes), or "
            "make it cheaper.",
            text.text);
  else if (!is_rare(model, name) && model->cpu >= 0 &&
           model->queued < most_queued &&
           computing(model, station) < least_computing)
    PPI_SAY(out->next,
            "find out what %s waits for (a disk, a timer, a lock, another "
            "thread or process); faster code brings little.",
            text.text);
  else
    ppi_limit_advise(search, name, "give it more threads");
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
  if (model->cpu >= 0)
    PPI_ADD(out->sentence, " Of the busy time %s is computing.",
            ppi_words_percent(computing(model, station), 1).text);
  put_threads_next(search, station, stage->name);
}

// The time between its stages, if that is more than its greatest stage.
static double time_between(const ppi_station *station) {
  double ns = (double)station->working_ns;
  for (size_t i = 0; i < station->num_stages; i++)
    ns -= (double)station->stages[i].working_ns;
  return ns > (double)station->stages[0].working_ns ? ns : 0;
}

// Threads of which a few work at a time, as under a lock around their ranges.
static void put_turns(ppi_limit_search *search, const ppi_station *station,
                      const char *bound) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  ppi_words name = ppi_words_name(ppi_limit_station_stage(model, station));
  double between_ns = time_between(station) / (double)model->num_counted;
  char stages[160];
  list_stages(model, station, stages, sizeof stages);
  PPI_SAY(out->sentence,
          "Only %u of the %zu threads of %s work%s at a time: busy %s. The "
          "greatest part %s%s, %s %s.%s%s",
          (unsigned)station->servers, station->num_rows, stages,
          station->servers == 1 ? "s" : "",
          ppi_words_percent(PPI_MIN(station->use, 1.0), 1).text,
          between_ns > 0 ? "lies between these stages" : "is ",
          between_ns > 0 ? "" : name.text,
          ppi_words_time(between_ns > 0 ? between_ns : out->demand_ns).text,
          ppi_limit_a_unit(model), between_ns > 0 ? "" : " ",
          between_ns > 0 ? "" : bound);
  const char *lock = model->are_linked ? "look at what they call"
                                       : "record waits, which show the lock";
  if (between_ns > 0) {
    out->claim = PPI_CLAIM_UNRECORDED;
    PPI_SAY(out->next, "mark what happens there, or let more threads in: %s.",
            lock);
    return;
  }
  PPI_SAY(out->next, "make %s cheaper, or let more threads in: %s.", name.text,
          lock);
}

// A thread with a queue of its own, while others that serve the same are free:
// most calls go there, or they take longer there.
static void put_hot(ppi_limit_search *search, const ppi_station *station,
                    const char *bound) {
  const ppi_limit_model *model = search->model;
  const ppi_station *others = &model->stations[station->beside];
  const ppi_limit_stage *stage = &station->stages[0];
  const ppi_limit_stage *same = ppi_station_stage(others, stage->name);
  ppi_words name = ppi_words_name(ppi_limit_station_stage(model, station));
  double more = (double)stage->calls * others->servers;
  double longer = (double)stage->working_ns;
  more /= (double)PPI_MAX(same->calls, 1);
  longer /= (double)PPI_MAX(same->working_ns, 1) * more / others->servers;
  char why[80] = "most of its calls go there";
  if (longer > more)
    PPI_SAY(why, "its calls take %s times as long there",
            ppi_words_number(longer).text);
  PPI_SAY(search->out->sentence,
          "%s on thread %s is the limit: busy %s, as %s. The %u other thread%s "
          "busy %s. %s",
          name.text, ppi_words_name(ppi_station_name(model, station)).text,
          ppi_words_percent(PPI_MIN(station->use, 1.0), 1).text, why,
          (unsigned)others->servers, others->servers == 1 ? " is" : "s are",
          ppi_words_percent(PPI_MIN(others->use, 1.0), 1).text, bound);
  if (longer > more)
    PPI_SAY(search->out->next,
            "find out what slows that thread, or let free threads take its "
            "calls.");
  else
    PPI_SAY(search->out->next,
            "spread the calls of %s evenly over its threads, or make it "
            "cheaper.",
            name.text);
}

// Whether most of a device's greatest stage copies.
static bool is_copying(const ppi_limit_model *model,
                       const ppi_station *station) {
  double copy_ns = 0, all_ns = 0;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!(call->flags & PPI_CALL_DEVICE) ||
        call->name != station->stages[0].name)
      continue;
    all_ns += (double)call->work_ns;
    if (call->flags & PPI_CALL_COPY) copy_ns += (double)call->work_ns;
  }
  return copy_ns > all_ns / 2;
}

static void put_device(ppi_limit_search *search, const ppi_station *station,
                       const char *bound) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  ppi_words name = ppi_words_name(ppi_limit_station_stage(model, station));
  PPI_SAY(out->sentence,
          "%s is the limit: busy %s. The greatest part is %s, %s %s. %s",
          ppi_words_name(ppi_station_name(model, station)).text,
          ppi_words_percent(PPI_MIN(station->use, 1.0), 1).text, name.text,
          ppi_words_time(out->demand_ns).text, ppi_limit_a_unit(model), bound);
  if (is_copying(search->model, station))
    PPI_SAY(out->next,
            "copy less in %s, or from pinned memory on a stream of its own, "
            "beside kernels.",
            name.text);
  else
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
  const char *stage = ppi_limit_station_stage(model, station);
  ppi_limit_begin(search, PPI_CLAIM_LIMIT, "limit", station->use, stage);
  out->demand_ns = unit_demand(model, &station->stages[0]);
  if (station->num_rows)
    ppi_limit_add_name(out, ppi_station_name(model, station));
  ppi_limit_put_bound(search, at, stage, bound, sizeof bound);
  if (station->beside != PPI_NONE)
    put_hot(search, station, bound);
  else if (station->servers < station->num_rows)
    put_turns(search, station, bound);
  else if (station->kind == PPI_STATION_THREADS)
    put_threads(search, station, bound);
  else if (station->kind == PPI_STATION_DEVICE)
    put_device(search, station, bound);
  else if (station->kind == PPI_STATION_ELSEWHERE)
    put_elsewhere(search, station, bound);
  else
    put_one_at_a_time(search, station, bound);
}
