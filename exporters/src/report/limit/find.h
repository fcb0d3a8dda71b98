// SPDX-License-Identifier: Apache-2.0
//
// What fills the model, in that order.
#pragma once

#include "report/limit/model.h"

PPROF_BEGIN_C_

// Calls in the order of time, under their stages' names, on their rows.
// ppi_model_prepare uses `calls` up. False: out of memory.
bool ppi_model_prepare(ppi_limit_model *model, ppi_limit_calls *calls);
void ppi_model_clear(ppi_limit_model *model);

// What a run is made of: requests, steps, or iterations that are found.
// False: out of memory.
bool ppi_model_find_units(ppi_limit_model *model, const ppi_limit_calls *calls);

// The steady part of a run.
// False: out of memory.
bool ppi_model_find_window(ppi_limit_model *model);
// The window's time in [from_ns, to_ns).
uint64_t ppi_model_within(const ppi_limit_model *model, uint64_t from_ns,
                          uint64_t to_ns);
uint64_t ppi_call_within(const ppi_limit_model *model,
                         const ppi_limit_call *call);

// What each stage works, waits left out.
// ppi_model_find_stages fills the parts of rows, and what each works. False:
// out of memory.
bool ppi_model_find_stages(ppi_limit_model *model);

// The part that the time of a thread's call belongs to.
uint32_t ppi_call_part(const ppi_limit_model *model, uint32_t call);

// Of waits that lie in one another the outermost one counts.
bool ppi_call_is_top_wait(const ppi_limit_model *model, uint32_t call);

// Waits that ranges inside of others show. False: out of memory.
bool ppi_model_find_inner_waits(ppi_limit_model *model);

// Ranges that wait.
// False: out of memory.
bool ppi_model_find_waits(ppi_limit_model *model);

// Of stations: which units need, their own device work, processors. False: out
// of memory.
void ppi_model_find_relevant(ppi_limit_model *model);
bool ppi_model_find_in_turn(ppi_limit_model *model);
void ppi_model_find_cpu(ppi_limit_model *model);

// Rows as servers.
// False: out of memory.
bool ppi_model_find_stations(ppi_limit_model *model);

// The loop of a run that marks no steps and no requests: what goes round, and
// when each turn began.
// ppi_loop_keep copies the calls; ppi_loop_take, once the model has its window,
// the turns. False: out of memory.
bool ppi_loop_keep(ppi_limit_loop *loop, const ppi_limit_model *model);
bool ppi_loop_take(ppi_limit_loop *loop, const ppi_limit_model *model);

PPROF_END_C_
