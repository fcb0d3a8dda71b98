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
  double *idle_ns;    // waits for work, by stage; the last: in no range
  double gap_ns, all_ns;
  double outside_ns;  // gaps from a step's end to the next one's begin
  // Between stages where the thread waits for a device in calls of a runtime,
  // or for copies: the time, gaps included, and their number.
  double sync_ns;
  size_t num_syncs;
  uint32_t sync;  // their name
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
      to->idle_ns[stage] += ns;
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

// Calls of a runtime between two stages, with the short gaps beside them.
typedef struct stretch {
  double gap_ns, own_ns;
  size_t num_syncs;
} stretch;

static bool is_of_runtime(const ppi_limit_model *model, uint32_t name) {
  return model->names[name].category == PPROF_CATEGORY_RUNTIME;
}

// Adds the gap before an outermost call, and the call.
static void add_to_stretch(const ppi_limit_model *model, uint32_t at,
                           double gap_ns, stretch *in, parts *to) {
  const double most_ns = 150000;
  const ppi_limit_call *call = &model->calls[at];
  if (gap_ns < most_ns) in->gap_ns += gap_ns;
  if (is_of_runtime(model, call->name)) {
    bool waits = model->names[call->name].waits == PPI_WAITS_DEVICE;
    in->own_ns += (double)model->working_ns[at];
    in->num_syncs += waits && ppi_call_within(model, call);
    if (waits) to->sync = call->name;
    return;
  }
  if (in->num_syncs) {
    to->sync_ns += in->gap_ns + in->own_ns;
    to->gap_ns -= in->gap_ns;
    to->num_syncs += in->num_syncs;
  }
  *in = (stretch){0};
}

// Without calls of the runtime: how many copies from a device the thread makes
// in a gap, if it waits for nearly each. Ask for gaps in order.
static size_t copies_in(const ppi_limit_model *model, uint64_t from_ns,
                        uint64_t to_ns, size_t *at, uint32_t *name) {
  const size_t least = 3;
  size_t num = 0, waited = 0;
  uint64_t end_ns = from_ns;
  for (; *at < model->num_works && model->works[*at].submit_ns < to_ns; ++*at) {
    const ppi_limit_work *work = &model->works[*at];
    const ppi_limit_call *call = &model->calls[work->call];
    if (work->submit_ns < from_ns || work->around != PPI_NO_CALL ||
        call->host != model->loop_thread ||
        !strstr(model->names[call->name].text, "DtoH"))
      continue;
    waited += end_ns <= work->submit_ns;
    end_ns = work->end_ns;
    *name = call->name;
    num++;
  }
  return num >= least && 10 * waited >= 9 * num ? num : 0;
}

// The part of a gap that is in no step. Ask for gaps in order; `at` is the
// first step that may end in the gap.
static double outside_steps(const ppi_limit_model *model, uint64_t from_ns,
                            uint64_t to_ns, size_t *at) {
  if (model->unit_kind != PPI_UNIT_STEP) return 0;
  uint64_t inside_ns = 0;
  while (*at < model->num_units && model->units[*at].end_ns <= from_ns) ++*at;
  for (size_t i = *at; i < model->num_units && model->units[i].start_ns < to_ns;
       i++)
    inside_ns +=
        ppi_model_within(model, PPI_MAX(model->units[i].start_ns, from_ns),
                         PPI_MIN(model->units[i].end_ns, to_ns));
  double ns = (double)ppi_model_within(model, from_ns, to_ns);
  return PPI_MAX(ns - (double)inside_ns, 0);
}

static void add_calls(const ppi_limit_model *model, ppi_keyed *awaited,
                      parts *to) {
  const ppi_limit_row *row = &model->rows[model->loop_thread];
  size_t num = list_awaited(model, awaited), ended = 0;
  bool has_tasks = 2 * num >= model->num_units;  // an event loop's
  for (size_t i = 0; i < row->num_parts; i++)
    to->own_ns[model->calls[row->parts[i]].name] +=
        (double)model->working_ns[row->parts[i]];
  stretch in = {0};
  for (size_t i = 1, at = 0, step = 0, work = 0; i < row->num_outer; i++) {
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
    if (by != PPI_NONE)
      to->waits_ns[by] += ns;
    else if (is_idle)
      to->idle_ns[model->num_names] += ns;  // no task awaits anything
    bool is_gap = by == PPI_NONE && !is_idle;
    double out_ns = outside_steps(model, before->end_ns, call->start_ns, &step);
    out_ns = is_gap ? PPI_MIN(out_ns, ns) : 0;
    to->outside_ns += out_ns;
    ns = is_gap ? ns - out_ns : 0;
    size_t copies =
        copies_in(model, before->end_ns, call->start_ns, &work, &to->sync);
    if (ns > 0) to->num_syncs += copies;
    *(copies ? &to->sync_ns : &to->gap_ns) += ns;
    add_to_stretch(model, row->outer[i], copies ? 0 : ns, &in, to);
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

// Whether several threads are always in their stages: one more brings nothing.
static bool is_taken(const ppi_limit_model *model, uint32_t station) {
  const double least_occupied = 0.8;
  if (station == PPI_NONE || model->stations[station].num_rows < 2)
    return false;
  const ppi_station *of = &model->stations[station];
  return (double)of->occupied_ns >=
         least_occupied * (double)of->num_rows * (double)model->time_ns;
}

static const char launching[] = ", launching and waiting for the device";
static const char waiting[] = ", waiting for work";

static void say_part(ppi_limit_search *search, uint32_t name, double ns,
                     const char *how, double all_ns) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  ppi_words text = ppi_words_name(model->names[name].text);
  double units = (double)PPI_MAX(model->num_counted, 1);
  char devices[160], bound[256] = "";
  uint32_t station = serves(model, name);
  put_devices(model, devices, sizeof devices);
  // Where launching is the limit, faster kernels bring little; where waiting
  // is, a faster stage.
  if (station != PPI_NONE && how != launching && how != waiting)
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
  if (is_taken(model, station) && !model->are_linked)
    PPI_SAY(out->next,
            "make %s cheaper, or find out what its %u threads share: record "
            "waits.",
            text.text, (unsigned)model->stations[station].servers);
  else
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

// Waits for a device between stages: numbers that are read back, one by one.
static void say_sync(ppi_limit_search *search, const parts *of) {
  const ppi_limit_model *model = search->model;
  double units = (double)model->num_counted;
  const char *call = model->names[of->sync].text;
  ppi_limit *out =
      ppi_limit_begin(search, PPI_CLAIM_PART, "waits between stages", 0, call);
  out->demand_ns = of->sync_ns / units;
  PPI_SAY(out->sentence,
          "%s of %s %s (%s) lie between its stages, where its thread waits for "
          "the device %.0f times, in %s.",
          ppi_words_time(of->sync_ns / units).text,
          ppi_words_time(of->all_ns / units).text, ppi_limit_a_unit(model),
          ppi_words_percent(of->sync_ns, of->all_ns).text,
          (double)of->num_syncs / units, ppi_words_name(call).text);
  PPI_SAY(out->next,
          "read fewer numbers back (.item(), synchronize), or all of them at "
          "once.");
}

// Whether most calls of the name are on no thread: tasks await them.
static bool is_awaited(const ppi_limit_model *model, uint32_t name) {
  const ppi_limit_name *of = &model->names[name];
  size_t num = 0;
  for (size_t i = 0; i < of->num; i++)
    num += (model->calls[model->by_name[of->first + i]].flags &
            PPI_CALL_LOOSE) != 0;
  return 2 * num > of->num;
}

// A recorded wait counts for itself if no range of another thread ends it.
static void say_wait(ppi_limit_search *search, uint32_t name, double ns,
                     double all_ns) {
  const ppi_limit_model *model = search->model;
  const ppi_limit_name *of = &model->names[name];
  bool is_itself = of->category == PPROF_CATEGORY_WAIT;
  bool is_task = !is_itself && is_awaited(model, name);
  say_part(search, name, ns, is_itself ? "" : ", as its thread waits for it",
           all_ns);
  if (is_itself)
    PPI_SAY(search->out->next,
            "mark what ends it; if its time ends it, wait for less.");
  if (is_task)
    PPI_SAY(search->out->next,
            "make %s shorter, or let more of it run at a time (connections, "
            "permits).",
            ppi_words_name(of->text).text);
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

// What such a wait has beside the device's work is overhead, too.
static void move_syncs(const ppi_limit_model *model, parts *of) {
  for (size_t i = 0; i < model->num_names && of->num_syncs; i++) {
    if (!is_of_runtime(model, (uint32_t)i)) continue;
    of->sync_ns += of->device_ns[i];
    of->device_ns[i] = 0;
  }
}

static void say_outside(ppi_limit_search *search, double ns, double all_ns) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = ppi_limit_begin(search, PPI_CLAIM_UNRECORDED, "gap", 0, "");
  PPI_SAY(
      out->sentence,
      "%s (%s) pass from the end of each step to the begin of the next, and "
      "nothing recorded explains it.",
      ppi_words_time(ns / (double)model->num_counted).text,
      ppi_words_percent(ns, all_ns).text);
  PPI_SAY(out->next, "mark what happens there.");
}

// A stage that waits for work inside is a part as any other. A thread that is
// in no stage meanwhile keeps up.
static void say_idle(ppi_limit_search *search, uint32_t stage, double ns,
                     const parts *of) {
  const ppi_limit_model *model = search->model;
  const char *name = stage < model->num_names ? model->names[stage].text : "";
  if (*name && model->names[stage].category != PPROF_CATEGORY_IDLE) {
    say_part(search, stage, ns, waiting, of->all_ns);
    return;
  }
  uint32_t own = ppi_limit_greatest(of->own_ns, model->num_names);
  ppi_limit *out = ppi_limit_begin(
      search, PPI_CLAIM_KEEPS_UP, "keeps up", 1 - ns / of->all_ns,
      own == PPI_NONE ? name : model->names[own].text);
  PPI_SAY(out->sentence,
          "Keeps up: the thread of the %ss waits for work %s of the time%s%s. "
          "What brings work sets the rate.",
          ppi_limit_unit_name(model), ppi_words_percent(ns, of->all_ns).text,
          *name ? ", in " : "", *name ? ppi_words_name(name).text : "");
  PPI_SAY(out->next, "nothing for this thread; look at what brings its work.");
}

static void say_gap(ppi_limit_search *search, const parts *of) {
  const ppi_limit_model *model = search->model;
  if (of->outside_ns > of->gap_ns)
    say_outside(search, of->outside_ns, of->all_ns);
  else
    ppi_limit_say_gap(search, of->gap_ns / (double)model->num_counted,
                      of->gap_ns / of->all_ns, ppi_limit_unit_name(model),
                      "stages");
}

static double value_at(const double *values, uint32_t at) {
  return at == PPI_NONE ? 0 : values[at];
}

static bool say_greatest(ppi_limit_search *search, const parts *of) {
  const ppi_limit_model *model = search->model;
  uint32_t own = ppi_limit_greatest(of->own_ns, model->num_names);
  uint32_t waits = ppi_limit_greatest(of->waits_ns, model->num_names);
  uint32_t device = ppi_limit_greatest(of->device_ns, model->num_names);
  uint32_t idle = ppi_limit_greatest(of->idle_ns, model->num_names + 1);
  double own_ns = value_at(of->own_ns, own);
  double waits_ns = value_at(of->waits_ns, waits);
  double device_ns = value_at(of->device_ns, device);
  double idle_ns = value_at(of->idle_ns, idle);
  double most_ns = PPI_MAX(PPI_MAX(own_ns, waits_ns), device_ns);
  double gap_ns = PPI_MAX(of->gap_ns, of->outside_ns);
  if (say_memory(search, PPI_MAX(most_ns, idle_ns), of->all_ns)) return true;
  if (idle_ns > PPI_MAX(most_ns, PPI_MAX(gap_ns, of->sync_ns)))
    say_idle(search, idle, idle_ns, of);
  else if (gap_ns >= 0.4 * of->all_ns && gap_ns > most_ns)
    say_gap(search, of);
  else if (PPI_MAX(most_ns, of->sync_ns) <= 0)
    return false;
  else if (of->sync_ns >= 0.9 * most_ns)  // what is no work goes first
    say_sync(search, of);
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
              .idle_ns = ppi_alloc(size),
              .all_ns = (double)model->time_ns};
  bool found = false;
  ppi_row_calls calls = {NULL, NULL};
  ppi_keyed *awaited = ppi_alloc((model->num_calls + 1) * sizeof *awaited);
  search->failed |= !awaited || !of.own_ns || !of.waits_ns || !of.device_ns ||
                    !of.idle_ns || !ppi_row_calls_list(model, &calls);
  if (!search->failed) {
    add_calls(model, awaited, &of);
    add_waits(model, &calls, &of);
    move_syncs(model, &of);
    found = say_greatest(search, &of);
  }
  ppi_row_calls_clear(&calls);
  PPI_FREE_ALL(awaited, of.own_ns, of.waits_ns, of.device_ns, of.idle_ns);
  return found;
}
