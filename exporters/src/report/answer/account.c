// SPDX-License-Identifier: Apache-2.0
//
// Adds up a unit's time in cells by number, and folds it into rows by name.
// Sites of one name are one stage, also within a unit.
#include "report/answer/account.h"

#include "base/mem.h"

// The number of the place's cell + 1; 0: out of memory.
static size_t cell_of(ppi_account *account, const ppi_map_key *key) {
  size_t number = ppi_map_number(&account->places, *key);
  if (number == SIZE_MAX) return 0;
  if (!account->cells || number >= account->capacity) {
    size_t before = account->cells ? account->capacity : 0;
    if (!PPI_ROOM(account->cells, account->capacity, number + 1)) return 0;
    for (size_t i = before; i < account->capacity; i++)
      account->cells[i] = (ppi_account_cell){0};
  }
  if (account->cells[number].is_used) return number + 1;
  if (!PPI_PUSH(account->used, account->num_used, account->used_capacity,
                (uint32_t)number))
    return 0;
  account->cells[number].is_used = true;
  return number + 1;
}

static void add_time(ppi_account *account, size_t cell, uint64_t ns,
                     uint64_t calls) {
  account->cells[cell - 1].ns += ns;
  account->cells[cell - 1].calls += calls;
}

bool ppi_account_add(ppi_account *account, const ppi_moment *moment) {
  ppi_map_key stage = {(uint64_t)moment->where << 32 | moment->device,
                       (uint64_t)moment->stage << 32};
  const ppi_map_key own = {stage.high, stage.low | moment->child};
  size_t *cells = account->last_cells;
  if (!cells[1] || account->last.high != own.high ||
      account->last.low != own.low) {
    if (!cells[1] || account->last.high != own.high ||
        account->last.low >> 32 != moment->stage)
      cells[0] = cell_of(account, &stage);
    cells[1] = moment->child ? cell_of(account, &own) : cells[0];
    account->last = own;
  }
  if (!cells[0] || !cells[1]) return false;
  add_time(account, cells[0], moment->ns, moment->stage_calls);
  if (moment->child)
    add_time(account, cells[1], moment->ns, moment->child_calls);
  return true;
}

bool ppi_account_move(ppi_account *into, ppi_account *from) {
  bool done = true;
  if (!into->places.num) {
    ppi_account empty = *into;
    *into = *from;
    *from = empty;
  }
  for (size_t i = 0; i < from->places.num && done; i++) {
    size_t cell = cell_of(into, &from->places.keys[i]);
    if (!cell) done = false;
    if (cell) add_time(into, cell, from->cells[i].ns, from->cells[i].calls);
  }
  ppi_account_clear(from);
  return done;
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
  ppi_account_cell *cell = &account->cells[at];
  if (cell->row) return &into->rows[cell->row - 1];
  const void *ids = names->ids;
  ppi_answer_row key = {
      .name = (char *)name_of(names->site, ids, (uint32_t)(place->low >> 32)),
      .child = (char *)name_of(names->site, ids, (uint32_t)place->low),
      .device = (char *)name_of(names->device, ids, (uint32_t)place->high),
      .where = (ppi_where)(place->high >> 32)};
  ppi_answer_row *row = ppi_answer_row_of(into, &key);
  if (row) cell->row = (size_t)(row - into->rows) + 1;
  return row;
}

static bool end_unit(ppi_answer_row *row) {
  uint64_t ns = row->unit_ns;
  row->unit_ns = 0;
  if (!ns) return true;
  row->total_ns += ns;
  row->num_units++;
  row->max_ns = PPI_MAX(row->max_ns, ns);
  return ppi_histogram_add(&row->times, ns);
}

static bool add_between(uint64_t ns, ppi_answer *into) {
  ppi_answer_row key = {
      .name = "", .child = "", .device = "", .where = PPI_WHERE_BETWEEN};
  if (!ns) return true;
  ppi_answer_row *row = ppi_answer_row_of(into, &key);
  if (!row) return false;
  row->unit_ns = ns;
  return end_unit(row);
}

bool ppi_account_fold(ppi_account *account, uint64_t length_ns,
                      const ppi_account_names *names, ppi_answer *into) {
  uint64_t reported_ns = 0;
  bool done = true;
  for (size_t i = 0; i < account->num_used; i++) {
    uint32_t at = account->used[i];
    ppi_answer_row *row = row_of(account, at, names, into);
    if (!row) return false;
    ppi_account_cell *cell = &account->cells[at];
    bool is_part = (uint32_t)account->places.keys[at].low != 0;
    reported_ns += is_part ? 0 : cell->ns;
    row->unit_ns += cell->ns;
    row->calls += cell->calls;
    *cell = (ppi_account_cell){.row = cell->row};
  }
  for (size_t i = 0; i < account->num_used && done; i++)
    done = end_unit(row_of(account, account->used[i], names, into));
  account->num_used = account->last_cells[1] = 0;
  // A log may be wrong: the whole is never less than its parts.
  length_ns = PPI_MAX(length_ns, reported_ns);
  if (!done || !add_between(length_ns - reported_ns, into)) return false;
  into->num_units++;
  into->total_ns += length_ns;
  into->max_ns = PPI_MAX(into->max_ns, length_ns);
  return ppi_histogram_add(&into->times, length_ns);
}

void ppi_account_clear(ppi_account *account) {
  ppi_map_clear(&account->places);
  ppi_free(account->cells);
  ppi_free(account->used);
  *account = (ppi_account){0};
}
