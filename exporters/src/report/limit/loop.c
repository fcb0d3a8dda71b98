// SPDX-License-Identifier: Apache-2.0
//
// Takes the iterations out of the limit model, for the answer's rows.
#include "report/limit/find.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/mem.h"

enum { LEAST_TURNS = 5, FEW_STAGES = 2, LEAST_OF_ONE = 10 };

bool ppi_loop_keep(ppi_limit_loop *loop, const ppi_limit_model *model) {
  loop->calls = ppi_alloc((model->num_calls + 1) * sizeof *loop->calls);
  if (!loop->calls) return false;
  if (model->num_calls)
    memcpy(loop->calls, model->calls, model->num_calls * sizeof *loop->calls);
  loop->num_calls = model->num_calls;
  return true;
}

// Outermost calls of `name` on a row while the loop's thread goes round.
static size_t count_beside(const ppi_limit_model *model,
                           const ppi_limit_row *row, uint32_t name) {
  const ppi_limit_row *loop = &model->rows[model->loop_thread];
  if (!loop->num_outer) return 0;
  uint64_t from_ns = model->calls[loop->outer[0]].start_ns;
  uint64_t to_ns = model->calls[loop->outer[loop->num_outer - 1]].end_ns;
  size_t num = 0;
  for (size_t i = 0; i < row->num_outer; i++) {
    const ppi_limit_call *call = &model->calls[row->outer[i]];
    num += call->name == name && call->start_ns >= from_ns &&
           call->start_ns < to_ns;
  }
  return num;
}

// Threads of a pool go round alike, each for itself. A turn of one thread is no
// unit of the run.
static bool is_only_one(const ppi_limit_model *model) {
  for (size_t i = 0; i < model->num_rows; i++)
    if (i != model->loop_thread && !model->rows[i].is_device &&
        count_beside(model, &model->rows[i], model->begins_loop) >= LEAST_TURNS)
      return false;
  return true;
}

// Adds a stage's name, or ", ..." if there is no room.
static size_t put_stage(ppi_limit_loop *loop, size_t len, const char *text) {
  if (len == sizeof loop->stages) return len;
  size_t room = sizeof loop->stages - sizeof ", ..." - len;
  int put = snprintf(loop->stages + len, room, "%s%s", len ? ", " : "", text);
  if (put >= 0 && (size_t)put < room) return len + (size_t)put;
  strcpy(loop->stages + len, len ? ", ..." : "");
  return sizeof loop->stages;
}

// The stages of the turns in order, each once, counted in *num. Stages of few
// turns, such as logging, are left out. False: out of memory.
static bool put_stages(ppi_limit_loop *loop, const ppi_limit_model *model,
                       size_t *num) {
  const ppi_limit_row *row = &model->rows[model->loop_thread];
  size_t len = 0, unit = 0, least = model->num_units / 2;
  struct {
    size_t num, last;  // turns; the last one, + 1
  } *turns = ppi_alloc((model->num_names + 1) * sizeof *turns);
  if (!turns) return false;
  for (size_t i = 0; i < row->num_outer; i++) {
    const ppi_limit_call *call = &model->calls[row->outer[i]];
    while (unit < model->num_units &&
           model->units[unit].end_ns <= call->start_ns)
      unit++;
    turns[call->name].num += turns[call->name].last != unit + 1;
    turns[call->name].last = unit + 1;
  }
  for (size_t i = 0; i < row->num_outer; i++) {
    uint32_t name = model->calls[row->outer[i]].name;
    if (turns[name].num && turns[name].num >= least &&
        ppi_name_may_be_stage(&model->names[name])) {
      len = put_stage(loop, len, model->names[name].text);
      ++*num;
    }
    turns[name].num = 0;
  }
  ppi_free(turns);
  return true;
}

// The last turn has no successor: it lasts as long as the work that it
// submitted.
static void end_last(ppi_limit_loop *loop, const ppi_limit_model *model) {
  ppi_loop_turn *last = &loop->turns[loop->num_turns - 1];
  for (size_t i = 0; i < model->num_calls; i++) {
    const ppi_limit_call *call = &model->calls[i];
    if (call->flags & PPI_CALL_DEVICE && call->host == loop->thread &&
        call->submit_ns >= last->start_ns)
      last->end_ns = PPI_MAX(last->end_ns, call->end_ns);
  }
}

// A loader's call that finds the end of its data begins no turn.
static bool is_end(const ppi_limit_model *model, const ppi_limit_unit *last) {
  const ppi_limit_row *row = &model->rows[model->loop_thread];
  for (size_t i = row->num_outer; i-- > 0;) {
    const ppi_limit_call *call = &model->calls[row->outer[i]];
    if (call->start_ns < last->start_ns) break;
    if (call->name != model->begins_loop &&
        ppi_name_may_be_stage(&model->names[call->name]))
      return false;
  }
  return true;
}

bool ppi_loop_take(ppi_limit_loop *loop, const ppi_limit_model *model) {
  size_t stages = 0;
  if (model->unit_kind != PPI_UNIT_ITERATION ||
      model->num_units < LEAST_TURNS || !is_only_one(model))
    return true;
  if (!put_stages(loop, model, &stages)) return false;
  if (!loop->begins && stages < FEW_STAGES && model->num_units < LEAST_OF_ONE)
    return true;
  loop->turns = ppi_alloc(model->num_units * sizeof *loop->turns);
  if (!loop->turns) return false;
  for (size_t i = 0; i < model->num_units; i++) {
    const ppi_limit_unit *unit = &model->units[i];
    // Turns outside the model's window count, too.
    bool is_outlier = unit->is_left_out && unit->end_ns > model->from_ns &&
                      unit->end_ns <= model->to_ns;
    bool is_last = i + 1 == model->num_units;
    if (!is_outlier && !(is_last && stages > 1 && is_end(model, unit)))
      loop->turns[loop->num_turns++] =
          (ppi_loop_turn){unit->start_ns, unit->end_ns};
  }
  loop->thread = model->loop_thread;
  if (loop->num_turns) end_last(loop, model);
  const ppi_limit_row *row = &model->rows[model->loop_thread];
  loop->is_device = row->is_device;
  bool is_said = row->is_device || !*row->name ||
                 strncmp(row->name, "thread ", strlen("thread ")) == 0;
  snprintf(loop->thread_name, sizeof loop->thread_name, "%s%s",
           is_said ? "" : "thread ", row->name);
  return true;
}
