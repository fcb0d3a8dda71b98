// SPDX-License-Identifier: Apache-2.0
//
// Prints views as Markdown: one table each, with few columns, for a page that
// people read. CSV and JSON have all columns.
#include <limits.h>

#include "print/printers.h"

typedef struct markdown_table {
  ppi_page *page;
  const ppi_view *view;
  ppi_time_unit unit;
  size_t columns[PPI_BRIEF_MOST], num;
  bool has_marks;
} markdown_table;

static const ppi_cell *cell_at(const ppi_view *view, size_t row, size_t i) {
  return &view->cells[row * view->kind->num_columns + i];
}

// The kind of the first cell that is not empty; none where all are.
static ppi_cell_kind kind_of(const ppi_view *view, size_t column) {
  for (size_t row = 0; row < view->num_rows; row++) {
    ppi_cell_kind kind = cell_at(view, row, column)->kind;
    if (kind != PPI_CELL_NONE) return kind;
  }
  return PPI_CELL_NONE;
}

static bool is_taken(const markdown_table *table, size_t column) {
  for (size_t i = 0; i < table->num; i++)
    if (table->columns[i] == column) return true;
  return false;
}

// Chooses the columns of a brief table, and the one that rows are sorted by.
static void choose(markdown_table *table) {
  const ppi_view_kind *kind = table->view->kind;
  bool takes_all = kind->num_columns <= PPI_BRIEF_MOST, has_brief = false;
  for (size_t i = 0; !takes_all && i < kind->num_columns; i++)
    has_brief |= kind->layout[i].brief > 0;
  for (size_t place = 1; place <= UCHAR_MAX; place++)
    for (size_t i = 0; i < kind->num_columns; i++) {
      bool is_next = (has_brief ? kind->layout[i].brief : i + 1) == place;
      bool is_empty = kind_of(table->view, i) == PPI_CELL_NONE;
      if (is_next && table->num < PPI_BRIEF_MOST &&
          (takes_all || !table->view->num_rows || !is_empty))
        table->columns[table->num++] = i;
    }
  if (!table->view->more || is_taken(table, table->view->more_cell)) return;
  if (table->num == PPI_BRIEF_MOST) table->num--;
  table->columns[table->num++] = table->view->more_cell;
}

static void put_headings(const markdown_table *table) {
  ppi_page *page = table->page;
  ppi_page_text(page, "|");
  for (size_t i = 0; i < table->num; i++) {
    const ppi_column *column = &table->view->kind->columns[table->columns[i]];
    bool is_time = column->unit && strcmp(column->unit, "ns") == 0;
    ppi_page_format(page, column->unit ? " %s (%s) |" : " %s |", column->name,
                    is_time ? ppi_time_unit_name(table->unit) : column->unit);
  }
  ppi_page_text(page, "\n|");
  for (size_t i = 0; i < table->num; i++) {
    ppi_cell_kind kind = kind_of(table->view, table->columns[i]);
    ppi_page_text(page, kind == PPI_CELL_TEXT ? " --- |" : " ---: |");
  }
  ppi_page_text(page, "\n");
}

// Markdown drops leading blanks, so the indent is written as text.
static void put_branch(const markdown_table *table, size_t row) {
  size_t indent = table->view->rows[row].indent;
  if (!indent || !table->view->kind->put_text) return;
  while (--indent) ppi_page_text(table->page, "\u2003");
  ppi_page_text(table->page, "\u2514\u2500 ");
}

static void put_row(markdown_table *table, size_t row) {
  ppi_page_text(table->page, "|");
  for (size_t i = 0; i < table->num; i++) {
    const ppi_cell *cell = cell_at(table->view, row, table->columns[i]);
    ppi_page_text(table->page, " ");
    if (table->columns[i] == 0) put_branch(table, row);
    ppi_page_table_cell(table->page, cell, ppi_page_markdown, table->unit);
    ppi_page_text(table->page, cell->at_max ? "* |" : " |");
    table->has_marks |= cell->at_max;
  }
  ppi_page_text(table->page, "\n");
}

// Writes a block of code that no name in it can end.
static void put_as_it_is(ppi_page *page, const ppi_page *note) {
  const char *end = note->bytes ? note->bytes + note->len : NULL;
  for (const char *at = note->bytes; at < end;) {
    const char *next = memchr(at, '\n', (size_t)(end - at));
    next = next ? next + 1 : end;
    if (*at != '\n') ppi_page_text(page, "    ");
    ppi_page_bytes(page, at, (size_t)(next - at));
    at = next;
  }
  ppi_page_text(page, "\n");
}

static void put_note(ppi_page *page, const ppi_page *note) {
  ppi_page_bytes(page, note->bytes, note->len);
  if (note->len && note->bytes[note->len - 1] != '\n')
    ppi_page_text(page, "\n");
}

void ppi_markdown_put(ppi_page *page, const ppi_view *view,
                      ppi_time_unit unit) {
  const ppi_page *note = &view->note;
  bool note_first = view->kind->note_first;
  markdown_table table = {.page = page, .view = view, .unit = unit};
  ppi_page_format(page, "## %s\n\n", view->kind->title);
  if (note_first) put_as_it_is(page, note);
  choose(&table);
  put_headings(&table);
  for (size_t row = 0; row < view->num_rows; row++) put_row(&table, row);
  if ((note->len && !note_first) || table.has_marks) ppi_page_text(page, "\n");
  if (!note_first) put_note(page, note);
  if (table.has_marks) ppi_page_text(page, PPI_AT_MAX_NOTE);
}
