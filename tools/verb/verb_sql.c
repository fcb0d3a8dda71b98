// SPDX-License-Identifier: Apache-2.0
//
// `sql`: a query over the runs of logs, in memory, or over a file of SQLite.
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/output.h"
#include "export/sql.h"
#include "verb/read_runs.h"
#include "verb/verbs.h"

int ppi_tool_sql_operands(struct ppi_tool_options *options) {
  if (options->num_inputs < 2) {
    ppi_tool_say("'sql' needs LOG... QUERY; see docs/sql.md");
    return PPI_EXIT_USAGE;
  }
  options->to.query = options->inputs[--options->num_inputs];
  return PPI_EXIT_DONE;
}

// ---- the answer ----

// Cells as texts one behind the other; `ends` says where each ends.
typedef struct cells {
  ppi_page text;
  size_t *ends;
  size_t num, capacity;
  bool *are_numbers;  // by column: nothing else was met in it
  int num_columns;
} cells;

static bool add_cell(cells *to) {
  size_t *ends = ppi_grow(to->ends, &to->capacity, to->num + 1, sizeof *ends);
  if (!ends) return false;
  to->ends = ends;
  ends[to->num++] = to->text.len;
  return true;
}

// Fields of CSV, and what a table shows. NULL is an empty one.
static void put_cell(ppi_page *page, ppi_db *db, sqlite3_stmt *row, int at,
                     void (*put_text)(ppi_page *, const char *)) {
  int type = db->api->column_type(row, at);
  const char *text = (const char *)db->api->column_text(row, at);
  if (type == PPI_SQLITE_NULL || !text) return;
  if (type == PPI_SQLITE_INTEGER || type == PPI_SQLITE_FLOAT)
    ppi_page_text(page, text);
  else
    put_text(page, text);
}

// JSON has no word for what is not finite.
static void put_json_cell(ppi_page *page, ppi_db *db, sqlite3_stmt *row,
                          int at) {
  int type = db->api->column_type(row, at);
  const char *text = (const char *)db->api->column_text(row, at);
  bool is_number = type == PPI_SQLITE_INTEGER || type == PPI_SQLITE_FLOAT;
  bool is_finite = text && (text[text[0] == '-'] != 'I');
  if (!text || type == PPI_SQLITE_NULL || (is_number && !is_finite))
    ppi_page_text(page, "null");
  else if (is_number)
    ppi_page_text(page, text);
  else
    ppi_page_json(page, text);
}

static void put_csv(ppi_page *page, ppi_db *db, sqlite3_stmt *row) {
  int num = db->api->column_count(row);
  for (int i = 0; i < num; i++) {
    if (i) ppi_page_text(page, ",");
    ppi_page_csv(page, db->api->column_name(row, i));
  }
  ppi_page_text(page, "\n");
  while (ppi_db_next(db, row)) {
    for (int i = 0; i < num; i++) {
      if (i) ppi_page_text(page, ",");
      put_cell(page, db, row, i, ppi_page_csv);
    }
    ppi_page_text(page, "\n");
  }
}

static void put_json(ppi_page *page, ppi_db *db, sqlite3_stmt *row) {
  int num = db->api->column_count(row);
  ppi_page_text(page, "{\"columns\":[");
  for (int i = 0; i < num; i++) {
    ppi_page_text(page, i ? ",{\"name\":" : "{\"name\":");
    ppi_page_json(page, db->api->column_name(row, i));
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "],\"rows\":[");
  for (bool any = false; ppi_db_next(db, row); any = true) {
    ppi_page_text(page, any ? ",\n[" : "\n[");
    for (int i = 0; i < num; i++) {
      if (i) ppi_page_text(page, ",");
      put_json_cell(page, db, row, i);
    }
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "]}\n");
}

static bool collect(cells *to, ppi_db *db, sqlite3_stmt *row) {
  bool room = true;
  for (int i = 0; i < to->num_columns && room; i++) {
    ppi_page_visible(&to->text, db->api->column_name(row, i));
    to->are_numbers[i] = true;
    room = add_cell(to);
  }
  while (room && ppi_db_next(db, row))
    for (int i = 0; i < to->num_columns && room; i++) {
      int type = db->api->column_type(row, i);
      if (type != PPI_SQLITE_INTEGER && type != PPI_SQLITE_FLOAT &&
          type != PPI_SQLITE_NULL)
        to->are_numbers[i] = false;
      put_cell(&to->text, db, row, i, ppi_page_visible);
      room = add_cell(to);
    }
  return room && !to->text.failed;
}

static const char *cell_at(const cells *from, size_t at, size_t *out_len) {
  size_t start = at ? from->ends[at - 1] : 0;
  *out_len = from->ends[at] - start;
  return *out_len ? from->text.bytes + start : "";
}

// Numbers stand to the right; nothing follows the last column.
static void put_aligned(ppi_page *page, const cells *from,
                        const size_t *widths) {
  size_t num = (size_t)from->num_columns, len;
  for (size_t at = 0; at < from->num; at++) {
    const char *text = cell_at(from, at, &len);
    size_t column = at % num, pad = widths[column] - ppi_page_width(text, len);
    if (column) ppi_page_text(page, "  ");
    if (from->are_numbers[column]) ppi_page_repeat(page, ' ', pad);
    ppi_page_bytes(page, text, len);
    if (column + 1 == num)
      ppi_page_text(page, "\n");
    else if (!from->are_numbers[column])
      ppi_page_repeat(page, ' ', pad);
  }
}

static void put_table(ppi_page *page, ppi_db *db, sqlite3_stmt *row) {
  int num = db->api->column_count(row);
  cells found = {.num_columns = num,
                 .are_numbers = ppi_alloc((size_t)num * sizeof(bool))};
  size_t *widths = ppi_alloc((size_t)num * sizeof *widths), len;
  bool room = found.are_numbers && widths && collect(&found, db, row);
  for (size_t at = 0; room && at < found.num; at++) {
    const char *text = cell_at(&found, at, &len);
    size_t width = ppi_page_width(text, len);
    if (width > widths[at % (size_t)num]) widths[at % (size_t)num] = width;
  }
  if (room) put_aligned(page, &found, widths);
  page->failed |= !room;
  ppi_page_clear(&found.text);
  ppi_free(found.ends);
  ppi_free(found.are_numbers);
  ppi_free(widths);
}

// One statement, which changes nothing.
static int ask(const struct ppi_tool_options *options, ppi_db *db) {
  const char *query = options->to.query;
  sqlite3_stmt *row = ppi_db_prepare(db, query);
  if (!row || !db->api->stmt_readonly(row) || !db->api->column_count(row)) {
    ppi_tool_say("%s", ppi_db_failed(db)
                           ? db->failure
                           : "the query is to be a SELECT: it changes nothing");
    ppi_db_finalize(db, row);
    return PPI_EXIT_USAGE;
  }
  ppi_page page = {.is_raw = options->raw};
  if (strcmp(options->format, "json") == 0)
    put_json(&page, db, row);
  else if (strcmp(options->format, "csv") == 0)
    put_csv(&page, db, row);
  else
    put_table(&page, db, row);
  ppi_db_finalize(db, row);
  if (!ppi_db_failed(db))
    return ppi_tool_output_page(options, &page, PPI_EXIT_DONE);
  ppi_tool_say("%s", db->failure);
  ppi_page_clear(&page);
  return PPI_EXIT_USAGE;
}

// ---- what is asked ----

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
  ppi_export *export;
  pprof_error error = {""};
  if (ppi_sql_create(db, &export, &error) != PPROF_STATUS_OK) {
    ppi_tool_say("%s", error.text);
    return PPI_EXIT_INPUT;
  }
  int code = ppi_tool_read_runs(options, export->sink, "asked");
  if (code != PPI_EXIT_INPUT &&
      export->close(export, &error) != PPROF_STATUS_OK) {
    ppi_tool_say("%s", error.text);
    code = PPI_EXIT_INPUT;
  }
  export->destroy(export);
  return code;
}

int ppi_tool_sql(const struct ppi_tool_options *options) {
  ppi_db db;
  pprof_error error = {""};
  bool is_made = options->num_inputs == 1 && is_sqlite(options->inputs[0]);
  int code = ppi_tool_output_check(options, options->output);
  if (code != PPI_EXIT_DONE) return code;
  pprof_status status =
      ppi_db_open(&db, options->inputs[0],
                  is_made ? PPI_DB_FOREIGN : PPI_DB_MEMORY, &error);
  if (status != PPROF_STATUS_OK) {
    ppi_tool_say("%s", error.text);
    code = status == PPROF_STATUS_UNSUPPORTED ? PPI_EXIT_USAGE : PPI_EXIT_INPUT;
  }
  if (code == PPI_EXIT_DONE && !is_made) code = fill(options, &db);
  if (code == PPI_EXIT_DONE || code == PPI_EXIT_DAMAGED) {
    int answer = ask(options, &db);
    if (answer > code) code = answer;
  }
  ppi_db_close(&db);
  return code;
}
