// SPDX-License-Identifier: Apache-2.0
//
// Buffers rows of host ranges until their parents are known.
#include "export/sql_hold.h"

#include <string.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"

enum { ROWS = 65536 };  // 13 MB

typedef struct ppi_sql_late {
  uint64_t id, parent;
} late;

static ppi_sql_buffered *row_of(const ppi_sql_hold *hold, uint64_t id) {
  return &hold->rows[id % ROWS];
}

// Columns that are NULL in this row and the last one keep their binding.
static void write_row(ppi_sql_hold *hold, const ppi_sql_buffered *row) {
  const ppi_sqlite *api = hold->db->api;
  uint32_t given = ~row->nulls & ((1u << PPI_SQL_HOST_COLUMNS) - 1);
  for (uint32_t left = given | hold->bound; left; left &= left - 1) {
    int i = __builtin_ctz(left);
    bool is_real = (unsigned)(i + 1 - PPI_SQL_FIRST_REAL) < 4u;
    double real;
    memcpy(&real, &row->values[i], sizeof real);
    if (!(given >> i & 1))
      api->bind_null(hold->insert, i + 1);
    else if (is_real)
      api->bind_double(hold->insert, i + 1, real);
    else
      api->bind_int64(hold->insert, i + 1, row->values[i]);
  }
  hold->bound = given;
  ppi_db_row(hold->db, hold->insert);
}

// Writes rows up to the first that waits, but at least `least` rows.
static void write_rows(ppi_sql_hold *hold, uint64_t least) {
  for (; hold->first<hold->end; hold->first++, least -= least> 0) {
    const ppi_sql_buffered *row = row_of(hold, hold->first);
    if (row->waits && !least) return;
    write_row(hold, row);
  }
}

ppi_sql_buffered *ppi_sql_hold_begin(ppi_sql_hold *hold) {
  if (!hold->rows) {
    hold->rows = ppi_tool_must(ppi_alloc(ROWS * sizeof *hold->rows));
    hold->first = hold->end = 1;
  }
  // Writes many rows at once, and the rows after them that no longer wait.
  if (hold->end - hold->first == ROWS) write_rows(hold, ROWS / 8);
  ppi_sql_buffered *row = row_of(hold, hold->end);
  row->nulls = (1u << PPI_SQL_HOST_COLUMNS) - 1;
  row->waits = false;
  return row;
}

// Ends the waiting of a range: `parent` is around it, or none (0).
static void give_parent(ppi_sql_hold *hold, uint64_t id, uint64_t parent) {
  if (id < hold->first && parent)
    PPI_MUST_PUSH(hold->late, hold->num_late, hold->late_capacity,
                  (late){id, parent});
  if (id < hold->first) return;
  ppi_sql_buffered *row = row_of(hold, id);
  row->waits = false;
  if (!parent) return;
  row->values[PPI_SQL_PARENT - 1] = (int64_t)parent;
  row->nulls &= ~(1u << (PPI_SQL_PARENT - 1));
}

void ppi_sql_hold_add(ppi_sql_hold *hold, const ppi_sql_place *place) {
  uint64_t id = hold->end++;
  if (!place) return;
  PPI_MUST_REACH(hold->lanes, hold->num_lanes, hold->lanes_capacity,
                 place->lane);
  ppi_sql_lane *lane = &hold->lanes[place->lane];
  hold->is_mixed |= place->end_ns < lane->last_ns;
  lane->last_ns = place->end_ns;
  while (lane->num && lane->items[lane->num - 1].place.depth > place->depth) {
    const ppi_sql_waiting *inner = &lane->items[--lane->num];
    bool is_inside = inner->place.depth == place->depth + 1 &&
                     place->start_ns <= inner->place.start_ns &&
                     inner->place.end_ns <= place->end_ns;
    give_parent(hold, inner->id, is_inside ? id : 0);
  }
  if (!place->depth) return;
  row_of(hold, id)->waits = true;
  PPI_MUST_PUSH(lane->items, lane->num, lane->capacity,
                (ppi_sql_waiting){id, *place});
}

static void write_late(ppi_sql_hold *hold) {
  sqlite3_stmt *update =
      ppi_db_prepare(hold->db, "UPDATE host_range SET parent = ? WHERE id = ?");
  for (size_t i = 0; i < hold->num_late && update; i++) {
    ppi_db_int(hold->db, update, 1, hold->late[i].parent);
    ppi_db_int(hold->db, update, 2, hold->late[i].id);
    ppi_db_row(hold->db, update);
  }
  ppi_db_finalize(hold->db, update);
}

void ppi_sql_hold_finish(ppi_sql_hold *hold) {
  write_rows(hold, ROWS);
  if (hold->num_late) write_late(hold);
}

void ppi_sql_hold_clear(ppi_sql_hold *hold) {
  for (size_t i = 0; i < hold->num_lanes; i++) ppi_free(hold->lanes[i].items);
  ppi_free(hold->lanes);
  ppi_free(hold->late);
  ppi_free(hold->rows);
}
