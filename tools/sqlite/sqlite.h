// SPDX-License-Identifier: Apache-2.0
//
// The part of SQLite's C interface that is needed, from the system's
// libsqlite3.so.0 where there is one: who never asks for it needs no library.
// The functions are called as SQLite documents them. Main thread only.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

#define PPI_SQLITE_FUNCTIONS(X)                                               \
  X(int, open_v2, (const char *, sqlite3 **, int, const char *))              \
  X(int, close_v2, (sqlite3 *))                                               \
  X(int, exec,                                                                \
    (sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, \
     char **))                                                                \
  X(int, prepare_v2,                                                          \
    (sqlite3 *, const char *, int, sqlite3_stmt **, const char **))           \
  X(int, bind_int64, (sqlite3_stmt *, int, int64_t))                          \
  X(int, bind_double, (sqlite3_stmt *, int, double))                          \
  X(int, bind_null, (sqlite3_stmt *, int))                                    \
  X(int, bind_text,                                                           \
    (sqlite3_stmt *, int, const char *, int, void (*)(void *)))               \
  X(int, step, (sqlite3_stmt *))                                              \
  X(int, reset, (sqlite3_stmt *))                                             \
  X(int, finalize, (sqlite3_stmt *))                                          \
  X(int, stmt_readonly, (sqlite3_stmt *))                                     \
  X(int, column_count, (sqlite3_stmt *))                                      \
  X(const char *, column_name, (sqlite3_stmt *, int))                         \
  X(int, column_type, (sqlite3_stmt *, int))                                  \
  X(int64_t, column_int64, (sqlite3_stmt *, int))                             \
  X(double, column_double, (sqlite3_stmt *, int))                             \
  X(const unsigned char *, column_text, (sqlite3_stmt *, int))                \
  X(int, column_bytes, (sqlite3_stmt *, int))                                 \
  X(const char *, errmsg, (sqlite3 *))                                        \
  X(int, limit, (sqlite3 *, int, int))                                        \
  X(int, db_config, (sqlite3 *, int, ...))                                    \
  X(void, progress_handler, (sqlite3 *, int, int (*)(void *), void *))

typedef struct ppi_sqlite {
#define PPI_SQLITE_FIELD_(result, name, arguments) result(*name) arguments;
  PPI_SQLITE_FUNCTIONS(PPI_SQLITE_FIELD_)
#undef PPI_SQLITE_FIELD_
} ppi_sqlite;

// SQLite's values, as its own header has them.
enum {
  PPI_SQLITE_OK = 0,
  PPI_SQLITE_ROW = 100,
  PPI_SQLITE_DONE = 101,
  PPI_SQLITE_INTEGER = 1,
  PPI_SQLITE_FLOAT = 2,
  PPI_SQLITE_NULL = 5
};

// ppi_sqlite_get answers the functions. Errors: NULL after `error` says that
// there is no such library, and how to get one.
const ppi_sqlite *ppi_sqlite_get(pprof_error *error);

typedef enum ppi_db_mode {
  PPI_DB_NEW,     // a file that is ours: no journal
  PPI_DB_MEMORY,  // `path` is not looked at
  PPI_DB_FOREIGN  // read only; nothing in it is trusted, and of it only tables
                  // answer: a view may never end
} ppi_db_mode;

typedef struct ppi_db {
  const ppi_sqlite *api;
  sqlite3 *handle;
  char failure[256];  // the first one; then all calls do nothing
  uint64_t ends_ns;   // by CLOCK_MONOTONIC; 0: whenever it is done
  bool is_late;       // and was ended for that
} ppi_db;

// Errors of opening: UNSUPPORTED (no library), IO. Close in any case.
pprof_status ppi_db_open(ppi_db *db, const char *path, ppi_db_mode mode,
                         pprof_error *error);
void ppi_db_close(ppi_db *db);
// ppi_db_fail keeps SQLite's message unless one is kept already.
void ppi_db_fail(ppi_db *db);
// ppi_db_limit_time ends, as failed, what still runs after `ns`. The database
// stays where it is until it is closed.
void ppi_db_limit_time(ppi_db *db, uint64_t ns);
static inline bool ppi_db_failed(const ppi_db *db) {
  return *db->failure;
}
void ppi_db_exec(ppi_db *db, const char *text);
// NULL when it fails, or `text` is not one statement; to be finalized by
// ppi_db_finalize, which takes NULL.
sqlite3_stmt *ppi_db_prepare(ppi_db *db, const char *text);
void ppi_db_finalize(ppi_db *db, sqlite3_stmt *statement);
// ppi_db_row runs a statement that answers nothing, and readies it for the next
// values. What is bound stays.
void ppi_db_row(ppi_db *db, sqlite3_stmt *statement);
// ppi_db_next answers whether there is another row.
bool ppi_db_next(ppi_db *db, sqlite3_stmt *statement);
// Values of place `at`, from 1. A text is copied; NULL and absent are NULL.
void ppi_db_int(ppi_db *db, sqlite3_stmt *statement, int at, uint64_t value);
void ppi_db_int_if(ppi_db *db, sqlite3_stmt *statement, int at, bool known,
                   uint64_t value);
void ppi_db_real_if(ppi_db *db, sqlite3_stmt *statement, int at, bool known,
                    double value);
void ppi_db_text(ppi_db *db, sqlite3_stmt *statement, int at,
                 const char *value);

PPROF_END_C_
