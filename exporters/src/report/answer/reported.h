// SPDX-License-Identifier: Apache-2.0
//
// Time and calls by place on the host, the same for all open units, until a
// unit begins or ends. One thread at a time.
#pragma once

#include "base/base.h"
#include "report/answer/account.h"

PPROF_BEGIN_C_

#define PPI_REPORTED_RECENT 256  // a power of two

typedef struct ppi_reported_place {
  ppi_moment sum;
  bool is_reported;
} ppi_reported_place;

// All zero is the empty one.
typedef struct ppi_reported {
  ppi_map numbers;  // of places
  ppi_reported_place *places;
  uint32_t *list;  // places with a sum
  size_t num, places_capacity, list_capacity;
  uint32_t recent[PPI_REPORTED_RECENT];  // places + 1, by stage and child
} ppi_reported;

// ppi_reported_find returns the number of the place of `moment`; UINT32_MAX:
// out of memory.
uint32_t ppi_reported_find(ppi_reported *reported, const ppi_moment *moment);
// ppi_reported_flush adds all sums to the accounts of `units`, and clears them.
pprof_status ppi_reported_flush(ppi_reported *reported, ppi_account *accounts,
                                const size_t *units, size_t num_units);
void ppi_reported_clear(ppi_reported *reported);

// ppi_reported_at returns the sum to add to.
static inline ppi_moment *ppi_reported_at(ppi_reported *reported,
                                          uint32_t number) {
  ppi_reported_place *place = &reported->places[number];
  if (PPI_UNLIKELY(!place->is_reported)) {
    place->is_reported = true;
    reported->list[reported->num++] = number;
  }
  return &place->sum;
}

PPROF_END_C_
