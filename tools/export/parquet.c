// SPDX-License-Identifier: Apache-2.0
//
// Writes the format `parquet`: a folder for each run below the target's, with a
// file for each table of docs/sql.md. A run's rows are those of the SQLite
// export; DuckDB writes them. A folder gets its name when all of its files are
// whole.
#include "export/parquet.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/output.h"
#include "duckdb/duckdb.h"
#include "export/formats.h"
#include "export/sql.h"
#include "export/sql_schema.h"

const char *const ppi_parquet_tables[] = {
    "run",          "site", "lane",    "device", "stream",    "attribute",
    "host_range",   "mark", "counter", "flow",   "capture",   "total",
    "device_range", "note", "waker",   "call",   "step_cost", NULL};

const ppi_carried ppi_parquet_later[] = {
    {"waker",
     "SELECT CAST(NULL AS BIGINT) AS host_range, CAST(NULL AS BIGINT) AS"
     " address, CAST(NULL AS STRING) AS kind, CAST(NULL AS BIGINT) AS"
     " timed_out, CAST(NULL AS BIGINT) AS tid, CAST(NULL AS BIGINT) AS site,"
     " CAST(NULL AS STRING) AS run, CAST(NULL AS BIGINT) AS rank"
     " WHERE 1 = 0"},
    {NULL, NULL}};

typedef struct parquet {
  ppi_export base;
  const char *folder;
  bool replaces;
  ppi_duck duck;
  ppi_db db;          // the rows of this run
  ppi_export *inner;  // NULL: no run
} parquet;

// ---- rows from SQLite to DuckDB ----

static int append_cell(const ppi_duck_api *duck, void *to, ppi_db *db,
                       sqlite3_stmt *row, int at) {
  switch (db->api->column_type(row, at)) {
    case PPI_SQLITE_NULL:
      return duck->append_null(to);
    case PPI_SQLITE_INTEGER:
      return duck->append_int64(to, db->api->column_int64(row, at));
    case PPI_SQLITE_FLOAT:
      return duck->append_double(to, db->api->column_double(row, at));
    default:
      return duck->append_varchar(to,
                                  (const char *)db->api->column_text(row, at));
  }
}

static void copy_rows(parquet *out, const char *table, sqlite3_stmt *row) {
  const ppi_duck_api *duck = out->duck.api;
  void *to = NULL;
  int code = duck->appender_create(out->duck.connection, NULL, table, &to);
  int num = out->db.api->column_count(row);
  while (code == PPI_DUCK_OK && ppi_db_next(&out->db, row)) {
    for (int i = 0; i < num && code == PPI_DUCK_OK; i++)
      code = append_cell(duck, to, &out->db, row, i);
    if (code == PPI_DUCK_OK) code = duck->appender_end_row(to);
  }
  if (code == PPI_DUCK_OK) code = duck->appender_close(to);
  if (code != PPI_DUCK_OK) ppi_duck_fail(&out->duck, duck->appender_error(to));
  duck->appender_destroy(&to);
  if (ppi_db_failed(&out->db)) ppi_duck_fail(&out->duck, out->db.failure);
}

static const char *text_of(const ppi_page *page) {
  return ppi_tool_must(page->failed ? NULL : page->bytes);
}

// SQLite may keep a text in a column of numbers. Such a value becomes NULL.
static void copy_table(parquet *out, const char *table) {
  ppi_page query = {0};
  if (strcmp(table, "run") == 0)
    ppi_page_text(&query,
                  "SELECT id, uuid, host, CASE typeof(pid) WHEN 'integer' THEN"
                  " pid END, CASE typeof(rank) WHEN 'integer' THEN rank END,"
                  " command, version, base_ns FROM run");
  else
    ppi_page_format(&query, "SELECT * FROM %s", table);
  sqlite3_stmt *row = ppi_db_prepare(&out->db, text_of(&query));
  if (row)
    copy_rows(out, table, row);
  else
    ppi_duck_fail(&out->duck, out->db.failure);
  ppi_db_finalize(&out->db, row);
  ppi_page_clear(&query);
}

static void exec_page(ppi_duck *duck, ppi_page *page) {
  ppi_duck_exec(duck, text_of(page));
  ppi_page_clear(page);
}

// The folders' names have the run and its rank, so the files leave them out.
static void write_table(parquet *out, const char *table, const char *folder) {
  ppi_page path = {0}, text = {0};
  ppi_page_format(&path, "%s/%s.parquet", folder, table);
  ppi_page_format(&text, "COPY (SELECT * EXCLUDE (%s) FROM %s) TO ",
                  strcmp(table, "run") == 0 ? "rank" : "run", table);
  ppi_duck_text(&text, text_of(&path));
  ppi_page_text(&text, " (FORMAT parquet, COMPRESSION zstd)");
  exec_page(&out->duck, &text);
  ppi_page_clear(&path);
}

static bool is_view(const char *table) {
  const ppi_carried *view = ppi_parquet_views;
  while (view->name && strcmp(view->name, table) != 0) view++;
  return view->name != NULL;
}

// A run's files are small: threads cost more than they bring.
static void create_tables(ppi_duck *duck) {
  ppi_duck_exec(duck, "SET threads = 1");
  ppi_duck_exec(duck, ppi_sql_plain_tables);
  for (const ppi_carried *view = ppi_parquet_views; view->name; view++) {
    ppi_page text = {0};
    ppi_page_format(&text, "CREATE VIEW %s AS\n%s", view->name, view->text);
    exec_page(duck, &text);
  }
}

// Writes all tables at once, because views read several, and empties them for
// the next run.
static void write_tables(parquet *out, const char *folder) {
  const char *const *tables = ppi_parquet_tables;
  for (size_t i = 0; tables[i]; i++)
    if (!is_view(tables[i])) copy_table(out, tables[i]);
  for (size_t i = 0; tables[i]; i++) write_table(out, tables[i], folder);
  for (size_t i = 0; tables[i]; i++) {
    ppi_page text = {0};
    if (is_view(tables[i])) continue;
    ppi_page_format(&text, "DELETE FROM %s", tables[i]);
    exec_page(&out->duck, &text);
  }
}

// ---- folders ----

static void fail_at(parquet *out, const char *path, const char *how) {
  ppi_page text = {0};
  ppi_page_format(&text, "%s: %s", path, how);
  ppi_duck_fail(&out->duck, text_of(&text));
  ppi_page_clear(&text);
}

static void fail_write(parquet *out, const char *path) {
  char how[256];
  snprintf(how, sizeof how, "cannot write: %s", strerror(errno));
  fail_at(out, path, how);
}

static bool can_be_name(const char *uuid) {
  return uuid && *uuid && *uuid != '.' &&
         !uuid[strspn(uuid,
                      "0123456789abcdefghijklmnopqrstuvwxyz"
                      "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.")];
}

// A rank must be a number.
static const char *rank_name(const char *rank) {
  bool is_number =
      rank && *rank && strlen(rank) < 10 && !rank[strspn(rank, "0123456789")];
  return is_number ? rank : PPI_PARQUET_NO_RANK;
}

static void settle(parquet *out, const char *part, const char *path) {
  bool is_there = access(path, F_OK) == 0;
  if (is_there && !out->replaces) {
    fail_at(out, path, "exists; --force replaces it");
    return;
  }
  if (is_there) ppi_tool_remove_folder(path);
  if (rename(part, path) != 0) fail_write(out, path);
}

static void write_run(parquet *out) {
  const ppi_export_run *run = ppi_export_run_of(out->inner);
  ppi_page path = {0}, part = {0}, inner = {0};
  ppi_page_format(&path, "%s/run=%s", out->folder, run->uuid);
  ppi_page_format(&part, "%s/" PPI_PARQUET_PART "%s.%ld", out->folder,
                  run->uuid, (long)getpid());
  ppi_page_format(&inner, "%s/rank=%s", text_of(&part), rank_name(run->rank));
  if (mkdir(part.bytes, 0777) != 0 || mkdir(text_of(&inner), 0777) != 0) {
    fail_write(out, part.bytes);
  } else {
    write_tables(out, inner.bytes);
    if (!ppi_duck_failed(&out->duck)) settle(out, part.bytes, text_of(&path));
  }
  if (ppi_duck_failed(&out->duck)) ppi_tool_remove_folder(part.bytes);
  ppi_page_clear(&path);
  ppi_page_clear(&part);
  ppi_page_clear(&inner);
}

// ---- runs ----

static void clear_run(parquet *out) {
  if (out->inner) ppi_export_destroy(out->inner);
  out->base.also = NULL;
  out->inner = NULL;
  ppi_db_close(&out->db);
}

static pprof_status end_run(parquet *out) {
  pprof_error error = {""};
  if (out->inner) {
    if (out->inner->format->close(out->inner, &error) != PPROF_STATUS_OK)
      ppi_duck_fail(&out->duck, error.text);
    if (!ppi_duck_failed(&out->duck)) write_run(out);
  }
  clear_run(out);
  return ppi_duck_failed(&out->duck) ? PPROF_STATUS_IO : PPROF_STATUS_OK;
}

// Rows beyond SQLite's cache go to a file that SQLite removes by itself.
static void begin(ppi_export *export, const pprof_run_info *info) {
  parquet *out = (parquet *)export;
  pprof_error error = {""};
  export->status = end_run(out);
  if (export->status != PPROF_STATUS_OK) return;
  if (!can_be_name(pprof_run_info_text(info, "uuid"))) {
    ppi_duck_fail(&out->duck, "a run has no uuid that a folder can be called");
    export->status = PPROF_STATUS_INVALID;
    return;
  }
  export->status = ppi_db_open(&out->db, "", PPI_DB_NEW, &error);
  if (export->status == PPROF_STATUS_OK)
    out->inner = ppi_sql_create(&out->db, &error);
  if (out->inner) {
    export->also = &out->inner->sink;
    return;
  }
  export->status = PPROF_STATUS_IO;
  ppi_duck_fail(&out->duck, error.text);
}

// Writes the run at its finish, so that an error names the log.
static void finish(ppi_export *export, const pprof_totals *totals) {
  (void)totals;
  export->status = end_run((parquet *)export);
}

static pprof_status close_parquet(ppi_export *export, pprof_error *error) {
  parquet *out = (parquet *)export;
  if (end_run(out) == PPROF_STATUS_OK) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_IO, "%s", out->duck.failure);
}

static void clear_parquet(ppi_export *export) {
  parquet *out = (parquet *)export;
  clear_run(out);
  ppi_duck_close(&out->duck);
}

static bool open_parquet(ppi_export *export, const ppi_export_target *target,
                         pprof_error *error) {
  parquet *made = (parquet *)export;
  made->folder = target->path;
  made->replaces = target->replaces;
  if (ppi_duck_open(&made->duck, error) != PPROF_STATUS_OK) return false;
  create_tables(&made->duck);
  bool failed = ppi_duck_failed(&made->duck);
  if (failed) ppi_fail(error, PPROF_STATUS_IO, "%s", made->duck.failure);
  return !failed;
}

const ppi_export_format ppi_format_parquet = {
    .name = "parquet",
    .ending = ".parquet",
    .holds = "all of the log, in a folder for each run",
    .opened_by = "DuckDB, Spark, pandas, polars; pprof-report fleet",
    .parts = PPI_PART_ALL,
    .is_folder = true,
    .size = sizeof(parquet),
    .open = open_parquet,
    .begin = begin,
    .finish = finish,
    .close = close_parquet,
    .clear = clear_parquet,
};
