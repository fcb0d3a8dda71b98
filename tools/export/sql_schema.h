// SPDX-License-Identifier: Apache-2.0
//
// The schema that docs/sql.md describes, as SQL.
#ifndef PPI_TOOL_EXPORT_SQL_SCHEMA_H_
#define PPI_TOOL_EXPORT_SQL_SCHEMA_H_

// Tables alone, for filling; then what finds parents; then indexes and views.
extern const char *const ppi_sql_tables;
// The same tables for other engines, without keys.
extern const char *const ppi_sql_plain_tables;
extern const char *const ppi_sql_parents;
extern const char *const ppi_sql_views;

#endif  // PPI_TOOL_EXPORT_SQL_SCHEMA_H_
