// SPDX-License-Identifier: Apache-2.0
//
// Runs `sql`: answers a query over the runs of logs, in memory, or over a file
// of SQLite.
#include <fcntl.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/parse.h"
#include "export/sql.h"
#include "verb/answer.h"
#include "verb/verbs.h"

int ppi_tool_sql_operands(struct ppi_tool_options *options) {
  if (options->num_inputs < 2)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'sql' needs LOG... QUERY; see docs/sql.md");
  options->to.query = options->inputs[--options->num_inputs];
  return PPI_EXIT_DONE;
}

// ---- the answer ----

typedef struct rows {
  ppi_query_answer base;
  ppi_db *db;
  sqlite3_stmt *row;
} rows;

static const char *column_name(ppi_query_answer *answer, int at) {
  rows *from = (rows *)answer;
  return from->db->api->column_name(from->row, at);
}

static bool next_row(ppi_query_answer *answer) {
  rows *from = (rows *)answer;
  return ppi_db_next(from->db, from->row);
}

static const char *cell(ppi_query_answer *answer, int at, bool *is_number) {
  rows *from = (rows *)answer;
  int type = from->db->api->column_type(from->row, at);
  *is_number = type == PPI_SQLITE_INTEGER || type == PPI_SQLITE_FLOAT;
  return type == PPI_SQLITE_NULL
             ? NULL
             : (const char *)from->db->api->column_text(from->row, at);
}

static void say_refused(const ppi_db *db) {
  if (!ppi_db_failed(db))
    ppi_tool_say("the query is to be one SELECT: it changes nothing");
  else if (strstr(db->failure, "access to view") ||
           strstr(db->failure, "no such table: main."))  // in a view's text
    ppi_tool_say("%s: of a file only tables answer; ask for those",
                 db->failure);
  else
    ppi_tool_say("%s", db->failure);
}

// Runs one statement, which must not change the database.
static int ask(const struct ppi_tool_options *options, ppi_db *db) {
  const char *query = options->to.query;
  sqlite3_stmt *row = ppi_db_prepare(db, query);
  if (!row || !db->api->stmt_readonly(row) || !db->api->column_count(row)) {
    say_refused(db);
    ppi_db_finalize(db, row);
    return PPI_EXIT_USAGE;
  }
  ppi_page page = {.is_raw = options->raw};
  rows answer = {{.num_columns = db->api->column_count(row),
                  .column_name = column_name,
                  .next = next_row,
                  .cell = cell},
                 db,
                 row};
  ppi_answer_put(&page, &answer.base, options);
  ppi_db_finalize(db, row);
  if (!ppi_db_failed(db))
    return ppi_tool_output_page(options, &page, PPI_EXIT_DONE);
  if (db->is_late)
    ppi_tool_say("the query took longer than --timeout %s: ask for less",
                 options->to.timeout);
  else
    ppi_tool_say("%s", db->failure);
  ppi_page_clear(&page);
  return PPI_EXIT_USAGE;
}

// ---- operands ----

static bool is_sqlite(const char *path) {
  static const char magic[] = "SQLite format 3";
  char head[sizeof magic];
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  bool is_it = read(fd, head, sizeof head) == (ssize_t)sizeof head &&
               memcmp(head, magic, sizeof magic) == 0;
  close(fd);
  return is_it;
}

static int fill(const struct ppi_tool_options *options, ppi_db *db) {
  pprof_error error = {""};
  ppi_export *export = ppi_sql_create(db, &error);
  if (!export) return ppi_tool_fail(PPI_EXIT_INPUT, "%s", error.text);
  int code = ppi_tool_read_runs(options, &export->sink, "asked");
  if (code != PPI_EXIT_INPUT &&
      export->format->close(export, &error) != PPROF_STATUS_OK) {
    ppi_tool_say("%s", error.text);
    code = PPI_EXIT_INPUT;
  }
  ppi_export_destroy(export);
  return code;
}

int ppi_tool_sql(const struct ppi_tool_options *options) {
  ppi_db db;
  pprof_error error = {""};
  bool is_made = options->num_inputs == 1 && is_sqlite(options->inputs[0]);
  uint64_t limit_ns = 0;
  int code = ppi_tool_output_check(options, options->output);
  if (code != PPI_EXIT_DONE) return code;
  const char *timeout = options->to.timeout;
  if (timeout && !ppi_tool_parse_time("timeout", timeout, &limit_ns))
    return PPI_EXIT_USAGE;
  pprof_status status =
      ppi_db_open(&db, options->inputs[0],
                  is_made ? PPI_DB_FOREIGN : PPI_DB_MEMORY, &error);
  if (status != PPROF_STATUS_OK) {
    ppi_tool_say("%s", error.text);
    code = status == PPROF_STATUS_UNSUPPORTED ? PPI_EXIT_USAGE : PPI_EXIT_INPUT;
  }
  if (code == PPI_EXIT_DONE && is_made) ppi_sql_add_views(&db);
  if (code == PPI_EXIT_DONE && !is_made) code = fill(options, &db);
  if (code == PPI_EXIT_DONE || code == PPI_EXIT_DAMAGED) {
    if (options->to.timeout) ppi_db_limit_time(&db, limit_ns);
    code = ppi_tool_worse(code, ask(options, &db));
  }
  ppi_db_close(&db);
  return code;
}
