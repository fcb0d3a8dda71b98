// SPDX-License-Identifier: Apache-2.0
//
// Names and what they stand for, a graph inside another seeing the outer ones.
#pragma once

#include "cost/table/arena.h"

PPROF_BEGIN_C_

// All zero, but for these two, is an empty scope; its memory is the arena's.
typedef struct ppi_scope {
  const struct ppi_scope *outer;
  ppi_arena *arena;
  struct ppi_scope_slot *slots;
  size_t num, num_slots;
} ppi_scope;

// ppi_scope_put has `name`, which stays the caller's, stand for `value` from
// now on. False: out of memory.
bool ppi_scope_put(ppi_scope *scope, const char *name, void *value);
// ppi_scope_find answers NULL for a name that nothing has.
void *ppi_scope_find(const ppi_scope *scope, const char *name);

PPROF_END_C_
