// SPDX-License-Identifier: Apache-2.0
//
// What has been told of each place on the host, for all units that are going
// on alike, until one of them begins or ends. One thread at a time.
#pragma once

#include "base/base.h"
#include "report/answer/account.h"

PPROF_BEGIN_C_

#define PPI_TOLD_RECENT 256  // a power of two

typedef struct ppi_told_place {
  ppi_moment sum;
  bool is_told;
} ppi_told_place;

// All zero is the empty one.
typedef struct ppi_told {
  ppi_map numbers;  // of places
  ppi_told_place *places;
  uint32_t *list;  // those that are told of
  size_t num, places_capacity, list_capacity;
  uint32_t recent[PPI_TOLD_RECENT];  // places + 1, by stage and child
} ppi_told;

// ppi_told_find answers the number of the place of `moment`; UINT32_MAX: out of
// memory.
uint32_t ppi_told_find(ppi_told *told, const ppi_moment *moment);
// ppi_told_flush adds all to the accounts of `units`, and forgets it.
pprof_status ppi_told_flush(ppi_told *told, ppi_account *accounts,
                            const size_t *units, size_t num_units);
void ppi_told_clear(ppi_told *told);

// ppi_told_at answers the sum to add to.
static inline ppi_moment *ppi_told_at(ppi_told *told, uint32_t number) {
  ppi_told_place *place = &told->places[number];
  if (PPI_UNLIKELY(!place->is_told)) {
    place->is_told = true;
    told->list[told->num++] = number;
  }
  return &place->sum;
}

PPROF_END_C_
