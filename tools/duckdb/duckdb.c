// SPDX-License-Identifier: Apache-2.0
//
// Loads DuckDB's library when it is first needed.
#include "duckdb/duckdb.h"

#include <dlfcn.h>
#include <stdlib.h>

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
             "of `pip install duckdb`: docs/sql.md; a static pprof-report "
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

static const char one_select[] =
    "the query is to be one SELECT: it changes nothing";

// Whether `text` is one statement, of whatever kind: nothing is run.
static bool is_one(ppi_duck *db, const char *text) {
  void *extracted = NULL;
  uint64_t num = db->api->extract_statements(db->connection, text, &extracted);
  const char *wrong = num ? NULL : db->api->extract_statements_error(extracted);
  if (num != 1) ppi_duck_fail(db, wrong && *wrong ? wrong : one_select);
  db->api->destroy_extracted(&extracted);
  return num == 1;
}

// The statement as a table, without its final semicolon. There is a SELECT
// alone, and none that writes in its WITH, as DuckDB 2.0 has it.
static void put_as_table(ppi_page *page, const char *text) {
  size_t len = strlen(text);
  while (len && strchr("; \t\r\n", text[len - 1])) len--;
  ppi_page_text(page, "SELECT * FROM (\n");
  ppi_page_bytes(page, text, len);
  ppi_page_text(page, "\n)");
}

static bool run(ppi_duck *db, const char *text, ppi_duck_result *out) {
  void *prepared = NULL;
  bool is_ok = db->api->prepare(db->connection, text, &prepared) == PPI_DUCK_OK;
  if (!is_ok) {
    const char *wrong = db->api->prepare_error(prepared);
    bool is_other = wrong && strncmp(wrong, "Parser Error", 12) == 0;
    ppi_duck_fail(db, is_other ? one_select : wrong);
  } else if (db->api->execute_prepared(prepared, out) != PPI_DUCK_OK) {
    is_ok = false;
    ppi_duck_fail(db, db->api->result_error(out));
    db->api->destroy_result(out);
  }
  db->api->destroy_prepare(&prepared);
  return is_ok;
}

bool ppi_duck_select(ppi_duck *db, const char *text, ppi_duck_result *out) {
  if (ppi_duck_failed(db) || !is_one(db, text)) return false;
  ppi_page page = {0};
  put_as_table(&page, text);
  if (page.failed) ppi_duck_fail(db, "out of memory");
  bool is_ok = !page.failed && run(db, page.bytes, out);
  ppi_page_clear(&page);
  return is_ok;
}

// DUCKDB_TYPE_...
enum {
  BOOLEAN = 1,
  TINYINT = 2,
  DOUBLE = 11,
  HUGEINT = 16,
  DECIMAL = 19,
  UHUGEINT = 32,
  SQLNULL = 36
};

bool ppi_duck_is_number(ppi_duck *db, ppi_duck_result *result,
                        uint64_t column) {
  int type = db->api->column_type(result, column);
  return (type >= TINYINT && type <= DOUBLE) || type == HUGEINT ||
         type == DECIMAL || type == UHUGEINT;
}

// DuckDB answers NULL for each value of the others, and in all columns.
bool ppi_duck_has_text(ppi_duck *db, ppi_duck_result *result, uint64_t column) {
  int type = db->api->column_type(result, column);
  return (type >= BOOLEAN && type <= DECIMAL) || type == UHUGEINT ||
         type == SQLNULL;
}

void ppi_duck_text(ppi_page *page, const char *text) {
  ppi_page_text(page, "'");
  for (; *text; text++) {
    if (*text == '\'') ppi_page_text(page, "'");
    ppi_page_bytes(page, text, 1);
  }
  ppi_page_text(page, "'");
}
