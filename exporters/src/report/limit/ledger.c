// SPDX-License-Identifier: Apache-2.0
//
// Sweeps over a device's work. For each gap, it walks the calls of the thread
// that launched the next work.
#include "report/limit/rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/findings/words.h"
#include "report/limit/find.h"
#include "report/limit/row_calls.h"
#include "report/limit/say.h"

typedef struct ledger {
  const ppi_limit_model *model;
  ppi_row_calls calls;
  double *ns;  // by kind, then by name; the last name is none
  uint64_t idle_ns;
  uint64_t num_stops;
  uint32_t counted;  // a part of which these are
} ledger;

// A stretch without work, between the work before it and the next one.
typedef struct gap {
  uint64_t from_ns, to_ns;
  uint32_t before, after;  // parts that launched them; PPI_NO_CALL: none
  const ppi_limit_work *next;
  bool is_behind_wait;
} gap;

// ---- what a moment of a gap is ----

typedef struct charge {
  ppi_gap_kind kind;
  uint32_t name;  // PPI_NONE: none
} charge;

static charge waiting_for(const ppi_limit_model *model, uint32_t name) {
  const ppi_limit_name *of = &model->names[name];
  bool for_others = of->waits == PPI_WAITS_THREAD &&
                    of->category != PPROF_CATEGORY_COMMUNICATION;
  if (!for_others)
    return (charge){PPI_GAP_WAITING,
                    of->in_line_for == PPI_NONE ? name : of->in_line_for};
  if (of->waits_for == PPI_NONE) return (charge){PPI_GAP_NO_REQUEST, PPI_NONE};
  return (charge){PPI_GAP_WAITING, of->waits_for};
}

// For a moment with one stage before and after it.
static charge launching(const ppi_limit_model *model, const gap *in) {
  return (charge){in->is_behind_wait ? PPI_GAP_AFTER_WAIT : PPI_GAP_LAUNCHING,
                  model->calls[in->after].name};
}

static charge charge_call(const ppi_limit_model *model, const gap *in,
                          uint32_t inner, uint64_t time_ns,
                          uint64_t *until_ns) {
  for (uint32_t at = inner; at != PPI_NO_CALL; at = model->calls[at].parent) {
    const ppi_interval *wait = &model->waits[at];
    if (wait->from_ns > time_ns) *until_ns = PPI_MIN(*until_ns, wait->from_ns);
    if (wait->from_ns > time_ns || wait->to_ns <= time_ns) continue;
    *until_ns = PPI_MIN(*until_ns, wait->to_ns);
    return waiting_for(model, model->calls[at].name);
  }
  uint32_t part = ppi_call_part(model, inner);
  return part == in->before && part == in->after
             ? launching(model, in)
             : (charge){PPI_GAP_STAGE, model->calls[part].name};
}

// Between calls, the thread waits for a stage that ends where the thread's next
// call begins.
static charge charge_nothing(const ppi_limit_model *model, uint32_t thread,
                             uint64_t to_ns) {
  const uint64_t eps_ns = 150000, time_ns = to_ns - PPI_MIN(eps_ns, to_ns);
  for (size_t i = 0; i < model->num_rows; i++) {
    const ppi_limit_row *row = &model->rows[i];
    uint32_t last;
    if (time_ns >= row->last_ns || time_ns < row->first_ns || i == thread ||
        row->is_device || !row->is_relevant)
      continue;
    if (ppi_row_is_taken(model, row, time_ns, &last) &&
        model->calls[last].end_ns <= to_ns)
      return (charge){PPI_GAP_WAITING, model->calls[last].name};
  }
  return (charge){PPI_GAP_NOTHING, PPI_NONE};
}

static void add_ns(ledger *of, charge to, uint64_t ns) {
  size_t names = of->model->num_names;
  size_t name = to.name == PPI_NONE ? names : to.name;
  of->idle_ns += ns;
  of->ns[to.kind * (names + 1) + name] += (double)ns;
}

static void add_time(ledger *of, charge to, uint64_t from_ns, uint64_t to_ns) {
  add_ns(of, to, ppi_model_within(of->model, from_ns, to_ns));
}

// Whether the thread was waiting for the work before the gap when that work
// ended.
static bool is_behind_wait(const ledger *of, uint32_t row, uint64_t time_ns) {
  const uint64_t eps_ns = 1000;
  uint64_t next_ns;
  for (uint32_t at =
           ppi_row_calls_at(of->model, &of->calls, row, time_ns, &next_ns);
       at != PPI_NO_CALL; at = of->model->calls[at].parent) {
    const ppi_interval *wait = &of->model->waits[at];
    if (of->model->names[of->model->calls[at].name].waits == PPI_WAITS_DEVICE &&
        wait->from_ns < time_ns && wait->to_ns + eps_ns >= time_ns)
      return true;
  }
  return false;
}

// Whether the thread synchronizes in the gap. By the end of a synchronization
// the device has done all work, however short the call is.
static bool has_sync(const ledger *of, uint32_t row, uint64_t from_ns,
                     uint64_t to_ns) {
  const ppi_limit_call *calls = of->model->calls;
  for (uint64_t next_ns, time_ns = from_ns; time_ns < to_ns;
       time_ns = next_ns) {
    uint32_t at =
        ppi_row_calls_at(of->model, &of->calls, row, time_ns, &next_ns);
    if (at != PPI_NO_CALL && calls[at].flags & PPI_CALL_SYNC) return true;
  }
  return false;
}

static void charge_gap(ledger *of, gap *in) {
  const ppi_limit_model *model = of->model;
  const ppi_limit_call *call = &model->calls[in->next->call];
  uint64_t submit_ns = PPI_MAX(in->next->submit_ns, in->from_ns);
  submit_ns = PPI_MIN(submit_ns, in->to_ns);
  in->is_behind_wait = is_behind_wait(of, call->host, in->from_ns) ||
                       has_sync(of, call->host, in->from_ns, submit_ns);
  bool is_one = in->after != PPI_NO_CALL && in->before == in->after;
  if (in->is_behind_wait && is_one &&
      ppi_model_within(model, in->from_ns, in->to_ns))
    of->num_stops++;
  for (uint64_t time_ns = in->from_ns, until_ns; time_ns < submit_ns;
       time_ns = until_ns) {
    uint32_t inner =
        ppi_row_calls_at(model, &of->calls, call->host, time_ns, &until_ns);
    until_ns = PPI_MIN(until_ns, submit_ns);
    charge to = inner == PPI_NO_CALL
                    ? charge_nothing(model, call->host, until_ns)
                    : charge_call(model, in, inner, time_ns, &until_ns);
    add_time(of, to, time_ns, until_ns);
  }
  add_time(
      of,
      is_one ? launching(model, in) : (charge){PPI_GAP_STARTING, call->name},
      submit_ns, in->to_ns);
}

// ---- the sweep ----

static uint32_t launcher(const ppi_limit_model *model,
                         const ppi_limit_work *work) {
  if (!work || work->around == PPI_NO_CALL ||
      !ppi_call_is_on_thread(&model->calls[work->around]))
    return PPI_NO_CALL;
  return ppi_call_part(model, work->around);
}

static bool is_of_device(const ppi_limit_model *model,
                         const ppi_limit_work *work, uint32_t device) {
  return model->rows[model->calls[work->call].row].device == device;
}

// Charges idle time inside joined work, from `from_ns` on. A thread that
// synchronizes once for few launches never runs ahead.
static void add_inner(ledger *of, const ppi_limit_work *work,
                      uint64_t from_ns) {
  const uint64_t few = 10;
  uint64_t length_ns = work->end_ns - work->start_ns;
  uint32_t part = launcher(of->model, work);
  if (work->work_ns >= length_ns || part == PPI_NO_CALL) return;
  double idle = 1 - (double)work->work_ns / (double)length_ns;
  from_ns = PPI_MAX(from_ns, work->start_ns);
  if (from_ns >= work->end_ns) return;
  uint64_t ns = ppi_model_within(of->model, from_ns, work->end_ns);
  const ppi_limit_call *call = &of->model->calls[part];
  bool is_synced = few * call->dropped >= work->launches;
  if (is_synced && ns && part != of->counted) {
    of->num_stops += call->dropped;
    of->counted = part;
  }
  add_ns(
      of,
      (charge){is_synced ? PPI_GAP_AFTER_WAIT : PPI_GAP_LAUNCHING, call->name},
      (uint64_t)(idle * (double)ns));
}

static void sweep(ledger *of, uint32_t device) {
  const ppi_limit_model *model = of->model;
  const ppi_limit_work *last = NULL;
  uint64_t until_ns = model->from_ns;
  for (size_t i = 0; i < model->num_works; i++) {
    const ppi_limit_work *work = &model->works[i];
    if (!is_of_device(model, work, device)) continue;
    if (work->start_ns > until_ns && until_ns < model->to_ns) {
      gap in = {.from_ns = until_ns,
                .to_ns = PPI_MIN(work->start_ns, model->to_ns),
                .before = launcher(model, last),
                .after = launcher(model, work),
                .next = work};
      charge_gap(of, &in);
    }
    add_inner(of, work, until_ns);
    if (work->end_ns < until_ns) continue;
    until_ns = work->end_ns;
    last = work;
  }
  add_time(of, (charge){PPI_GAP_NOTHING, PPI_NONE}, until_ns, model->to_ns);
}

// The device of the busiest station; PPI_NONE: none.
static uint32_t busiest_device(const ppi_limit_model *model) {
  const ppi_station *found = NULL;
  for (size_t i = 0; i < model->num_stations; i++) {
    const ppi_station *station = &model->stations[i];
    if (station->kind == PPI_STATION_DEVICE &&
        (!found || station->use > found->use))
      found = station;
  }
  return found ? found->device : PPI_NONE;
}

// ---- rows ----

PPI_ORDER(compare_gaps, ppi_limit_gap, PPI_DOWN(ns) PPI_BY_TEXT(name))

static size_t list_gaps(const ledger *of, ppi_limit_gap *out) {
  const ppi_limit_model *model = of->model;
  size_t names = model->num_names + 1, num = 0;
  for (size_t i = 0; i < PPI_GAP_OTHERS * names; i++) {
    if (of->ns[i] <= 0) continue;
    ppi_limit_gap *to = &out[num++];
    *to = (ppi_limit_gap){
        .kind = (ppi_gap_kind)(i / names),
        .ns = of->ns[i] / (double)PPI_MAX(model->num_counted, 1),
        .part = of->ns[i] / (double)model->time_ns};
    if (i % names < model->num_names)
      PPI_SAY(to->name, "%s", model->names[i % names].text);
  }
  if (num > 1) qsort(out, num, sizeof *out, compare_gaps);
  return num;
}

// The greatest rows in order; the last row is the sum of all others.
static void fill_gaps(const ppi_limit_gap *gaps, size_t num, ppi_limit *out) {
  enum { LISTED = PPI_LIMIT_GAPS - 1 };
  out->num_gaps = PPI_MIN(num, (size_t)PPI_LIMIT_GAPS);
  memcpy(out->gaps, gaps, out->num_gaps * sizeof *gaps);
  if (num <= PPI_LIMIT_GAPS) return;
  out->gaps[LISTED] = (ppi_limit_gap){.kind = PPI_GAP_OTHERS};
  for (size_t i = LISTED; i < num; i++) {
    out->gaps[LISTED].ns += gaps[i].ns;
    out->gaps[LISTED].part += gaps[i].part;
  }
}

static bool fill(ledger *of, uint32_t device, ppi_limit *out) {
  size_t names = of->model->num_names + 1;
  of->ns = ppi_alloc(PPI_NUM_GAP_KINDS * names * sizeof *of->ns);
  ppi_limit_gap *gaps = ppi_alloc(PPI_NUM_GAP_KINDS * names * sizeof *gaps);
  bool is_done = of->ns && gaps && ppi_row_calls_list(of->model, &of->calls);
  if (is_done) {
    sweep(of, device);
    fill_gaps(gaps, list_gaps(of, gaps), out);
    out->stops =
        (double)of->num_stops / (double)PPI_MAX(of->model->num_counted, 1);
    const char *name = ppi_table_ids_device_name(of->model->ids, device);
    PPI_SAY(out->idle_device, "%s", name ? name : "");
  }
  ppi_free(of->ns);
  ppi_row_calls_clear(&of->calls);
  ppi_free(gaps);
  return is_done;
}

void ppi_limit_find_gaps(ppi_limit_search *search) {
  ledger of = {.model = search->model, .counted = PPI_NO_CALL};
  uint32_t device = busiest_device(search->model);
  if (device != PPI_NONE && search->model->time_ns)
    search->failed |= !fill(&of, device, search->out);
}

// ---- words ----

// "data 20 %", "launching in forward 12 %".
static void add_gap(const ppi_limit_gap *of, char *to, size_t size) {
  static const char *const words[PPI_NUM_GAP_KINDS] = {
      [PPI_GAP_LAUNCHING] = "launching in ",
      [PPI_GAP_AFTER_WAIT] = "after waits for it in ",
      [PPI_GAP_STAGE] = "",
      [PPI_GAP_WAITING] = "waiting for ",
      [PPI_GAP_STARTING] = "starting ",
      [PPI_GAP_NO_REQUEST] = "no request",
      [PPI_GAP_NOTHING] = "nothing recorded",
      [PPI_GAP_OTHERS] = "others"};
  ppi_words_add(to, size, "%s%s %s", words[of->kind],
                *of->name ? ppi_words_name(of->name).text : "",
                ppi_words_percent(of->part, 1).text);
}

// Advises where the named stage leaves the device idle while it launches. A
// launch after a wait cannot come earlier, so removing the wait comes first.
static void advise(const ppi_limit_model *model, ppi_limit *out) {
  const double least = 0.2;
  double launching = 0, behind_waits = 0;
  for (size_t i = 0; i < out->num_gaps && out->num_names; i++) {
    const ppi_limit_gap *of = &out->gaps[i];
    if (strcmp(of->name, out->names[0]) != 0) continue;
    if (of->kind == PPI_GAP_LAUNCHING) launching += of->part;
    if (of->kind == PPI_GAP_AFTER_WAIT) behind_waits += of->part;
  }
  if (launching + behind_waits < least) return;
  ppi_words name = ppi_words_name(out->names[0]);
  if (2 * behind_waits >= launching)
    PPI_SAY(out->next,
            "take waits for the device out of %s (.item(), synchronize): %s "
            "%s leave it empty.",
            name.text, ppi_words_number(out->stops).text,
            ppi_limit_a_unit(model));
  else
    PPI_SAY(out->next,
            "launch fewer and larger kernels in %s, or a graph of them: the "
            "device waits for its launches.",
            name.text);
}

void ppi_limit_say_gaps(ppi_limit_search *search) {
  enum { MOST = 3 };
  const double least = 0.1, least_named = 0.02;
  ppi_limit *out = search->out;
  char list[200] = "", without[80] = "";
  double idle = 0;
  for (size_t i = 0; i < out->num_gaps; i++) idle += out->gaps[i].part;
  if (idle < least || out->claim == PPI_CLAIM_KEEPS_UP) return;
  for (size_t i = 0; i < out->num_gaps && i < MOST; i++) {
    if (i && out->gaps[i].part < least_named) break;
    if (i) PPI_ADD(list, ", ");
    add_gap(&out->gaps[i], list, sizeof list);
  }
  ppi_gap_kind first = out->gaps[0].kind;
  if (first != PPI_GAP_NOTHING && first != PPI_GAP_NO_REQUEST &&
      out->gaps[0].part < 1)
    PPI_SAY(
        without, " Without the first of these the rate rises by at most %s.",
        ppi_words_percent(out->gaps[0].part / (1 - out->gaps[0].part), 1).text);
  out->says_gaps = out->num_more < PPI_LIMIT_MORE;
  PPI_LIMIT_SAY_MORE(out, "%s is idle %s of the time, by cause: %s.%s",
                     ppi_words_name(out->idle_device).text,
                     ppi_words_percent(idle, 1).text, list, without);
  advise(search->model, out);
}
