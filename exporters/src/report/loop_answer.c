// SPDX-License-Identifier: Apache-2.0
//
// Computes where the time of a loop's turns goes, in one walk over the run's
// calls.
#include "report/loop_answer.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "report/answer/account.h"
#include "report/figures/first_calls.h"

// ---- names ----

// Numbers begin at 1: 0 is none.
static const char *name_text(const void *ids, uint32_t name) {
  const ppi_table_ids *of = ids;
  return name - 1 < of->num_names ? of->names[name - 1].text : NULL;
}

static const char *device_text(const void *ids, uint32_t device) {
  return ppi_table_ids_device_name(ids, device - 1);
}

// ---- calls as items ----

static uint32_t depth_of(const ppi_limit_loop *loop, const ppi_limit_call *at) {
  uint32_t depth = 0;
  for (; at->parent != PPI_NO_CALL; at = &loop->calls[at->parent]) depth++;
  return depth;
}

static ppi_item item_of(const ppi_limit_loop *loop, const ppi_table_ids *ids,
                        const ppi_limit_call *call) {
  uint32_t category = ids->names[call->name].category;
  ppi_item item = {.start_ns = call->start_ns,
                   .end_ns = call->end_ns,
                   .site = call->name + 1,
                   .lane = call->row,
                   .depth = depth_of(loop, call)};
  if (call->flags & PPI_CALL_LOOSE) item.flags |= PPI_ITEM_LOOSE;
  // A turn belongs to its thread: other threads get only the time that it
  // leaves.
  if (category == PPROF_CATEGORY_COMMUNICATION ||
      category == PPROF_CATEGORY_IDLE || call->row != loop->thread)
    item.flags |= PPI_ITEM_WAITS;
  if (!(call->flags & PPI_CALL_DEVICE)) return item;
  item.device = ppi_table_ids_device(ids, call->row) + 1;
  item.device_start_ns = call->start_ns;
  item.device_end_ns = call->end_ns;
  item.start_ns = item.end_ns = call->submit_ns;
  item.lane = call->host;
  item.flags = PPI_ITEM_NO_HOST;
  if (!(call->flags & PPI_CALL_NAMED)) item.flags |= PPI_ITEM_BORROWS;
  return item;
}

static ppi_item *list_items(const ppi_limit_loop *loop,
                            const ppi_table_ids *ids, size_t *out_num) {
  ppi_item *items = ppi_alloc((loop->num_calls + 1) * sizeof *items);
  *out_num = 0;
  for (size_t i = 0; items && i < loop->num_calls; i++)
    if (!(loop->calls[i].flags & (PPI_CALL_STEP | PPI_CALL_REQUEST)))
      items[(*out_num)++] = item_of(loop, ids, &loop->calls[i]);
  if (items) ppi_items_sort(items, *out_num);
  return items;
}

// ---- the walk ----

static pprof_status take_moment(void *context, const ppi_moment *moment) {
  ppi_account *accounts = context;
  return ppi_account_add(&accounts[moment->unit], moment);
}

static pprof_status walk(const ppi_limit_loop *loop, const ppi_table_ids *ids,
                         ppi_account *accounts) {
  size_t num;
  ppi_moment_room room = {0};
  ppi_item *items = list_items(loop, ids, &num);
  ppi_moment_unit *units = ppi_alloc(loop->num_turns * sizeof *units);
  pprof_status status = PPROF_STATUS_NO_MEMORY;
  for (size_t i = 0; units && i < loop->num_turns; i++)
    units[i] =
        (ppi_moment_unit){loop->turns[i].start_ns, loop->turns[i].end_ns, true};
  ppi_moments moments = {.items = items,
                         .num_items = num,
                         .units = units,
                         .num_units = loop->num_turns,
                         .from_ns = 0,
                         .to_ns = UINT64_MAX,
                         .on_moment = take_moment,
                         .context = accounts};
  if (items && units) status = ppi_moments_walk(&moments, &room);
  ppi_moment_room_clear(&room);
  ppi_free(items);
  ppi_free(units);
  return status;
}

// ---- the answer ----

static size_t num_cold(const ppi_limit_loop *loop, long warmup) {
  ppi_first_call calls[PPI_FIRST_CALLS];
  for (size_t i = 0; i < PPI_MIN(loop->num_turns, PPI_FIRST_CALLS); i++)
    calls[i] = (ppi_first_call){
        .start_ns = loop->turns[i].start_ns,
        .length_ns = loop->turns[i].end_ns - loop->turns[i].start_ns};
  return ppi_first_calls_num_cold(calls, loop->num_turns, warmup);
}

// "2.10 s imports": the name with the most time before the first turn.
static void put_start(const ppi_limit_loop *loop, const ppi_table_ids *ids,
                      ppi_figures_loop *out) {
  uint64_t first_ns = loop->turns[0].start_ns, most_ns = 0;
  uint64_t *times = ppi_alloc((ids->num_names + 1) * sizeof *times);
  for (size_t i = 0; times && i < loop->num_calls; i++) {
    const ppi_limit_call *call = &loop->calls[i];
    if (call->row != loop->thread || call->parent != PPI_NO_CALL ||
        call->flags & (PPI_CALL_DEVICE | PPI_CALL_LOOSE | PPI_CALL_STEP) ||
        call->end_ns > first_ns)
      continue;
    times[call->name] += call->end_ns - call->start_ns;
    if (times[call->name] <= most_ns) continue;
    most_ns = times[call->name];
    snprintf(out->start_stage, sizeof out->start_stage, "%s",
             ids->names[call->name].text);
  }
  ppi_free(times);
  out->start_stage_ns = most_ns;
}

static pprof_status fold(const ppi_limit_loop *loop, const ppi_table_ids *ids,
                         ppi_account *accounts, long warmup, ppi_answer *out) {
  const ppi_account_names names = {ids, name_text, device_text};
  size_t cold = num_cold(loop, warmup);
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < loop->num_turns && status == PPROF_STATUS_OK; i++) {
    uint64_t length_ns = loop->turns[i].end_ns - loop->turns[i].start_ns;
    if (i < cold) {
      out->num_cold++;
      out->cold_ns += length_ns;
    } else {
      status = ppi_account_fold(&accounts[i], length_ns, &names, out);
    }
  }
  out->num_runs = 1;
  out->num_all = out->num_units * PPI_MAX(loop->stride, 1);
  if (cold < loop->num_turns)
    out->span_ns =
        PPI_MAX(loop->stride, 1) *
        (loop->turns[loop->num_turns - 1].end_ns - loop->turns[cold].start_ns);
  out->before_ns = loop->turns[0].start_ns;
  ppi_answer_sort(out);
  return status;
}

pprof_status ppi_loop_answer(const ppi_limit_loop *loop,
                             const ppi_table_ids *ids, ppi_figures *out) {
  ppi_answer *answer = &out->answers[PPI_BASE_ITERATION];
  if (!loop->num_turns) return PPROF_STATUS_OK;
  ppi_account *accounts = ppi_alloc(loop->num_turns * sizeof *accounts);
  if (!accounts) return PPROF_STATUS_NO_MEMORY;
  pprof_status status = walk(loop, ids, accounts);
  if (status == PPROF_STATUS_OK)
    status = fold(loop, ids, accounts, out->details.warmup, answer);
  for (size_t i = 0; i < loop->num_turns; i++) ppi_account_clear(&accounts[i]);
  ppi_free(accounts);
  snprintf(out->loop.stages, sizeof out->loop.stages, "%s", loop->stages);
  snprintf(out->loop.thread, sizeof out->loop.thread, "%s", loop->thread_name);
  put_start(loop, ids, &out->loop);
  if (status == PPROF_STATUS_OK && out->num_inputs)
    status =
        ppi_answer_merge(&out->inputs[0].answers[PPI_BASE_ITERATION], answer);
  return status;
}
