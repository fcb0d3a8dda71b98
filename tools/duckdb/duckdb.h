// SPDX-License-Identifier: Apache-2.0
//
// The part of DuckDB's C interface that is needed, from a library that
// PPROF_DUCKDB names or the system has: who never asks for it needs none. The
// functions are called as DuckDB documents them. Main thread only.
#pragma once

#include "file/text.h"

// As DuckDB's own header has them.
typedef struct ppi_duck_result {
  uint64_t unused[3];
  void *columns;
  char *error;
  void *internal;
} ppi_duck_result;

#define PPI_DUCK_FUNCTIONS(X)                                            \
  X(const char *, library_version, (void))                               \
  X(int, open, (const char *, void **))                                  \
  X(void, close, (void **))                                              \
  X(int, connect, (void *, void **))                                     \
  X(void, disconnect, (void **))                                         \
  X(int, query, (void *, const char *, ppi_duck_result *))               \
  X(void, destroy_result, (ppi_duck_result *))                           \
  X(uint64_t, extract_statements, (void *, const char *, void **))       \
  X(const char *, extract_statements_error, (void *))                    \
  X(void, destroy_extracted, (void **))                                  \
  X(int, prepare, (void *, const char *, void **))                       \
  X(const char *, prepare_error, (void *))                               \
  X(int, execute_prepared, (void *, ppi_duck_result *))                  \
  X(void, destroy_prepare, (void **))                                    \
  X(const char *, result_error, (ppi_duck_result *))                     \
  X(uint64_t, column_count, (ppi_duck_result *))                         \
  X(const char *, column_name, (ppi_duck_result *, uint64_t))            \
  X(int, column_type, (ppi_duck_result *, uint64_t))                     \
  X(uint64_t, row_count, (ppi_duck_result *))                            \
  X(char *, value_varchar, (ppi_duck_result *, uint64_t, uint64_t))      \
  X(void, free, (void *))                                                \
  X(int, appender_create, (void *, const char *, const char *, void **)) \
  X(const char *, appender_error, (void *))                              \
  X(int, appender_destroy, (void **))                                    \
  X(int, appender_close, (void *))                                       \
  X(int, appender_end_row, (void *))                                     \
  X(int, append_int64, (void *, int64_t))                                \
  X(int, append_double, (void *, double))                                \
  X(int, append_null, (void *))                                          \
  X(int, append_varchar, (void *, const char *))

typedef struct ppi_duck_api {
#define PPI_DUCK_FIELD_(result, name, arguments) result(*name) arguments;
  PPI_DUCK_FUNCTIONS(PPI_DUCK_FIELD_)
#undef PPI_DUCK_FIELD_
} ppi_duck_api;

enum { PPI_DUCK_OK = 0 };

// A database in memory.
typedef struct ppi_duck {
  const ppi_duck_api *api;
  void *database, *connection;
  char failure[512];  // the first one; then all calls do nothing
} ppi_duck;

// Errors: UNSUPPORTED, after `error` says that there is no such library and
// how to get one; NO_MEMORY. Close in any case.
pprof_status ppi_duck_open(ppi_duck *db, pprof_error *error);
void ppi_duck_close(ppi_duck *db);
// ppi_duck_fail keeps the message, one line of it, unless one is kept already.
void ppi_duck_fail(ppi_duck *db, const char *message);
static inline bool ppi_duck_failed(const ppi_duck *db) {
  return *db->failure;
}
void ppi_duck_exec(ppi_duck *db, const char *text);
// ppi_duck_ask answers false when it fails; else the result is to be destroyed.
bool ppi_duck_ask(ppi_duck *db, const char *text, ppi_duck_result *out);
// ppi_duck_select does the same for a text that must be one SELECT, which
// changes nothing.
bool ppi_duck_select(ppi_duck *db, const char *text, ppi_duck_result *out);
// Whether values of a column of a result are numbers; whether value_varchar has
// a text for them, or for no value of the whole result.
bool ppi_duck_is_number(ppi_duck *db, ppi_duck_result *result, uint64_t column);
bool ppi_duck_has_text(ppi_duck *db, ppi_duck_result *result, uint64_t column);
// ppi_duck_text puts a text literal of SQL.
void ppi_duck_text(ppi_page *page, const char *text);
