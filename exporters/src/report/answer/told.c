// SPDX-License-Identifier: Apache-2.0
//
// Keeps what was counted for each place while the same units are open.
#include "report/answer/told.h"

#include "base/mem.h"

static bool add_place(ppi_told *told, const ppi_moment *moment, size_t number) {
  if (!PPI_ROOM(told->places, told->places_capacity, number + 1)) return false;
  if (!PPI_ROOM(told->list, told->list_capacity, number + 1)) return false;
  told->places[number] = (ppi_told_place){.sum = *moment};
  return true;
}

uint32_t ppi_told_find(ppi_told *told, const ppi_moment *moment) {
  uint32_t hash =
      moment->stage * 31 + moment->child * 7 + (uint32_t)moment->where;
  uint32_t *recent = &told->recent[hash % PPI_TOLD_RECENT];
  if (*recent) {
    const ppi_moment *sum = &told->places[*recent - 1].sum;
    if (sum->stage == moment->stage && sum->child == moment->child &&
        sum->where == moment->where)
      return *recent - 1;
  }
  size_t before = told->numbers.num;
  const ppi_map_key key = {(uint64_t)moment->where,
                           (uint64_t)moment->stage << 32 | moment->child};
  size_t number = ppi_map_number(&told->numbers, key);
  if (number == SIZE_MAX) return UINT32_MAX;
  if (number == before && !add_place(told, moment, number)) return UINT32_MAX;
  *recent = (uint32_t)number + 1;
  return (uint32_t)number;
}

pprof_status ppi_told_flush(ppi_told *told, ppi_account *accounts,
                            const size_t *units, size_t num_units) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < told->num; i++) {
    ppi_told_place *place = &told->places[told->list[i]];
    for (size_t j = 0; j < num_units && status == PPROF_STATUS_OK; j++)
      status = ppi_account_add(&accounts[units[j]], &place->sum);
    place->is_told = false;
    place->sum.ns = place->sum.stage_calls = place->sum.child_calls = 0;
  }
  told->num = 0;
  return status;
}

void ppi_told_clear(ppi_told *told) {
  ppi_map_clear(&told->numbers);
  ppi_free(told->places);
  ppi_free(told->list);
  *told = (ppi_told){0};
}
