// SPDX-License-Identifier: Apache-2.0
//
// Writes the format `parquet`: a folder for each run below the target's, with a
// file for each table of docs/sql.md. A run's rows are those of the SQLite
// export; DuckDB writes them. A folder gets its name when all of its files are
// whole.
#include "export/parquet.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
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
  pprof_sink sink;
  char *folder;
  bool replaces;
  ppi_duck duck;
  ppi_db db;          // the rows of this run
  ppi_export *inner;  // NULL: no run
  char *uuid, *rank;
} parquet;

static parquet *parquet_of(pprof_sink *sink) {
  return (parquet *)((char *)sink - offsetof(parquet, sink));
}

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
  sqlite3_stmt *row =
      query.failed ? NULL : ppi_db_prepare(&out->db, query.bytes);
  if (row)
    copy_rows(out, table, row);
  else
    ppi_duck_fail(&out->duck, out->db.failure);
  ppi_db_finalize(&out->db, row);
  ppi_page_clear(&query);
}

static void exec_page(ppi_duck *duck, ppi_page *page) {
  if (page->failed)
    ppi_duck_fail(duck, "out of memory");
  else
    ppi_duck_exec(duck, page->bytes);
  ppi_page_clear(page);
}

// The folders' names have the run and its rank, so the files leave them out.
static void write_table(parquet *out, const char *table, const char *folder) {
  ppi_page path = {0}, text = {0};
  ppi_page_format(&path, "%s/%s.parquet", folder, table);
  ppi_page_format(&text, "COPY (SELECT * EXCLUDE (%s) FROM %s) TO ",
                  strcmp(table, "run") == 0 ? "rank" : "run", table);
  if (!path.failed) ppi_duck_text(&text, path.bytes);
  ppi_page_text(&text, " (FORMAT parquet, COMPRESSION zstd)");
  text.failed |= path.failed;
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

static int remove_entry(const char *path, const struct stat *found, int kind,
                        struct FTW *place) {
  (void)found, (void)kind, (void)place;
  return remove(path);
}

static void remove_folder(const char *path) {
  nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void fail_at(parquet *out, const char *path) {
  ppi_page text = {0};
  ppi_page_format(&text, "%s: cannot write: %s", path, strerror(errno));
  ppi_duck_fail(&out->duck, text.failed ? "out of memory" : text.bytes);
  ppi_page_clear(&text);
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
  if (access(path, F_OK) == 0) {
    ppi_page text = {0};
    if (out->replaces) {
      remove_folder(path);
    } else {
      ppi_page_format(&text, "%s: exists; --force replaces it", path);
      ppi_duck_fail(&out->duck, text.failed ? "out of memory" : text.bytes);
      ppi_page_clear(&text);
      return;
    }
  }
  if (rename(part, path) != 0) fail_at(out, path);
}

static void write_run(parquet *out) {
  ppi_page path = {0}, part = {0}, inner = {0};
  ppi_page_format(&path, "%s/run=%s", out->folder, out->uuid);
  ppi_page_format(&part, "%s/" PPI_PARQUET_PART "%s.%ld", out->folder,
                  out->uuid, (long)getpid());
  ppi_page_format(&inner, "%s/rank=%s", part.failed ? "" : part.bytes,
                  rank_name(out->rank));
  if (path.failed || part.failed || inner.failed) {
    ppi_duck_fail(&out->duck, "out of memory");
  } else if (mkdir(part.bytes, 0777) != 0 || mkdir(inner.bytes, 0777) != 0) {
    fail_at(out, part.bytes);
  } else {
    write_tables(out, inner.bytes);
    if (!ppi_duck_failed(&out->duck)) settle(out, part.bytes, path.bytes);
  }
  if (ppi_duck_failed(&out->duck) && !part.failed) remove_folder(part.bytes);
  ppi_page_clear(&path);
  ppi_page_clear(&part);
  ppi_page_clear(&inner);
}

// ---- runs ----

static void clear_run(parquet *out) {
  if (out->inner) out->inner->destroy(out->inner);
  out->inner = NULL;
  ppi_db_close(&out->db);
  free(out->uuid);
  free(out->rank);
  out->uuid = out->rank = NULL;
}

static pprof_status end_run(parquet *out) {
  pprof_error error = {""};
  if (out->inner) {
    if (out->inner->close(out->inner, &error) != PPROF_STATUS_OK)
      ppi_duck_fail(&out->duck, error.text);
    for (size_t i = 0; i < PPI_NUM_PARTS; i++)
      out->base.left[i] += out->inner->left[i];
    if (!ppi_duck_failed(&out->duck)) write_run(out);
  }
  clear_run(out);
  return ppi_duck_failed(&out->duck) ? PPROF_STATUS_IO : PPROF_STATUS_OK;
}

static char *copy_text(const pprof_run_info *info, const char *key) {
  const char *text = pprof_run_info_text(info, key);
  return text ? strdup(text) : NULL;
}

// Rows beyond SQLite's cache go to a file that SQLite removes by itself.
static pprof_status take_begin(pprof_sink *sink, const pprof_run_info *info) {
  parquet *out = parquet_of(sink);
  pprof_error error = {""};
  pprof_status status = end_run(out);
  if (status != PPROF_STATUS_OK) return status;
  out->uuid = copy_text(info, "uuid");
  out->rank = copy_text(info, "rank");
  if (!can_be_name(out->uuid)) {
    ppi_duck_fail(&out->duck, "a run has no uuid that a folder can be called");
    return PPROF_STATUS_INVALID;
  }
  status = ppi_db_open(&out->db, "", PPI_DB_NEW, &error);
  if (status == PPROF_STATUS_OK)
    status = ppi_sql_create(&out->db, false, &out->inner, &error);
  if (status == PPROF_STATUS_OK)
    return out->inner->sink->begin(out->inner->sink, info);
  out->inner = NULL;
  ppi_duck_fail(&out->duck, error.text);
  return status;
}

#define FORWARD(callback, ...)                      \
  pprof_sink *next = parquet_of(sink)->inner->sink; \
  return next->callback ? next->callback(next, __VA_ARGS__) : PPROF_STATUS_OK

static pprof_status take_define(pprof_sink *sink,
                                const pprof_definition *definition) {
  FORWARD(define, definition);
}
static pprof_status take_events(pprof_sink *sink, const pprof_batch *batch) {
  FORWARD(events, batch);
}
static pprof_status take_window(pprof_sink *sink, uint32_t index, bool opens,
                                uint64_t time_ns) {
  FORWARD(window, index, opens, time_ns);
}
// Writes the run at its finish, so that an error names the log.
static pprof_status take_finish(pprof_sink *sink, const pprof_totals *totals) {
  parquet *out = parquet_of(sink);
  pprof_sink *next = out->inner->sink;
  pprof_status status = next->finish(next, totals);
  return status == PPROF_STATUS_OK ? end_run(out) : status;
}

static pprof_status close_parquet(ppi_export *export, pprof_error *error) {
  parquet *out = (parquet *)export;
  if (end_run(out) == PPROF_STATUS_OK) return PPROF_STATUS_OK;
  return ppi_fail(error, PPROF_STATUS_IO, "%s", out->duck.failure);
}

static void destroy_parquet(ppi_export *export) {
  parquet *out = (parquet *)export;
  clear_run(out);
  ppi_duck_close(&out->duck);
  free(out->folder);
  free(out);
}

static pprof_status create_parquet(const ppi_export_target *target,
                                   ppi_export **out, pprof_error *error) {
  parquet *made = calloc(1, sizeof *made);
  if (!made || !(made->folder = strdup(target->path))) {
    free(made);
    return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  }
  made->replaces = target->replaces;
  made->sink = (pprof_sink){.size = sizeof(pprof_sink),
                            .begin = take_begin,
                            .define = take_define,
                            .events = take_events,
                            .window = take_window,
                            .finish = take_finish};
  made->base = (ppi_export){
      .sink = &made->sink, .close = close_parquet, .destroy = destroy_parquet};
  pprof_status status = ppi_duck_open(&made->duck, error);
  if (status == PPROF_STATUS_OK) create_tables(&made->duck);
  if (status == PPROF_STATUS_OK && ppi_duck_failed(&made->duck))
    status = ppi_fail(error, PPROF_STATUS_IO, "%s", made->duck.failure);
  if (status != PPROF_STATUS_OK) {
    destroy_parquet(&made->base);
    return status;
  }
  *out = &made->base;
  return PPROF_STATUS_OK;
}

const ppi_export_format ppi_format_parquet = {
    .name = "parquet",
    .ending = ".parquet",
    .holds = "all of the log, in a folder for each run",
    .opened_by = "DuckDB, Spark, pandas, polars; pprof-report fleet",
    .parts = PPI_PART_ALL,
    .is_folder = true,
    .create = create_parquet,
};
