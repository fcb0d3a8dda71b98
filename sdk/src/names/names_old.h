// SPDX-License-Identifier: Apache-2.0
//
// Takes ids back from the names that were unused for longest, once half of the
// remaining room is gone, so that names may come without end. It has three
// steps, with time between. Names leave the table; holders of an id report it;
// all other ids are given again. Only the collector calls it, except for the
// parts that add names meanwhile.
#pragma once

#include "names/names.h"

PPROF_BEGIN_C_

// ppi_names_new_round begins a round of use; ppi_names_used notes that a record
// of a site was found in it.
void ppi_names_new_round(ppi_names *names);
void ppi_names_used(ppi_names *names, uint32_t site);
bool ppi_names_are_crowded(ppi_names *names);
// ppi_names_retire takes the older half of the names that may go out of the
// table: a lookup of one then gets another id. It answers the number of leaving
// names, including earlier ones that are still in use.
uint32_t ppi_names_retire(ppi_names *names);
// ppi_names_leaves: does this id leave? False for any number that is no id.
bool ppi_names_leaves(const ppi_names *names, uint32_t id);
// ppi_names_generation differs once names have left the table.
uint32_t ppi_names_generation(const ppi_names *names);
// ppi_names_hold marks an id as still in use.
void ppi_names_hold(ppi_names *names, uint32_t id);
// ppi_names_give frees the ids that are not marked for other names; it calls
// `forget` for each before, perhaps more than once. False: a thread has the
// lock, call again.
bool ppi_names_give(ppi_names *names, void (*forget)(uint32_t id));

PPROF_END_C_
