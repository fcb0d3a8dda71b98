// SPDX-License-Identifier: Apache-2.0
#include "duckdb/duckdb.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static ppi_duck_api functions;
static bool is_loaded;

static bool take_functions(void *library) {
  static const struct symbol {
    const char *name;
    size_t at;
  } symbols[] = {
#define SYMBOL(result, name, arguments) \
  {"duckdb_" #name, offsetof(ppi_duck_api, name)},
      PPI_DUCK_FUNCTIONS(SYMBOL)};
  for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
    void *found = dlsym(library, symbols[i].name);
    if (!found) return false;
    memcpy((char *)&functions + symbols[i].at, &found, sizeof found);
  }
  return true;
}

// Python's module of DuckDB is the whole library, but it needs Python's names:
// "_duckdb.cpython-311-x86_64-linux-gnu.so" those of libpython3.11.so.1.0.
static void load_python_for(const char *path) {
  char soname[64], digits[4] = "";
  const char *version = strstr(path, ".cpython-3");
  if (!version || sscanf(version, ".cpython-3%3[0-9]", digits) != 1) return;
  snprintf(soname, sizeof soname, "libpython3.%s.so.1.0", digits);
  dlopen(soname, RTLD_LAZY | RTLD_GLOBAL);
}

// NULL: `error` says what stands against it.
static void *load(pprof_error *error) {
  const char *named = getenv("PPROF_DUCKDB");
  bool is_named = named && *named;
  if (is_named) load_python_for(named);
  void *library =
      dlopen(is_named ? named : "libduckdb.so", RTLD_LAZY | RTLD_LOCAL);
  if (library && take_functions(library)) return library;
  if (is_named)
    ppi_fail(error, PPROF_STATUS_UNSUPPORTED, "PPROF_DUCKDB: %s",
             library ? "that is no DuckDB of version 1.2 or later" : dlerror());
  else
    ppi_fail(error, PPROF_STATUS_UNSUPPORTED,
             "there is no libduckdb.so: PPROF_DUCKDB names it, or the module "
             "of `pip install duckdb`: docs/scale.md; a static pprof-report "
             "cannot load it");
  if (library) dlclose(library);
  return NULL;
}

pprof_status ppi_duck_open(ppi_duck *db, pprof_error *error) {
  *db = (ppi_duck){.api = &functions};
  is_loaded = is_loaded || load(error);
  if (!is_loaded) return PPROF_STATUS_UNSUPPORTED;
  if (functions.open(NULL, &db->database) == PPI_DUCK_OK &&
      functions.connect(db->database, &db->connection) == PPI_DUCK_OK)
    return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "DuckDB cannot be opened");
}

void ppi_duck_close(ppi_duck *db) {
  if (db->connection) db->api->disconnect(&db->connection);
  if (db->database) db->api->close(&db->database);
}

void ppi_duck_fail(ppi_duck *db, const char *message) {
  if (ppi_duck_failed(db)) return;
  if (!message || !*message) message = "DuckDB does not say why";
  snprintf(db->failure, sizeof db->failure, "%.*s", (int)strcspn(message, "\n"),
           message);
}

bool ppi_duck_ask(ppi_duck *db, const char *text, ppi_duck_result *out) {
  if (ppi_duck_failed(db)) return false;
  if (db->api->query(db->connection, text, out) == PPI_DUCK_OK) return true;
  ppi_duck_fail(db, db->api->result_error(out));
  db->api->destroy_result(out);
  return false;
}

void ppi_duck_exec(ppi_duck *db, const char *text) {
  ppi_duck_result result;
  if (ppi_duck_ask(db, text, &result)) db->api->destroy_result(&result);
}

bool ppi_duck_is_select(ppi_duck *db, const char *text) {
  enum { SELECT = 1 };
  void *prepared = NULL;
  bool is_wrong =
      db->api->prepare(db->connection, text, &prepared) != PPI_DUCK_OK;
  bool is_it = is_wrong || db->api->prepared_statement_type(prepared) == SELECT;
  db->api->destroy_prepare(&prepared);
  return is_it;
}

// DUCKDB_TYPE_...: whole numbers, reals, and those of 128 bits.
bool ppi_duck_is_number(ppi_duck *db, ppi_duck_result *result,
                        uint64_t column) {
  enum { TINYINT = 2, DOUBLE = 11, HUGEINT = 16, DECIMAL = 19, UHUGEINT = 32 };
  int type = db->api->column_type(result, column);
  return (type >= TINYINT && type <= DOUBLE) || type == HUGEINT ||
         type == DECIMAL || type == UHUGEINT;
}

void ppi_duck_text(ppi_page *page, const char *text) {
  ppi_page_text(page, "'");
  for (; *text; text++) {
    if (*text == '\'') ppi_page_text(page, "'");
    ppi_page_bytes(page, text, 1);
  }
  ppi_page_text(page, "'");
}
