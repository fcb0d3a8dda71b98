// SPDX-License-Identifier: Apache-2.0
//
// Reads the SQLite file of `nsys export`.
#include "import/nsys.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "file/digits.h"
#include "import/convert.h"
#include "import/foreign.h"
#include "json/hash.h"
#include "sqlite/sqlite.h"

// Kinds of rows; the first three are nsys's own numbers.
enum {
  MARK = 34,
  PUSH_POP = 59,
  START_END = 60,
  CALL = 1,
  WORK = 2,
  PROCESS = 3,
  THREAD = 4
};

// Every query answers these columns.
enum { KIND, CATEGORY, NAME, OWNER, START, END, ID, DEVICE, STREAM, BYTES };

#define TEXT(id) "(SELECT value FROM StringIds WHERE id = " id ")"

static const struct query {
  const char *table, *columns, *text;  // columns: with blanks between them
} queries[] = {
    {"PROCESSES", "name globalPid",
     "SELECT 3, NULL, name, globalPid, 0, 0, 0, 0, 0, NULL FROM PROCESSES"},
    {"ThreadNames", "nameId globalTid",
     "SELECT 4, NULL, " TEXT("nameId") ", globalTid, 0, 0, 0, 0,"
                                       " 0, NULL FROM ThreadNames"},
    {"NVTX_EVENTS",
     "start end eventType category text textId globalTid domainId",
     "SELECT e.eventType, c.name, COALESCE(e.text, " TEXT(
         "e.textId") "),"
                     " e.globalTid, e.start, e.\"end\", e.rowid, 0, 0, NULL"
                     " FROM NVTX_EVENTS e LEFT JOIN (SELECT category, domainId,"
                     " MIN(COALESCE(text, " TEXT(
                         "textId") ")) AS name FROM NVTX_EVENTS"
                                   " WHERE eventType = 33 GROUP BY category, "
                                   "domainId) c ON c.category = e.category AND "
                                   "c.domainId = e.domainId WHERE e.eventType "
                                   "IN (34, 59, 60)"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start end nameId globalTid correlationId",
     "SELECT 1, 'cuda_runtime', " TEXT(
         "nameId") ", globalTid, start, \"end\","
                   " correlationId, 0, 0, NULL FROM "
                   "CUPTI_ACTIVITY_KIND_RUNTIME"},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     "start end demangledName globalPid correlationId deviceId streamId",
     "SELECT 2, 'kernel', " TEXT(
         "demangledName") ", globalPid, start, \"end\","
                          " correlationId, deviceId, streamId, NULL"
                          " FROM CUPTI_ACTIVITY_KIND_KERNEL"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     "start end copyKind bytes globalPid correlationId deviceId streamId",
     "SELECT 2, 'gpu_memcpy', CASE copyKind WHEN 1 THEN 'Memcpy HtoD' WHEN 2"
     " THEN 'Memcpy DtoH' WHEN 8 THEN 'Memcpy DtoD' WHEN 10 THEN 'Memcpy PtoP'"
     " ELSE 'Memcpy' END, globalPid, start, \"end\", correlationId, deviceId,"
     " streamId, bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY"},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     "start end bytes globalPid correlationId deviceId streamId",
     "SELECT 2, 'gpu_memset', 'Memset', globalPid, start, \"end\","
     " correlationId, deviceId, streamId, bytes"
     " FROM CUPTI_ACTIVITY_KIND_MEMSET"},
    // One row a graph, for files without the graph's kernels.
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     "start end graphId globalPid correlationId deviceId streamId",
     "SELECT 2, 'kernel', 'CUDA graph ' || graphId, globalPid, start, \"end\","
     " correlationId, deviceId, streamId, NULL"
     " FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE"},
};
enum { NUM_QUERIES = sizeof(queries) / sizeof(queries[0]) };

struct ppi_nsys {
  ppi_db db;
  sqlite3_stmt *rows;           // of a query
  char lacks[NUM_QUERIES][32];  // by query: a column that its table lacks
  bool has_twins;               // processes of several machines share a number
};

bool ppi_nsys_is_sqlite(const void *head, size_t len) {
  static const char magic[] = "SQLite format 3";
  return len >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

// Whether the query has a row for these texts.
static bool answers(ppi_nsys *nsys, const char *query, const char *first,
                    const char *second) {
  sqlite3_stmt *rows = ppi_db_prepare(&nsys->db, query);
  if (!rows) return false;
  ppi_db_text(&nsys->db, rows, 1, first);
  if (second) ppi_db_text(&nsys->db, rows, 2, second);
  bool found = ppi_db_next(&nsys->db, rows);
  ppi_db_finalize(&nsys->db, rows);
  return found;
}

// A view of that name does not count.
static bool has_table(ppi_nsys *nsys, const char *name) {
  return answers(
      nsys, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?",
      name, NULL);
}

static bool has_column(ppi_nsys *nsys, const char *table, const char *name) {
  return answers(nsys, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?",
                 table, name);
}

// Versions of nsys differ. `lacks` is the first column that the table lacks;
// "": none.
static void find_lacking(ppi_nsys *nsys, const char *table, const char *columns,
                         char lacks[32]) {
  char name[32] = "";
  lacks[0] = '\0';
  for (size_t len; *columns; columns += len + (columns[len] == ' ')) {
    len = strcspn(columns, " ");
    snprintf(name, sizeof name, "%.*s", (int)len, columns);
    if (has_column(nsys, table, name)) continue;
    memcpy(lacks, name, sizeof name);
    return;
  }
}

static bool has_columns(ppi_nsys *nsys, const char *table,
                        const char *columns) {
  char lacks[32];
  if (!has_table(nsys, table)) return false;
  find_lacking(nsys, table, columns, lacks);
  return !*lacks;
}

static uint64_t first_number(ppi_nsys *nsys, const char *query) {
  sqlite3_stmt *rows = ppi_db_prepare(&nsys->db, query);
  bool found = rows && ppi_db_next(&nsys->db, rows);
  int64_t number = found ? nsys->db.api->column_int64(rows, 0) : 0;
  ppi_db_finalize(&nsys->db, rows);
  return number > 0 ? (uint64_t)number : 0;
}

// The tool that wrote the file, by its tables; NULL: unknown.
static const char *find_foreign(ppi_nsys *nsys) {
  const char *what = NULL;
  sqlite3_stmt *rows = ppi_db_prepare(
      &nsys->db,
      "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
  while (rows && !what && ppi_db_next(&nsys->db, rows)) {
    const char *name = (const char *)nsys->db.api->column_text(rows, 0);
    what = name ? ppi_foreign_table(name) : NULL;
  }
  ppi_db_finalize(&nsys->db, rows);
  return what;
}

static pprof_status fail_on_column(const char *path, const char *table,
                                   const char *column, pprof_error *error) {
  return ppi_fail(error, PPROF_STATUS_INVALID,
                  "%s: its table %s has no column '%s'; another version of nsys"
                  " may write it",
                  path, table, column);
}

// A table that lacks a column is not read. If no table is left, the error names
// the column.
static pprof_status look_at_columns(ppi_nsys *nsys, const char *path,
                                    pprof_error *error) {
  size_t lacking = NUM_QUERIES, num_read = 0;
  if (!has_columns(nsys, "StringIds", "id value"))
    return fail_on_column(path, "StringIds", "value", error);
  for (size_t i = 0; i < NUM_QUERIES; i++) {
    const struct query *query = &queries[i];
    if (!has_table(nsys, query->table)) continue;
    find_lacking(nsys, query->table, query->columns, nsys->lacks[i]);
    bool has_times = strstr(query->columns, "start");
    if (*nsys->lacks[i] && has_times)
      lacking = i;
    else
      num_read += has_times;
  }
  return num_read == 0 && lacking < NUM_QUERIES && !ppi_db_failed(&nsys->db)
             ? fail_on_column(path, queries[lacking].table,
                              nsys->lacks[lacking], error)
             : PPROF_STATUS_OK;
}

static pprof_status look(ppi_nsys *nsys, const char *path, pprof_error *error) {
  bool is_own = has_table(nsys, "host_range");
  bool has_any = has_table(nsys, "NVTX_EVENTS") ||
                 has_table(nsys, "CUPTI_ACTIVITY_KIND_KERNEL") ||
                 has_table(nsys, "CUPTI_ACTIVITY_KIND_RUNTIME");
  if (ppi_db_failed(&nsys->db))
    return ppi_fail(error, PPROF_STATUS_INVALID, "%s: %s", path,
                    nsys->db.failure);
  if (is_own)
    return ppi_fail(error, PPROF_STATUS_INVALID,
                    "%s: made by `export sqlite`; `pprof-report sql` asks it, "
                    "tables need the log",
                    path);
  if (has_any && has_table(nsys, "StringIds"))
    return look_at_columns(nsys, path, error);
  const char *foreign = find_foreign(nsys);
  return ppi_fail(error, PPROF_STATUS_INVALID, "%s: %s", path,
                  foreign ? foreign
                          : "no file of nsys: there is no NVTX_EVENTS and no "
                            "CUPTI_ACTIVITY_KIND_... with StringIds");
}

// Processes of several machines may share a number.
static void find_twins(ppi_nsys *nsys) {
  if (has_columns(nsys, "PROCESSES", "globalPid pid"))
    nsys->has_twins =
        first_number(nsys,
                     "SELECT COUNT(DISTINCT globalPid) > COUNT(DISTINCT pid)"
                     " FROM PROCESSES");
}

pprof_status ppi_nsys_open(const char *path, ppi_nsys **out,
                           pprof_error *error) {
  ppi_nsys *made = ppi_tool_must(ppi_alloc(sizeof *made));
  pprof_status status = ppi_db_open(&made->db, path, PPI_DB_FOREIGN, error);
  if (status == PPROF_STATUS_OK) status = look(made, path, error);
  if (status == PPROF_STATUS_OK) {
    find_twins(made);
    *out = made;
  } else {
    ppi_nsys_close(made);
  }
  return status;
}

void ppi_nsys_close(ppi_nsys *nsys) {
  if (!nsys) return;
  if (nsys->rows) ppi_db_finalize(&nsys->db, nsys->rows);
  if (nsys->db.api) ppi_db_close(&nsys->db);
  ppi_free(nsys);
}

const char *ppi_nsys_failure(const ppi_nsys *nsys) {
  return ppi_db_failed(&nsys->db) ? nsys->db.failure : NULL;
}

// ---- what is not read ----

// Tables with times, except nsys's messages about itself.
static const char event_tables[] =
    "SELECT name, 'SELECT COUNT(*) FROM \"' || replace(name, '\"', '\"\"')"
    " || '\"' FROM sqlite_master m WHERE type = 'table'"
    " AND sql NOT LIKE 'CREATE VIRTUAL%' AND name <> 'DIAGNOSTIC_EVENT'"
    " AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) c"
    " WHERE c.name IN ('start', 'timestamp')) ORDER BY name";

static bool is_read(const char *table) {
  for (size_t i = 0; i < NUM_QUERIES; i++)
    if (strcmp(queries[i].table, table) == 0) return true;
  return false;
}

// A name shows only letters, digits and _.
static void put_table(char *text, size_t size, uint64_t num, const char *name,
                      const char *lacks) {
  size_t len = strlen(text);
  int added =
      snprintf(text + len, size - len, "%s%" PRIu64 " of %.40s%s%s",
               len ? ", " : "", num, name, *lacks ? " without " : "", lacks);
  if (added < 0 || (size_t)added >= size - len) {
    snprintf(text + len, size - len, ", ...");
    return;
  }
  for (char *at = text + len + (len ? 2 : 0); *at; at++)
    if (!isalnum((unsigned char)*at) && !strchr("_ ", *at)) *at = '?';
}

uint64_t ppi_nsys_left_out(ppi_nsys *nsys, char *text, size_t size) {
  sqlite3_stmt *tables = ppi_db_prepare(&nsys->db, event_tables);
  uint64_t sum = 0;
  text[0] = '\0';
  while (tables && ppi_db_next(&nsys->db, tables)) {
    const char *name = (const char *)nsys->db.api->column_text(tables, 0);
    const char *query = (const char *)nsys->db.api->column_text(tables, 1);
    uint64_t num =
        name && query && !is_read(name) ? first_number(nsys, query) : 0;
    if (num) put_table(text, size, num, name, "");
    sum += num;
  }
  ppi_db_finalize(&nsys->db, tables);
  return sum;
}

uint64_t ppi_nsys_lacking(ppi_nsys *nsys, char *text, size_t size) {
  uint64_t sum = 0;
  text[0] = '\0';
  for (size_t i = 0; i < NUM_QUERIES; i++) {
    char query[96];
    if (!*nsys->lacks[i] || !strstr(queries[i].columns, "start")) continue;
    snprintf(query, sizeof query, "SELECT COUNT(*) FROM %s", queries[i].table);
    uint64_t num = first_number(nsys, query);
    if (num) put_table(text, size, num, queries[i].table, nsys->lacks[i]);
    sum += num;
  }
  return sum;
}

// ---- rows ----

static int64_t number_at(const ppi_nsys *nsys, int column) {
  return nsys->db.api->column_int64(nsys->rows, column);
}
static bool is_null_at(const ppi_nsys *nsys, int column) {
  return nsys->db.api->column_type(nsys->rows, column) == PPI_SQLITE_NULL;
}
static const char *text_at(const ppi_nsys *nsys, int column,
                           const char *fallback) {
  const char *text =
      (const char *)nsys->db.api->column_text(nsys->rows, column);
  return text ? text : fallback;
}

// ---- the members of an event ----

#define ARG(name) (PPI_NUM_KEYS + PPI_ARG_##name)

// The texts of the values also decide the run's uuid.
static void put(ppi_importer *importer, int key, ppi_json_kind kind,
                const char *text, size_t len) {
  ppi_hash_more(importer->hash, text, len);
  ppi_fields_put(&importer->fields, key,
                 &(ppi_json_token){kind, text, len, NAN});
}

static void put_text(ppi_importer *importer, int key, const char *text) {
  put(importer, key, PPI_JSON_STRING, text, strlen(text));
}

static void put_digits(ppi_importer *importer, int key, int64_t number,
                       char *(*digits)(char *at, uint64_t number)) {
  char text[1 + PPI_DIGITS_MOST] = "-";
  uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  char *end = digits(text + (number < 0), size);
  put(importer, key, PPI_JSON_NUMBER, text, (size_t)(end - text));
}

static void put_number(ppi_importer *importer, int key, int64_t number) {
  put_digits(importer, key, number, ppi_digits_u64);
}

// Keeps uuids as they were when arguments were an object of JSON.
static void begin_args(ppi_importer *importer) {
  ppi_hash_more(importer->hash, "", 0);
}

// Microseconds with the three digits of nanoseconds.
static void put_us(ppi_importer *importer, int key, int64_t ns) {
  put_digits(importer, key, ns, ppi_digits_us);
}

static int64_t process_at(const ppi_nsys *nsys) {
  uint64_t process = (uint64_t)number_at(nsys, OWNER) >> 24;
  return (int64_t)(nsys->has_twins ? process : process & 0xffffff);
}

static void put_thread(const ppi_nsys *nsys, ppi_importer *importer) {
  put_number(importer, PPI_FIELD_PID, process_at(nsys));
  put_number(importer, PPI_FIELD_TID, number_at(nsys, OWNER) & 0xffffff);
}

static void take_meta(const ppi_nsys *nsys, ppi_importer *importer,
                      int64_t kind) {
  ppi_fields_begin(&importer->fields);
  put_text(importer, PPI_FIELD_PH, "M");
  put_text(importer, PPI_FIELD_NAME,
           kind == PROCESS ? "process_name" : "thread_name");
  put_thread(nsys, importer);
  begin_args(importer);
  put_text(importer, ARG(NAME), text_at(nsys, NAME, ""));
  ppi_convert(importer);
}

// A correlation id is unique only in its process.
static void put_ids(const ppi_nsys *nsys, ppi_importer *importer,
                    int64_t kind) {
  uint64_t id = ((uint64_t)process_at(nsys) & 0xfffff) << 32 |
                ((uint64_t)number_at(nsys, ID) & 0xffffffff);
  begin_args(importer);
  put_number(importer, ARG(CORRELATION), (int64_t)id);
  if (kind == WORK) {
    put_number(importer, ARG(DEVICE), number_at(nsys, DEVICE));
    put_number(importer, ARG(STREAM), number_at(nsys, STREAM));
    if (!is_null_at(nsys, OWNER))
      put_number(importer, ARG(OWNER), process_at(nsys));
  }
  if (!is_null_at(nsys, BYTES))
    put_number(importer, ARG(BYTES), number_at(nsys, BYTES));
}

static void begin_event(const ppi_nsys *nsys, ppi_importer *importer,
                        const char *phase, int64_t kind) {
  char gpu[32];
  ppi_fields_begin(&importer->fields);
  put_text(importer, PPI_FIELD_PH, phase);
  put_text(importer, PPI_FIELD_CAT, text_at(nsys, CATEGORY, "UserDefined"));
  put_text(importer, PPI_FIELD_NAME, text_at(nsys, NAME, ""));
  if (kind != WORK) {
    put_thread(nsys, importer);
    return;
  }
  snprintf(gpu, sizeof gpu, "GPU %" PRId64, number_at(nsys, DEVICE));
  put_text(importer, PPI_FIELD_PID, gpu);
  put_number(importer, PPI_FIELD_TID, number_at(nsys, STREAM));
}

// A range between two threads becomes a begin and an end with one id.
static void take_loose_end(const ppi_nsys *nsys, ppi_importer *importer,
                           const char *phase, int column) {
  begin_event(nsys, importer, phase, START_END);
  put_us(importer, PPI_FIELD_TS, number_at(nsys, column));
  put_number(importer, PPI_FIELD_ID, number_at(nsys, ID));
  ppi_convert(importer);
}

static void take_row(const ppi_nsys *nsys, ppi_importer *importer) {
  int64_t kind = number_at(nsys, KIND);
  bool has_end = !is_null_at(nsys, END);
  if (kind == PROCESS || kind == THREAD) {
    take_meta(nsys, importer, kind);
    return;
  }
  if (kind == START_END) {
    take_loose_end(nsys, importer, "b", START);
    if (has_end) take_loose_end(nsys, importer, "e", END);
    return;
  }
  begin_event(nsys, importer, kind == MARK ? "i" : "X", kind);
  put_us(importer, PPI_FIELD_TS, number_at(nsys, START));
  if (kind != MARK && has_end) {
    uint64_t length =
        (uint64_t)number_at(nsys, END) - (uint64_t)number_at(nsys, START);
    put_us(importer, PPI_FIELD_DUR, (int64_t)length);
  }
  if (kind == CALL || kind == WORK) put_ids(nsys, importer, kind);
  ppi_convert(importer);
}

static void take_models(ppi_nsys *nsys, ppi_importer *importer) {
  if (!has_columns(nsys, "TARGET_INFO_GPU", "name")) return;
  sqlite3_stmt *rows = ppi_db_prepare(
      &nsys->db, "SELECT DISTINCT name FROM TARGET_INFO_GPU ORDER BY 1");
  while (rows && ppi_db_next(&nsys->db, rows)) {
    const char *name = (const char *)nsys->db.api->column_text(rows, 0);
    importer->header.dialects |= PPI_IS_PYTORCH;
    if (name) ppi_import_model(importer, name, strlen(name));
  }
  ppi_db_finalize(&nsys->db, rows);
}

void ppi_nsys_read(ppi_nsys *nsys, ppi_importer *importer) {
  importer->header.has_base = true;
  if (has_columns(nsys, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs"))
    importer->header.base_ns = (int64_t)first_number(
        nsys, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME");
  take_models(nsys, importer);
  for (size_t i = 0; i < NUM_QUERIES && !ppi_db_failed(&nsys->db); i++) {
    if (!has_table(nsys, queries[i].table) || *nsys->lacks[i]) continue;
    nsys->rows = ppi_db_prepare(&nsys->db, queries[i].text);
    while (nsys->rows && ppi_db_next(&nsys->db, nsys->rows))
      take_row(nsys, importer);
    ppi_db_finalize(&nsys->db, nsys->rows);
    nsys->rows = NULL;
  }
}
