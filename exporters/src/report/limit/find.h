// SPDX-License-Identifier: Apache-2.0
//
// The functions that fill the model, in the order of their calls.
#pragma once

#include "report/limit/model.h"

// Sorts calls by time and gives them their stages' names and rows.
// ppi_model_prepare consumes `calls`. False: out of memory.
bool ppi_model_prepare(ppi_limit_model *model, ppi_limit_calls *calls);
void ppi_model_clear(ppi_limit_model *model);

// The call around `at` that no other call is around.
uint32_t ppi_model_outermost(const ppi_limit_model *model, uint32_t at);

// Finds the units of a run: requests, steps or iterations. False: out of
// memory.
bool ppi_model_find_units(ppi_limit_model *model, const ppi_limit_calls *calls);

// The latest end, before `to_ns`, of the unit's calls from `from_ns` on;
// `from_ns`: there is none.
uint64_t ppi_unit_last_end(const ppi_limit_model *model,
                           const ppi_limit_unit *unit, uint64_t from_ns,
                           uint64_t to_ns);

// The steady part of a run.
// False: out of memory.
bool ppi_model_find_window(ppi_limit_model *model);
// The window's time in [from_ns, to_ns).
uint64_t ppi_model_within(const ppi_limit_model *model, uint64_t from_ns,
                          uint64_t to_ns);
uint64_t ppi_call_within(const ppi_limit_model *model,
                         const ppi_limit_call *call);

// The work of each stage, without waits. ppi_model_find_stages fills the parts
// of rows and their work. False: out of memory.
bool ppi_model_find_stages(ppi_limit_model *model);

// The part that the time of a thread's call belongs to.
uint32_t ppi_call_part(const ppi_limit_model *model, uint32_t call);

// Where waits nest, only the outermost one counts.
bool ppi_call_is_top_wait(const ppi_limit_model *model, uint32_t call);

// Finds waits that inner ranges prove. False: out of memory.
bool ppi_model_find_inner_waits(ppi_limit_model *model);
// Finds the time that calls stand in line for a place of a range inside them,
// once all other waits are known. False: out of memory.
bool ppi_model_find_lines(ppi_limit_model *model);

// Ranges that wait.
// False: out of memory.
bool ppi_model_find_waits(ppi_limit_model *model);

// For stations: which units need them, their own device work, what larger
// batches save, and processors.
// False: out of memory.
bool ppi_model_find_relevant(ppi_limit_model *model);
bool ppi_model_find_in_turn(ppi_limit_model *model);
bool ppi_model_find_batches(ppi_limit_model *model);
void ppi_model_find_cpu(ppi_limit_model *model);

// Rows as servers.
// False: out of memory.
bool ppi_model_find_stations(ppi_limit_model *model);
// Makes stations of threads that are busy with a queue of their own. False: out
// of memory.
// NULL: the station does not serve that name.
ppi_limit_stage *ppi_station_stage(const ppi_station *station, uint32_t name);
bool ppi_model_take_out_hot_rows(ppi_limit_model *model);

// The number of calls that overlap, except for a twohundredth of the time.
uint32_t ppi_most_at_once(const ppi_limit_model *model, ppi_border *borders,
                          size_t num);

// The number of its taken servers over time. False: out of memory.
bool ppi_station_count(const ppi_limit_model *model, ppi_station *station,
                       const ppi_border *borders, size_t num);
// Gives threads of which only a few work at a time as many servers. False: out
// of memory.
bool ppi_model_find_turns(ppi_limit_model *model);

// The waits of ranges on no row for the thread of their event loop. False: out
// of memory.
bool ppi_model_find_loops(ppi_limit_model *model);

// A range that `servers` requests are in at a time, for `ns` in all. False: out
// of memory.
bool ppi_model_add_places(ppi_limit_model *model, uint32_t name,
                          uint32_t servers, uint64_t ns);
// Finds such ranges on no row. False: out of memory.
bool ppi_model_find_elsewhere(ppi_limit_model *model);

// The loop of a run without steps and requests: the thread that goes round, and
// the begin of each turn. ppi_loop_keep copies the calls. ppi_loop_take copies
// the turns, once the model has its window. False: out of memory.
bool ppi_loop_keep(ppi_limit_loop *loop, const ppi_limit_model *model);
bool ppi_loop_take(ppi_limit_loop *loop, const ppi_limit_model *model);
