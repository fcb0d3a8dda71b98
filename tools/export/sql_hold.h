// SPDX-License-Identifier: Apache-2.0
//
// Rows of host ranges on their way into SQL: a range comes when it ends, before
// the one around it, so that its row waits here until that one has its number.
#pragma once

#include "sqlite/sqlite.h"

enum {
  PPI_SQL_HOST_COLUMNS = 24,
  PPI_SQL_FIRST_REAL = 13,  // of four
  PPI_SQL_PARENT = 5        // columns count from 1
};

typedef struct ppi_sql_buffered {
  int64_t values[PPI_SQL_HOST_COLUMNS];  // reals as their bits
  uint32_t nulls;                        // a bit for each
  bool waits;                            // for its parent
} ppi_sql_buffered;

// What the SQL of a parent's place is made of.
typedef struct ppi_sql_place {
  uint32_t lane, depth;  // a lane's row
  uint64_t start_ns, end_ns;
} ppi_sql_place;

typedef struct ppi_sql_waiting {
  uint64_t id;
  ppi_sql_place place;
} ppi_sql_waiting;

typedef struct ppi_sql_lane {
  ppi_sql_waiting *items;  // deeper ones on top
  size_t num, capacity;
  uint64_t last_ns;
} ppi_sql_lane;

// All zero but the first two is the empty one.
typedef struct ppi_sql_hold {
  ppi_db *db;
  sqlite3_stmt *insert;
  ppi_sql_buffered *rows;  // a ring, by id
  uint64_t first, end;     // ids of rows that are held
  uint32_t bound;          // columns of the statement that are not NULL
  ppi_sql_lane *lanes;
  size_t num_lanes, lanes_capacity;
  struct ppi_sql_late *late;  // parents that came after their row had to go
  size_t num_late, late_capacity;
  bool is_mixed;  // some came in another order: SQL finds parents
  bool failed;    // out of memory
} ppi_sql_hold;

// ppi_sql_hold_begin answers the row of the next id, all NULL; NULL: no memory.
ppi_sql_buffered *ppi_sql_hold_begin(ppi_sql_hold *hold);
// ppi_sql_hold_add takes that row. `place` is NULL for one that is no part of
// the nesting.
void ppi_sql_hold_add(ppi_sql_hold *hold, const ppi_sql_place *place);
// ppi_sql_hold_finish writes what is left.
void ppi_sql_hold_finish(ppi_sql_hold *hold);
void ppi_sql_hold_clear(ppi_sql_hold *hold);
