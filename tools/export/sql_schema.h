// SPDX-License-Identifier: Apache-2.0
//
// The schema that docs/sql.md describes, as SQL.
#pragma once

#include "sqlite/sqlite.h"

// Tables alone, for filling. Then, in order: parents of host ranges that came
// out of order, an index, parents of device ranges, indexes and views.
extern const char *const ppi_sql_tables;
// The same tables for other engines, without keys.
extern const char *const ppi_sql_plain_tables;
extern const char *const ppi_sql_host_parents;
extern const char *const ppi_sql_places;
extern const char *const ppi_sql_device_parents;
extern const char *const ppi_sql_views;

// The schema of nsys, filled from these tables, and how many device ranges have
// no place there.
extern const char *const ppi_sql_nsys;
extern const char *const ppi_sql_nsys_left;

// ppi_sql_exec_temporary runs the statements of `text` that begin with
// `create`, with `temporary` instead.
void ppi_sql_exec_temporary(ppi_db *db, const char *text, const char *create,
                            const char *temporary);
