// SPDX-License-Identifier: Apache-2.0
//
// A server that is always busy sets the rate.
#pragma once

#include "report/limit/search.h"

PPROF_BEGIN_C_

// ppi_limit_busiest answers the station that limits, if any is saturated.
uint32_t ppi_limit_busiest(const ppi_limit_model *model);
// What halving the greatest stage of `station` brings: 1 is twice the rate.
double ppi_limit_gain(const ppi_limit_model *model, uint32_t station,
                      uint32_t *out_next);
// Its greatest stage; of a device its name.
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

PPROF_END_C_
