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

// ppi_names_new_round begins a time in which names are used; ppi_names_used
// says that a record of a site was found in it.
void ppi_names_new_round(ppi_names *names);
void ppi_names_used(ppi_names *names, uint32_t site);
bool ppi_names_are_crowded(ppi_names *names);
// ppi_names_retire takes the older half of the names that may go out of the
// table: a lookup of one then gets another id. It answers the number of leaving
// names, including earlier ones that are still in use.
uint32_t ppi_names_retire(ppi_names *names);
// ppi_names_leaves: is it one of these? Any id that is not one answers false.
bool ppi_names_leaves(const ppi_names *names, uint32_t id);
// ppi_names_generation differs once names have left the table.
uint32_t ppi_names_generation(const ppi_names *names);
// ppi_names_hold says that something has the id still.
void ppi_names_hold(ppi_names *names, uint32_t id);
// ppi_names_give lets other names have the ids that nothing holds; `forget` is
// called for each before, perhaps more than once. False: a thread stands with
// the lock, call it again.
bool ppi_names_give(ppi_names *names, void (*forget)(uint32_t id));

PPROF_END_C_
