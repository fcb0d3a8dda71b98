// SPDX-License-Identifier: Apache-2.0
//
// A log in SQLite, in the schema of docs/sql.md. One thread.
#pragma once

#include "export/export.h"
#include "sqlite/sqlite.h"

// ppi_sql_create fills `db`, which stays the caller's and outlives the export.
// Errors: NO_MEMORY, IO.
pprof_status ppi_sql_create(ppi_db *db, ppi_export **out, pprof_error *error);
// As nsys writes it, as far as it is ours to tell.
pprof_status ppi_sql_create_nsys(ppi_db *db, ppi_export **out,
                                 pprof_error *error);

// ppi_sql_add_views puts the views of the schema beside a file of somebody
// else's that has its tables: of such a file views are not asked.
void ppi_sql_add_views(ppi_db *db);
