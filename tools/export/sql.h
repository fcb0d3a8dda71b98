// SPDX-License-Identifier: Apache-2.0
//
// Writes a log into SQLite, in the schema of docs/sql.md. One thread.
#pragma once

#include "export/export.h"
#include "sqlite/sqlite.h"

// ppi_sql_create fills `db`, which stays the caller's and outlives the export.
// NULL after `error`.
ppi_export *ppi_sql_create(ppi_db *db, pprof_error *error);

// ppi_sql_add_views adds the schema's views to a foreign file with the schema's
// tables: the file's own views are not trusted.
void ppi_sql_add_views(ppi_db *db);
