// SPDX-License-Identifier: Apache-2.0
//
// Buffers rows of host ranges for SQL. A range comes when it ends, before the
// range around it. Its row waits here until the outer range has its id.
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

// The place of a range in its lane, which decides its parent.
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

// Set the first two; all zero else is the empty one.
typedef struct ppi_sql_hold {
  ppi_db *db;
  sqlite3_stmt *insert;
  ppi_sql_buffered *rows;  // a ring, by id
  uint64_t first, end;     // ids of the buffered rows
  uint32_t bound;          // columns of the statement that are not NULL
  ppi_sql_lane *lanes;
  size_t num_lanes, lanes_capacity;
  struct ppi_sql_late *late;  // parents of rows that were written before
  size_t num_late, late_capacity;
  bool is_mixed;  // some rows came out of order: SQL finds parents
} ppi_sql_hold;

// ppi_sql_hold_begin answers the row of the next id, all NULL.
ppi_sql_buffered *ppi_sql_hold_begin(ppi_sql_hold *hold);
// ppi_sql_hold_add takes that row. `place` is NULL for a range outside the
// nesting.
void ppi_sql_hold_add(ppi_sql_hold *hold, const ppi_sql_place *place);
// ppi_sql_hold_finish writes the remaining rows.
void ppi_sql_hold_finish(ppi_sql_hold *hold);
void ppi_sql_hold_clear(ppi_sql_hold *hold);
