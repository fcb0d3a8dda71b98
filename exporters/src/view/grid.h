// SPDX-License-Identifier: Apache-2.0
//
// The table of texts that all views and verbs print, with two blanks between
// columns. On a narrow page the least important columns are left out.
#pragma once

#include "file/text.h"

typedef struct ppi_grid_column {
  const char *heading;
  const char *name;  // of --columns; NULL: the heading
  size_t least;      // least width
  size_t floor;      // texts may be cut to this width; 0: they are not
  size_t rank;       // the greatest is left out first; 0: never
  bool is_left;
  bool is_loose;  // gets its least width only where no text needs the room
  bool is_out;    // left out by the caller, or for want of room
  size_t width, natural;
} ppi_grid_column;

// The least readable width of names.
#define PPI_FLOOR_OF_NAMES 28

// The caller sets `columns` and `indent`, and adds cells row by row: it writes
// each at the end of `text`. The texts are the caller's.
typedef struct ppi_grid {
  ppi_grid_column *columns;
  size_t num_columns, indent;
  bool has_full_names;  // C++ names are cut as other names are
  ppi_page text;
  size_t *ends, num_cells, capacity;
  ppi_page prefix;  // common prefix of names that are too long
} ppi_grid;

// ppi_grid_end_cell ends the cell that was written.
void ppi_grid_end_cell(ppi_grid *grid);
size_t ppi_grid_num_rows(const ppi_grid *grid);

// ppi_grid_fit makes lines of at most `most` columns, SIZE_MAX: as they are. It
// cuts names: first template arguments and parameters of C++, then the common
// prefix of long names, then the middle. false: `most` is too small.
bool ppi_grid_fit(ppi_grid *grid, size_t most);
// ppi_grid_needs is the least `most` with which no column is left out.
size_t ppi_grid_needs(ppi_grid *grid);
// ppi_grid_width is the width of lines, after ppi_grid_fit.
size_t ppi_grid_width(const ppi_grid *grid);

// Lines without trailing blanks.
void ppi_grid_put_rule(ppi_page *page, const ppi_grid *grid);
void ppi_grid_put_headings(ppi_page *page, const ppi_grid *grid);
void ppi_grid_put_row(ppi_page *page, const ppi_grid *grid, size_t row);
// ppi_grid_put_prefix writes the common prefix of long names, above the table,
// and ppi_grid_put_left_out the columns without room, below it.
void ppi_grid_put_prefix(ppi_page *page, const ppi_grid *grid);
void ppi_grid_put_left_out(ppi_page *page, const ppi_grid *grid);

// ppi_names_have: `name` is one of "a,b"; NULL: none. ppi_names_are_of: each of
// "a,b" is one of "a|b|c".
bool ppi_names_have(const char *names, const char *name);
bool ppi_names_are_of(const char *names, const char *known);

void ppi_grid_clear(ppi_grid *grid);
