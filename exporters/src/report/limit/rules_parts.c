// SPDX-License-Identifier: Apache-2.0
//
// Rules for steps and iterations in which nothing is saturated: the parts of a
// turn of the thread that goes round. Each wait counts under the stage it waits
// for.
#include "report/limit/rules.h"

#include "base/base.h"
#include "base/mem.h"
#include "report/findings/words.h"
#include "report/limit/find.h"
#include "report/limit/row_calls.h"
#include "report/limit/say.h"

typedef struct parts {
  double *own_ns;     // by name
  double *waits_ns;   // by name of the awaited stage
  double *device_ns;  // by name of the awaited device work
  double gap_ns, all_ns;
} parts;

static bool is_inner_wait(const ppi_limit_model *model, uint32_t at) {
  for (at = model->calls[at].parent; at != PPI_NO_CALL;
       at = model->calls[at].parent)
    if (model->waits[at].to_ns > model->waits[at].from_ns) return true;
  return false;
}

// A wait for a device counts under the device's work at that time, or under the
// stage around the wait.
static void add_device(const ppi_limit_model *model, size_t at, double ns,
                       uint32_t stage, parts *to) {
  const ppi_interval *wait = &model->waits[at];
  for (size_t i = 0; i < model->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[i];
    if (!row->is_device || !row->num_outer) continue;
    for (size_t k = ppi_row_place(model, row, wait->from_ns);
         k < row->num_outer && ns > 0; k++) {
      const ppi_limit_call *work = &model->calls[row->outer[k]];
      if (work->start_ns >= wait->to_ns) break;
      double part = (double)ppi_model_within(
          model, PPI_MAX(work->start_ns, wait->from_ns),
          PPI_MIN(work->end_ns, wait->to_ns));
      part = PPI_MIN(part, ns);
      to->device_ns[work->name] += part;
      ns -= part;
    }
  }
  to->device_ns[stage] += ns;
}

static void add_waits(const ppi_limit_model *model, const ppi_row_calls *of,
                      parts *to) {
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    const uint32_t others = PPI_CALL_DEVICE | PPI_CALL_LOOSE | PPI_CALL_STEP;
    if (call->flags & others || call->row != model->loop_thread) continue;
    if (is_inner_wait(model, (uint32_t)i)) continue;
    double ns = (double)ppi_model_within(model, model->waits[i].from_ns,
                                         model->waits[i].to_ns);
    const ppi_limit_name *name = &model->names[call->name];
    uint32_t stage = model->calls[ppi_model_outermost(model, (uint32_t)i)].name;
    if (call->flags & PPI_CALL_WAIT)
      ppi_row_calls_await(model, of, (uint32_t)i, ppi_row_calls_all,
                          to->waits_ns);
    else if (name->waits == PPI_WAITS_DEVICE)
      add_device(model, i, ns, stage, to);
    else if (name->category == PPROF_CATEGORY_IDLE)
      to->all_ns -= ns;  // not part of an iteration
    else if (name->waits == PPI_WAITS_THREAD)
      to->waits_ns[name->waits_for == PPI_NONE ? call->name
                                               : name->waits_for] += ns;
    else if (name->in_line_for != PPI_NONE)
      to->waits_ns[name->in_line_for] += ns;
  }
}

// A stage of another relevant thread that ends at the end of a gap; PPI_NONE:
// none.
static uint32_t ends_gap(const ppi_limit_model *model, uint64_t to_ns) {
  const uint64_t least_ns = 150000;
  for (size_t i = 0; i < model->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[i];
    uint64_t eps_ns = PPI_MIN(PPI_MAX(row->gap_eps_ns, least_ns), to_ns);
    uint32_t last;
    if (row->is_device || !row->is_relevant || i == model->loop_thread ||
        !row->num_outer)
      continue;
    bool is_taken = ppi_row_is_taken(model, row, to_ns - eps_ns, &last);
    if (is_taken && model->calls[last].end_ns <= to_ns)
      return model->calls[last].name;
  }
  return PPI_NONE;
}

// Recorded waits between two stages of the thread that goes round.
static uint64_t recorded_in(const ppi_limit_model *model, uint64_t from_ns,
                            uint64_t to_ns, size_t *at) {
  const ppi_limit_row *row = &model->rows[model->loop_thread];
  uint64_t ns = 0;
  for (; *at < row->num_between; ++*at) {
    const ppi_limit_call *wait = &model->calls[row->between[*at]];
    if (wait->start_ns >= to_ns) break;
    if (wait->end_ns > from_ns)
      ns += ppi_model_within(model, PPI_MAX(wait->start_ns, from_ns),
                             PPI_MIN(wait->end_ns, to_ns));
  }
  return ns;
}

// Lists calls on no thread that tasks of the looping thread await, by end.
static size_t list_awaited(const ppi_limit_model *model, ppi_keyed *out) {
  size_t num = 0;
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    const uint32_t kinds =
        PPI_CALL_LOOSE | PPI_CALL_STEP | PPI_CALL_REQUEST | PPI_CALL_DEVICE;
    if (call->row == model->loop_thread &&
        (call->flags & kinds) == PPI_CALL_LOOSE)
      out[num++] = (ppi_keyed){call->end_ns, i};
  }
  ppi_sort_keyed(out, num);
  return num;
}

static void add_calls(const ppi_limit_model *model, ppi_keyed *awaited,
                      parts *to) {
  const ppi_limit_row *row = &model->rows[model->loop_thread];
  size_t num = list_awaited(model, awaited), ended = 0;
  bool has_tasks = 2 * num >= model->num_units;  // an event loop's
  for (size_t i = 0; i < row->num_parts; i++)
    to->own_ns[model->calls[row->parts[i]].name] +=
        (double)model->working_ns[row->parts[i]];
  for (size_t i = 1, at = 0; i < row->num_outer; i++) {
    const ppi_limit_call *call = &model->calls[row->outer[i]];
    const ppi_limit_call *before = &model->calls[row->outer[i - 1]];
    uint64_t known_ns = recorded_in(model, before->end_ns, call->start_ns, &at);
    uint64_t gap_ns = ppi_model_within(model, before->end_ns, call->start_ns);
    double ns = (double)(gap_ns - PPI_MIN(known_ns, gap_ns));
    uint32_t by = ns > 0 ? ends_gap(model, call->start_ns) : PPI_NONE;
    while (ended < num && awaited[ended].key <= call->start_ns) ended++;
    if (by == PPI_NONE && ended && awaited[ended - 1].key > before->end_ns)
      by = model->calls[awaited[ended - 1].value].name;
    bool is_idle = has_tasks && (ended == num ||
                                 model->calls[awaited[ended].value].start_ns >=
                                     call->start_ns);
    if (by == PPI_NONE && is_idle)
      to->all_ns -= ns;  // no task awaits anything: there is none
    else if (by == PPI_NONE)
      to->gap_ns += ns;
    else
      to->waits_ns[by] += ns;
  }
}

static void put_devices(const ppi_limit_model *model, char *to, size_t size) {
  double use = 0;
  const char *name = NULL;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (station->kind != PPI_STATION_DEVICE || station->use < use) continue;
    use = station->use;
    name = ppi_station_name(model, station);
  }
  *to = 0;
  if (name)
    ppi_words_put(to, size, "; %s is busy %s, as nothing overlaps",
                  ppi_words_name(name).text, ppi_words_percent(use, 1).text);
}

// The station with most of a stage's work; PPI_NONE: none.
static uint32_t serves(const ppi_limit_model *model, uint32_t name) {
  uint32_t found = PPI_NONE;
  uint64_t most_ns = 0;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    for (size_t k = 0; k < station->num_stages && station->is_relevant; k++) {
      if (station->stages[k].name != name ||
          station->stages[k].working_ns <= most_ns)
        continue;
      most_ns = station->stages[k].working_ns;
      found = (uint32_t)i;
    }
  }
  return found;
}

// The work of devices for a stage.
static double worked_ns(const ppi_limit_model *model, uint32_t name) {
  double ns = 0;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    for (size_t k = 0; k < station->num_stages; k++)
      if (station->kind == PPI_STATION_DEVICE &&
          station->stages[k].name == name)
        ns += (double)station->stages[k].working_ns;
  }
  return ns;
}

static const char launching[] = ", launching and waiting for the device";

static void say_part(ppi_limit_search *search, uint32_t name, double ns,
                     const char *how, double all_ns) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  ppi_words text = ppi_words_name(model->names[name].text);
  double units = (double)PPI_MAX(model->num_counted, 1);
  char devices[160], bound[256] = "";
  uint32_t station = serves(model, name);
  put_devices(model, devices, sizeof devices);
  // Where launching is the limit, faster kernels bring little.
  if (station != PPI_NONE && how != launching)
    ppi_limit_put_bound(search, station, model->names[name].text, bound,
                        sizeof bound);
  ppi_limit_begin(search, PPI_CLAIM_PART, "nothing overlaps", 0,
                  model->names[name].text);
  out->demand_ns = ns / units;
  PPI_SAY(
      out->sentence, "%s is the greatest part of %s%s: %s of %s (%s)%s.%s%s",
      text.text, ppi_limit_a_unit(model), how, ppi_words_time(ns / units).text,
      ppi_words_time(all_ns / units).text, ppi_words_percent(ns, all_ns).text,
      devices, *bound ? " " : "", bound);
  ppi_limit_advise(search, name, "run it ahead in another thread");
}

void ppi_limit_say_gap(ppi_limit_search *search, double ns, double part,
                       const char *of, const char *between) {
  ppi_limit *out = ppi_limit_begin(search, PPI_CLAIM_UNRECORDED, "gap", 0, "");
  PPI_SAY(out->sentence,
          "%s of each %s (%s) lie between its %s, and nothing recorded "
          "explains it.",
          ppi_words_time(ns).text, of, ppi_words_percent(part, 1).text,
          between);
  PPI_SAY(out->next, "mark what happens there.");
}

// A recorded wait counts for itself if no range of another thread ends it.
static void say_wait(ppi_limit_search *search, uint32_t name, double ns,
                     double all_ns) {
  bool is_itself = search->model->names[name].category == PPROF_CATEGORY_WAIT;
  say_part(search, name, ns, is_itself ? "" : ", as its thread waits for it",
           all_ns);
  if (is_itself)
    PPI_SAY(search->out->next,
            "mark what ends it; if its time ends it, wait for less.");
}

// The time that the loop's thread takes memory of a device or gives it back,
// and the stage with most of it.
static double memory_ns(const ppi_limit_model *model, uint32_t *out_stage) {
  double *by_stage = ppi_alloc((model->num_names + 1) * sizeof *by_stage);
  double ns = 0;
  *out_stage = PPI_NONE;
  for (size_t i = 0; i < model->num_calls && by_stage; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (!call->memory_ns || !ppi_call_is_on_thread(call) ||
        call->row != model->loop_thread || !ppi_call_within(model, call))
      continue;
    by_stage[model->calls[ppi_model_outermost(model, (uint32_t)i)].name] +=
        call->memory_ns;
    ns += call->memory_ns;
  }
  if (by_stage) *out_stage = ppi_limit_greatest(by_stage, model->num_names);
  ppi_free(by_stage);
  return ns;
}

// Kept memory saves all of that time: more than half of the greatest part does.
static bool say_memory(ppi_limit_search *search, double most_ns,
                       double all_ns) {
  const double least = 0.15;
  const ppi_limit_model *model = search->model;
  double units = (double)model->num_counted;
  uint32_t stage;
  double ns = memory_ns(model, &stage);
  if (ns < least * all_ns || 2 * ns < most_ns || stage == PPI_NONE)
    return false;
  ppi_words text = ppi_words_name(model->names[stage].text);
  ppi_limit *out = ppi_limit_begin(search, PPI_CLAIM_PART, "device memory", 0,
                                   model->names[stage].text);
  out->demand_ns = ns / units;
  out->bound = ns / (all_ns - ns);
  PPI_SAY(out->sentence,
          "Taking memory of devices and giving it back takes %s of %s %s "
          "(%s), most of it in %s. Without, the rate rises by at most %s.",
          ppi_words_time(ns / units).text, ppi_words_time(all_ns / units).text,
          ppi_limit_a_unit(model), ppi_words_percent(ns, all_ns).text,
          text.text, ppi_words_percent(out->bound, 1).text);
  PPI_SAY(out->next,
          "keep memory for the next %s: without empty_cache(), or from a pool.",
          ppi_limit_unit_name(model));
  return true;
}

static bool say_greatest(ppi_limit_search *search, const parts *of) {
  const ppi_limit_model *model = search->model;
  uint32_t own = ppi_limit_greatest(of->own_ns, model->num_names);
  uint32_t waits = ppi_limit_greatest(of->waits_ns, model->num_names);
  uint32_t device = ppi_limit_greatest(of->device_ns, model->num_names);
  double own_ns = own == PPI_NONE ? 0 : of->own_ns[own];
  double waits_ns = waits == PPI_NONE ? 0 : of->waits_ns[waits];
  double device_ns = device == PPI_NONE ? 0 : of->device_ns[device];
  double most_ns = PPI_MAX(own_ns, PPI_MAX(waits_ns, device_ns));
  if (say_memory(search, most_ns, of->all_ns)) return true;
  if (of->gap_ns >= 0.4 * of->all_ns && of->gap_ns > most_ns)
    ppi_limit_say_gap(
        search, of->gap_ns / (double)PPI_MAX(model->num_counted, 1),
        of->gap_ns / of->all_ns, ppi_limit_unit_name(model), "stages");
  else if (most_ns <= 0)
    return false;
  else if (own_ns >= most_ns)
    say_part(search, own, own_ns, "", of->all_ns);
  else if (device_ns >= most_ns)
    say_part(search, device, device_ns,
             2 * worked_ns(model, device) >= device_ns ? ", on the device"
                                                       : launching,
             of->all_ns);
  else
    say_wait(search, waits, waits_ns, of->all_ns);
  return true;
}

// The device that works beside the thread that goes round, for longer than the
// thread does; PPI_NONE: none.
static uint32_t leading_device(const ppi_limit_model *model) {
  const double least = 0.7, most_in_turn = 1.1;
  const ppi_limit_row *row = &model->rows[model->loop_thread];
  double host = (double)row->working_ns / (double)PPI_MAX(model->time_ns, 1);
  double use = PPI_MAX(least, PPI_MAX(host, most_in_turn - host));
  uint32_t found = PPI_NONE;
  for (size_t i = 0; i < model->num_stations && !row->is_device; i++) {
    const ppi_station *station = &model->stations[i];
    if (station->kind != PPI_STATION_DEVICE || !station->is_relevant ||
        !station->num_stages || station->use <= use)
      continue;
    use = station->use;
    found = (uint32_t)i;
  }
  return found;
}

bool ppi_limit_parts(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  bool is_round = model->unit_kind == PPI_UNIT_STEP ||
                  model->unit_kind == PPI_UNIT_ITERATION;
  if (!is_round || model->loop_thread == PPI_NONE || !model->num_counted)
    return false;
  uint32_t device = leading_device(model);
  if (device != PPI_NONE) {
    ppi_limit_say(search, device);
    return true;
  }
  size_t size = (model->num_names + 1) * sizeof(double);
  parts of = {.own_ns = ppi_alloc(size),
              .waits_ns = ppi_alloc(size),
              .device_ns = ppi_alloc(size),
              .all_ns = (double)model->time_ns};
  bool found = false;
  ppi_row_calls calls = {NULL, NULL};
  ppi_keyed *awaited = ppi_alloc((model->num_calls + 1) * sizeof *awaited);
  search->failed |= !awaited || !of.own_ns || !of.waits_ns || !of.device_ns ||
                    !ppi_row_calls_list(model, &calls);
  if (!search->failed) {
    add_calls(model, awaited, &of);
    add_waits(model, &calls, &of);
    found = say_greatest(search, &of);
  }
  ppi_row_calls_clear(&calls);
  PPI_FREE_ALL(awaited, of.own_ns, of.waits_ns, of.device_ns);
  return found;
}
