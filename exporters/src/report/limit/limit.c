// SPDX-License-Identifier: Apache-2.0
//
// Tries the rules in order; the first one that holds gives the verdict.
#include "report/limit/limit.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/findings/words.h"
#include "report/limit/row_calls.h"
#include "report/limit/rules.h"
#include "report/limit/say.h"

static const ppi_limit_rule rules[] = {
    ppi_limit_lock,        ppi_limit_processors, ppi_limit_interpreter,
    ppi_limit_long_pauses, ppi_limit_rounds,     ppi_limit_moves,
    ppi_limit_takes_turns, ppi_limit_balanced,   ppi_limit_saturated,
    ppi_limit_in_turn,     ppi_limit_congested,  ppi_limit_closed_line,
    ppi_limit_too_few,     ppi_limit_pauses,     ppi_limit_replica,
    ppi_limit_idle,        ppi_limit_in_line,    ppi_limit_nearly,
    ppi_limit_slower,      ppi_limit_keeps_up,   ppi_limit_path,
    ppi_limit_parts};
enum { NUM_RULES = sizeof rules / sizeof *rules };

static bool find_model(ppi_limit_search *search, ppi_limit_calls *calls) {
  ppi_limit_model *model = search->model;
  if (!ppi_model_prepare(model, calls) || !ppi_model_find_units(model, calls))
    return false;
  if (!model->num_units) return true;
  if (!ppi_model_find_window(model)) return false;
  if (model->loop && !ppi_loop_take(model->loop, model)) return false;
  if (!model->time_ns || !model->num_counted) return true;
  ppi_limit_find_pauses(search);
  if (search->failed || !ppi_model_find_waits(model) ||
      !ppi_model_find_awaited(model) || !ppi_model_find_stations(model) ||
      !ppi_model_find_turns(model) || !ppi_model_find_loops(model) ||
      !ppi_model_find_elsewhere(model))
    return false;
  return ppi_blame_find(model, &search->blame);
}

// The stage with most time in outliers, on the thread that goes round;
// PPI_NONE: none.
static uint32_t stage_of_outliers(const ppi_limit_model *model,
                                  double *times_ns) {
  if (model->loop_thread == PPI_NONE) return PPI_NONE;
  const ppi_limit_row *row = &model->rows[model->loop_thread];
  for (size_t i = 0; i < row->num_outer; i++) {
    const ppi_limit_call *call = &model->calls[row->outer[i]];
    times_ns[call->name] +=
        (double)(ppi_intervals_measure(&model->left_out, call->end_ns) -
                 ppi_intervals_measure(&model->left_out, call->start_ns));
  }
  return ppi_limit_greatest(times_ns, model->num_names);
}

// Outliers get their own sentence; averages leave them out.
static void say_outliers(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  double *times_ns = ppi_alloc((model->num_names + 1) * sizeof *times_ns);
  char where[64] = "";
  search->failed |= !times_ns;
  if (!times_ns) return;
  uint32_t stage = stage_of_outliers(model, times_ns);
  if (stage != PPI_NONE)
    PPI_SAY(where, ", most of it in %s",
            ppi_words_name(model->names[stage].text).text);
  ppi_free(times_ns);
  PPI_LIMIT_SAY_MORE(search->out, "%zu of %zu %ss took %s%s: not counted here.",
                     model->num_outliers, model->num_units,
                     ppi_limit_unit_name(model),
                     ppi_words_time((double)model->outliers_ns).text, where);
}

static void say_more(ppi_limit_search *search) {
  const ppi_limit_model *model = search->model;
  ppi_limit *out = search->out;
  const char *unit = ppi_limit_unit_name(model);
  if (model->num_other && 50 * model->other_ns >= model->time_ns)
    PPI_LIMIT_SAY_MORE(out, "%zu other call%s between %ss took %s.",
                       model->num_other, model->num_other == 1 ? "" : "s", unit,
                       ppi_words_time((double)model->other_ns).text);
  if (model->num_outliers) say_outliers(search);
  ppi_limit_say_lock(search);
  double all_ns = (double)(model->time_ns + model->pause_ns);
  bool says_pause = (out->claim == PPI_CLAIM_UNRECORDED && !out->num_names) ||
                    (out->verdict && strcmp(out->verdict, "lock") == 0);
  if (!says_pause && (double)model->pause_ns >= 0.03 * all_ns)
    PPI_LIMIT_SAY_MORE(out,
                       "Everything stands still %zu time%s, %s in all (%s).",
                       model->pauses.num, model->pauses.num == 1 ? "" : "s",
                       ppi_words_time((double)model->pause_ns).text,
                       ppi_words_percent((double)model->pause_ns, all_ns).text);
}

static void ask_rules(ppi_limit_search *search) {
  ppi_limit_find_arrivals(search);
  if (!search->failed) ppi_limit_find_congestion(search);
  if (!search->failed) ppi_limit_find_lock(search);
  if (!search->failed) ppi_limit_list_servers(search);
  for (size_t i = 0; i < NUM_RULES && !search->failed; i++)
    if (rules[i](search)) break;
  search->out->units = (double)search->model->num_counted;
  if (search->out->claim == PPI_CLAIM_NONE || search->failed) return;
  ppi_limit_find_gaps(search);
  say_more(search);
  if (!search->failed) ppi_limit_say_gaps(search);
}

struct ppi_limit_found {
  ppi_limit_model model;
  ppi_limit_search search;
};

pprof_status ppi_limit_find(ppi_limit_calls *calls, ppi_limit *out,
                            ppi_limit_loop *loop, ppi_limit_found **out_found) {
  *out = (ppi_limit){0};
  *out_found = NULL;
  if (!calls->num) return PPROF_STATUS_OK;
  ppi_limit_found *found = ppi_alloc(sizeof *found);
  if (!found) return PPROF_STATUS_NO_MEMORY;
  ppi_limit_model *model = &found->model;
  ppi_limit_search *search = &found->search;
  model->loop = loop;
  *search =
      (ppi_limit_search){.model = model, .out = out, .congested = PPI_NONE};
  if (loop) loop->stride = calls->stride;
  search->failed = !find_model(search, calls);
  if (!search->failed && model->num_counted && model->time_ns)
    ask_rules(search);
  *out_found = found;
  return ppi_or_no_memory(!search->failed);
}

pprof_status ppi_limit_divide(ppi_limit_found *found, ppi_answer *requests) {
  if (!found) return PPROF_STATUS_OK;
  ppi_limit_search *search = &found->search;
  if (requests && !search->failed && search->out->claim != PPI_CLAIM_NONE)
    ppi_blame_show(search, requests);
  bool done = !search->failed;
  ppi_blame_clear(&search->blame);
  ppi_model_clear(&found->model);
  ppi_free(found);
  return ppi_or_no_memory(done);
}
