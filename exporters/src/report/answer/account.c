// SPDX-License-Identifier: Apache-2.0
//
// Cells by number, and rows by name: sites of one name are one stage, also in
// the time that a unit has of it.
#include "report/answer/account.h"

#include "base/base.h"
#include "base/mem.h"

static pprof_status add(ppi_account *account, const ppi_map_key *key,
                        uint64_t ns, uint64_t calls) {
  size_t number = ppi_map_number(&account->places, *key);
  if (number == SIZE_MAX) return PPROF_STATUS_NO_MEMORY;
  if (!account->cells || number >= account->capacity) {
    size_t before = account->cells ? account->capacity : 0;
    if (!PPI_ROOM(account->cells, account->capacity, number + 1))
      return PPROF_STATUS_NO_MEMORY;
    for (size_t i = before; i < account->capacity; i++)
      account->cells[i] = (ppi_account_cell){0};
  }
  account->cells[number].ns += ns;
  account->cells[number].calls += calls;
  return PPROF_STATUS_OK;
}

pprof_status ppi_account_add(ppi_account *account, const ppi_moment *moment) {
  ppi_map_key key = {(uint64_t)moment->where << 32 | moment->device,
                     (uint64_t)moment->stage << 32};
  pprof_status status = add(account, &key, moment->ns, moment->stage_calls);
  if (status != PPROF_STATUS_OK || !moment->child) return status;
  key.low |= moment->child;
  return add(account, &key, moment->ns, moment->child_calls);
}

pprof_status ppi_account_move(ppi_account *into, ppi_account *from) {
  pprof_status status = PPROF_STATUS_OK;
  if (!into->places.num) {
    ppi_account empty = *into;
    *into = *from;
    *from = empty;
  }
  for (size_t i = 0; i < from->places.num && status == PPROF_STATUS_OK; i++)
    status = add(into, &from->places.keys[i], from->cells[i].ns,
                 from->cells[i].calls);
  ppi_account_clear(from);
  return status;
}

static const char *name_of(const char *(*name)(const void *, uint32_t),
                           const void *ids, uint32_t id) {
  const char *text = id ? name(ids, id) : NULL;
  return text ? text : "";
}

static ppi_answer_row *row_of(const ppi_account *account, size_t at,
                              const ppi_account_names *names,
                              ppi_answer *into) {
  const ppi_map_key *place = &account->places.keys[at];
  const void *ids = names->ids;
  ppi_answer_row key = {
      .name = (char *)name_of(names->site, ids, (uint32_t)(place->low >> 32)),
      .child = (char *)name_of(names->site, ids, (uint32_t)place->low),
      .device = (char *)name_of(names->device, ids, (uint32_t)place->high),
      .where = (ppi_where)(place->high >> 32)};
  return ppi_answer_row_of(into, &key);
}

static pprof_status end_unit(ppi_answer_row *row) {
  uint64_t ns = row->unit_ns;
  row->unit_ns = 0;
  if (!ns) return PPROF_STATUS_OK;
  row->total_ns += ns;
  row->num_units++;
  row->max_ns = PPI_MAX(row->max_ns, ns);
  return ppi_histogram_add(&row->times, ns);
}

static pprof_status add_between(uint64_t ns, ppi_answer *into) {
  ppi_answer_row key = {
      .name = "", .child = "", .device = "", .where = PPI_WHERE_BETWEEN};
  if (!ns) return PPROF_STATUS_OK;
  ppi_answer_row *row = ppi_answer_row_of(into, &key);
  if (!row) return PPROF_STATUS_NO_MEMORY;
  row->unit_ns = ns;
  return end_unit(row);
}

pprof_status ppi_account_fold(const ppi_account *account, uint64_t length_ns,
                              const ppi_account_names *names,
                              ppi_answer *into) {
  uint64_t told_ns = 0;
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < account->places.num; i++) {
    ppi_answer_row *row = row_of(account, i, names, into);
    if (!row) return PPROF_STATUS_NO_MEMORY;
    bool is_part = (uint32_t)account->places.keys[i].low != 0;
    told_ns += is_part ? 0 : account->cells[i].ns;
    row->unit_ns += account->cells[i].ns;
    row->calls += account->cells[i].calls;
  }
  for (size_t i = 0; i < account->places.num && status == PPROF_STATUS_OK; i++)
    status = end_unit(row_of(account, i, names, into));
  // Who wrote the log may be wrong: the whole is never less than its parts.
  length_ns = PPI_MAX(length_ns, told_ns);
  if (status == PPROF_STATUS_OK)
    status = add_between(length_ns - told_ns, into);
  if (status != PPROF_STATUS_OK) return status;
  into->num_units++;
  into->total_ns += length_ns;
  into->max_ns = PPI_MAX(into->max_ns, length_ns);
  return ppi_histogram_add(&into->times, length_ns);
}

void ppi_account_clear(ppi_account *account) {
  ppi_map_clear(&account->places);
  ppi_free(account->cells);
  *account = (ppi_account){0};
}
