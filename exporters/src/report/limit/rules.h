// SPDX-License-Identifier: Apache-2.0
//
// The rules, and what they share.
#pragma once

#include "report/figures/answer_rows.h"
#include "report/limit/search.h"

// Runs in which nothing is saturated.

// The arrival of requests: after the ends of others, and how many at a time.
void ppi_limit_find_arrivals(ppi_limit_search *search);
// Rules.
bool ppi_limit_too_few(ppi_limit_search *search);
bool ppi_limit_replica(ppi_limit_search *search);
bool ppi_limit_idle(ppi_limit_search *search);
bool ppi_limit_keeps_up(ppi_limit_search *search);

// Requests that stand in line though nothing is saturated.

// Rules.
bool ppi_limit_in_line(ppi_limit_search *search);
bool ppi_limit_slower(ppi_limit_search *search);

// A lock as a server, by recorded waits for it.

// ppi_limit_find_lock comes before the servers are listed.
void ppi_limit_find_lock(ppi_limit_search *search);
// Rule.
bool ppi_limit_lock(ppi_limit_search *search);
// A sentence beside another verdict.
void ppi_limit_say_lock(ppi_limit_search *search);

// Threads that meet after each round of a stage.

bool ppi_limit_rounds(ppi_limit_search *search);

// The parts of a round of the thread that goes round.

// Rule.
bool ppi_limit_parts(ppi_limit_search *search);

// The verdict that nothing recorded explains `ns` of each `of`.
void ppi_limit_say_gap(ppi_limit_search *search, double ns, double part,
                       const char *of, const char *between);

// Requests that no range names, where waits are recorded.

bool ppi_limit_path(ppi_limit_search *search);

// A server that is always busy sets the rate.

// ppi_limit_busiest answers the station that limits, if any is saturated.
uint32_t ppi_limit_busiest(const ppi_limit_model *model);
// The part of its threads' time that a station works, or waits for its own work
// elsewhere.
double ppi_limit_turn_use(const ppi_limit_model *model, size_t station);
// The gain from halving the greatest stage of `station`; 1 is twice the rate.
double ppi_limit_gain(const ppi_limit_model *model, uint32_t station,
                      uint32_t *out_next);
// The station's greatest stage; for a device, its name.
const char *ppi_limit_station_name(const ppi_limit_model *model,
                                   uint32_t station);
// "Half of `stage`, which `station` serves: at most ... more, then ... limits."
void ppi_limit_put_bound(ppi_limit_search *search, uint32_t station,
                         const char *stage, char *to, size_t size);
// The verdict that `station` is the limit.
void ppi_limit_say(ppi_limit_search *search, uint32_t station);
// Rules.
bool ppi_limit_moves(ppi_limit_search *search);
bool ppi_limit_balanced(ppi_limit_search *search);
bool ppi_limit_saturated(ppi_limit_search *search);
bool ppi_limit_in_turn(ppi_limit_search *search);
bool ppi_limit_closed_line(ppi_limit_search *search);
bool ppi_limit_nearly(ppi_limit_search *search);

// Threads that share what is not recorded.

void ppi_limit_find_congestion(ppi_limit_search *search);
// Rules.
bool ppi_limit_processors(ppi_limit_search *search);
bool ppi_limit_interpreter(ppi_limit_search *search);
bool ppi_limit_takes_turns(ppi_limit_search *search);
bool ppi_limit_congested(ppi_limit_search *search);

// Moments in which everything stands still, though there is work.

// Call ppi_limit_find_pauses before the stations are made: pauses are no part
// of any time.
void ppi_limit_find_pauses(ppi_limit_search *search);
// Rules: pauses cost more than the limit would bring or, with nothing
// saturated, are much of the latency.
bool ppi_limit_long_pauses(ppi_limit_search *search);
bool ppi_limit_pauses(ppi_limit_search *search);

// The reasons of a device's idle time: each moment belongs to the current range
// of the thread that launched the device's next work.

// ppi_limit_find_gaps fills the gaps of the verdict, of the busiest device;
// ppi_limit_say_gaps adds a sentence if gaps are a tenth of the time.
void ppi_limit_find_gaps(ppi_limit_search *search);
void ppi_limit_say_gaps(ppi_limit_search *search);

// Servers as rows.

// ppi_limit_list_servers fills the servers of the verdict, the busiest ones.
void ppi_limit_list_servers(ppi_limit_search *search);

// The awaited things of requests, as rows.

// ppi_blame_show divides the answer's row of time between stages, to the
// nanosecond, in the ratio of the examined requests. It lists their pieces in
// the verdict.
void ppi_blame_show(ppi_limit_search *search, ppi_answer *requests);
