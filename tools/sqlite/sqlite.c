// SPDX-License-Identifier: Apache-2.0
//
// Loads the system's SQLite when it is first needed.
#include "sqlite/sqlite.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/wait.h"
#include "file/text.h"
#include "file/utf8.h"

static ppi_sqlite functions;
static bool is_loaded;

static bool load(const char *soname) {
  static const struct symbol {
    const char *name;
    size_t at;
  } symbols[] = {
#define SYMBOL(result, name, arguments) \
  {"sqlite3_" #name, offsetof(ppi_sqlite, name)},
      PPI_SQLITE_FUNCTIONS(SYMBOL)};
  void *library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  if (!library) return false;
  for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
    void *found = dlsym(library, symbols[i].name);
    if (!found) {
      dlclose(library);
      return false;
    }
    memcpy((char *)&functions + symbols[i].at, &found, sizeof found);
  }
  return true;
}

const ppi_sqlite *ppi_sqlite_get(pprof_error *error) {
  if (!is_loaded) is_loaded = load("libsqlite3.so.0") || load("libsqlite3.so");
  if (is_loaded) return &functions;
  ppi_fail(error, PPROF_STATUS_UNSUPPORTED,
           "there is no libsqlite3.so.0 of version 3.31 or later (Debian: "
           "apt install libsqlite3-0); a static pprof-report cannot load it");
  return NULL;
}

// ---- connections ----

enum {
  OPEN_READONLY = 1,
  OPEN_READWRITE = 2,
  OPEN_CREATE = 4,
  OPEN_NOMUTEX = 0x8000,  // a connection is one thread's at a time
  LIMIT_LENGTH = 0,
  LIMIT_SQL_LENGTH = 1,
  LIMIT_ATTACHED = 7,
  CONFIG_TRIGGERS = 1003,
  CONFIG_DEFENSIVE = 1010,
  CONFIG_VIEWS = 1015,
  CONFIG_TRUSTED_SCHEMA = 1017
};

// It may have names of the file in it, which are made visible and cut between
// two characters; a path fits beside it into an error.
void ppi_db_fail(ppi_db *db) {
  enum { MOST = sizeof db->failure * 3 / 4 };
  if (ppi_db_failed(db)) return;
  ppi_page page = {0};
  ppi_page_visible(&page, db->api->errmsg(db->handle));
  const unsigned char *text = (const unsigned char *)page.bytes;
  size_t len = 0;
  for (size_t next = 0; !page.failed && next <= MOST && next <= page.len;) {
    len = next;
    if (next == page.len) break;
    next += ppi_utf8_length(text + next, text + page.len);
  }
  snprintf(db->failure, sizeof db->failure, "%.*s", page.failed ? 13 : (int)len,
           page.failed ? "out of memory" : page.bytes);
  ppi_page_clear(&page);
}

// No view, trigger or index of the file runs a function with effects, its
// internal tables stay as they are, and no second file is opened.
static void distrust(ppi_db *db) {
  db->api->db_config(db->handle, CONFIG_DEFENSIVE, 1, (int *)NULL);
  db->api->db_config(db->handle, CONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
  db->api->limit(db->handle, LIMIT_LENGTH, 64 << 20);
  db->api->limit(db->handle, LIMIT_SQL_LENGTH, 1 << 20);
  db->api->limit(db->handle, LIMIT_ATTACHED, 0);
}

// Those of the database in memory that is beside it (`temp`) go on.
static void refuse_views(ppi_db *db) {
  db->api->db_config(db->handle, CONFIG_VIEWS, 0, (int *)NULL);
  db->api->db_config(db->handle, CONFIG_TRIGGERS, 0, (int *)NULL);
  ppi_db_exec(db, "PRAGMA temp_store=MEMORY");
}

static int is_late(void *context) {
  ppi_db *db = context;
  db->is_late |= ppi_monotonic_ns() >= db->ends_ns;
  return db->is_late;
}

void ppi_db_limit_time(ppi_db *db, uint64_t ns) {
  enum { STEPS_BETWEEN = 1000 };
  uint64_t now = ppi_monotonic_ns();
  db->ends_ns = ns < UINT64_MAX - now ? now + ns : UINT64_MAX;
  db->api->progress_handler(db->handle, STEPS_BETWEEN, is_late, db);
}

pprof_status ppi_db_open(ppi_db *db, const char *path, ppi_db_mode mode,
                         pprof_error *error) {
  *db = (ppi_db){.api = ppi_sqlite_get(error)};
  if (!db->api) return PPROF_STATUS_UNSUPPORTED;
  int flags =
      OPEN_NOMUTEX |
      (mode == PPI_DB_FOREIGN ? OPEN_READONLY : OPEN_READWRITE | OPEN_CREATE);
  if (mode == PPI_DB_MEMORY) path = ":memory:";
  // A new file is locked for us already (file/part.h).
  const char *system = mode == PPI_DB_NEW ? "unix-none" : NULL;
  if (db->api->open_v2(path, &db->handle, flags, system) != PPI_SQLITE_OK)
    return ppi_fail(error, PPROF_STATUS_IO, "%s: cannot open: %s", path,
                    db->handle ? db->api->errmsg(db->handle) : "no memory");
  distrust(db);
  if (mode == PPI_DB_FOREIGN)
    refuse_views(db);
  else
    ppi_db_exec(db,
                "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-65536");
  return PPROF_STATUS_OK;
}

void ppi_db_close(ppi_db *db) {
  if (db->handle) db->api->close_v2(db->handle);
  db->handle = NULL;
}

void ppi_db_exec(ppi_db *db, const char *text) {
  if (ppi_db_failed(db)) return;
  if (db->api->exec(db->handle, text, NULL, NULL, NULL) != PPI_SQLITE_OK)
    ppi_db_fail(db);
}

sqlite3_stmt *ppi_db_prepare(ppi_db *db, const char *text) {
  sqlite3_stmt *statement = NULL, *next = NULL;
  const char *rest;
  if (ppi_db_failed(db)) return NULL;
  if (db->api->prepare_v2(db->handle, text, -1, &statement, &rest) !=
      PPI_SQLITE_OK) {
    ppi_db_fail(db);
    return NULL;
  }
  int code = db->api->prepare_v2(db->handle, rest, -1, &next, NULL);
  if (code == PPI_SQLITE_OK && !next) return statement;
  ppi_db_finalize(db, next);
  ppi_db_finalize(db, statement);
  return NULL;
}

void ppi_db_finalize(ppi_db *db, sqlite3_stmt *statement) {
  if (statement) db->api->finalize(statement);
}

void ppi_db_row(ppi_db *db, sqlite3_stmt *statement) {
  if (ppi_db_failed(db)) return;
  if (db->api->step(statement) != PPI_SQLITE_DONE) ppi_db_fail(db);
  db->api->reset(statement);
}

bool ppi_db_next(ppi_db *db, sqlite3_stmt *statement) {
  if (ppi_db_failed(db)) return false;
  int answer = db->api->step(statement);
  if (answer != PPI_SQLITE_ROW && answer != PPI_SQLITE_DONE) ppi_db_fail(db);
  return answer == PPI_SQLITE_ROW;
}

// ---- values ----

// SQLite's integers are signed; what is beyond is as near as it has.
void ppi_db_int(ppi_db *db, sqlite3_stmt *statement, int at, uint64_t value) {
  if (ppi_db_failed(db)) return;
  int64_t near = value > INT64_MAX ? INT64_MAX : (int64_t)value;
  if (db->api->bind_int64(statement, at, near) != PPI_SQLITE_OK)
    ppi_db_fail(db);
}

static void bind_null(ppi_db *db, sqlite3_stmt *statement, int at) {
  if (ppi_db_failed(db)) return;
  if (db->api->bind_null(statement, at) != PPI_SQLITE_OK) ppi_db_fail(db);
}

void ppi_db_int_if(ppi_db *db, sqlite3_stmt *statement, int at, bool known,
                   uint64_t value) {
  if (known)
    ppi_db_int(db, statement, at, value);
  else
    bind_null(db, statement, at);
}

void ppi_db_real_if(ppi_db *db, sqlite3_stmt *statement, int at, bool known,
                    double value) {
  if (!known) {
    bind_null(db, statement, at);
    return;
  }
  if (ppi_db_failed(db)) return;
  if (db->api->bind_double(statement, at, value) != PPI_SQLITE_OK)
    ppi_db_fail(db);
}

// SQLITE_TRANSIENT: SQLite copies it.
void ppi_db_text(ppi_db *db, sqlite3_stmt *statement, int at,
                 const char *value) {
  void (*copied)(void *);
  const intptr_t minus_one = -1;
  memcpy(&copied, &minus_one, sizeof copied);
  if (!value) {
    bind_null(db, statement, at);
    return;
  }
  if (ppi_db_failed(db)) return;
  if (db->api->bind_text(statement, at, value, -1, copied) != PPI_SQLITE_OK)
    ppi_db_fail(db);
}
