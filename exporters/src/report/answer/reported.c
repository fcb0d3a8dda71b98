// SPDX-License-Identifier: Apache-2.0
//
// Sums time and calls by place while the same units are open.
#include "report/answer/reported.h"

#include "base/mem.h"

static bool add_place(ppi_reported *reported, const ppi_moment *moment,
                      size_t number) {
  if (!PPI_ROOM(reported->places, reported->places_capacity, number + 1))
    return false;
  if (!PPI_ROOM(reported->list, reported->list_capacity, number + 1))
    return false;
  reported->places[number] = (ppi_reported_place){.sum = *moment};
  return true;
}

uint32_t ppi_reported_find(ppi_reported *reported, const ppi_moment *moment) {
  uint32_t hash =
      moment->stage * 31 + moment->child * 7 + (uint32_t)moment->where;
  uint32_t *recent = &reported->recent[hash % PPI_REPORTED_RECENT];
  if (*recent) {
    const ppi_moment *sum = &reported->places[*recent - 1].sum;
    if (sum->stage == moment->stage && sum->child == moment->child &&
        sum->where == moment->where)
      return *recent - 1;
  }
  size_t before = reported->numbers.num;
  const ppi_map_key key = {(uint64_t)moment->where,
                           (uint64_t)moment->stage << 32 | moment->child};
  size_t number = ppi_map_number(&reported->numbers, key);
  if (number == SIZE_MAX) return UINT32_MAX;
  if (number == before && !add_place(reported, moment, number))
    return UINT32_MAX;
  *recent = (uint32_t)number + 1;
  return (uint32_t)number;
}

pprof_status ppi_reported_flush(ppi_reported *reported, ppi_account *accounts,
                                const size_t *units, size_t num_units) {
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < reported->num; i++) {
    ppi_reported_place *place = &reported->places[reported->list[i]];
    for (size_t j = 0; j < num_units && status == PPROF_STATUS_OK; j++)
      status = ppi_account_add(&accounts[units[j]], &place->sum);
    place->is_reported = false;
    place->sum.ns = place->sum.stage_calls = place->sum.child_calls = 0;
  }
  reported->num = 0;
  return status;
}

void ppi_reported_clear(ppi_reported *reported) {
  ppi_map_clear(&reported->numbers);
  ppi_free(reported->places);
  ppi_free(reported->list);
  *reported = (ppi_reported){0};
}
