// SPDX-License-Identifier: Apache-2.0
//
// Measures, cuts and prints a table of texts.
#include "view/grid.h"

#include "base/base.h"
#include "base/mem.h"
#include "view/fit.h"

enum { GAP = 2, LEAST_NAME = 8 };

// ---- cells ----

void ppi_grid_end_cell(ppi_grid *grid) {
  if (PPI_ROOM(grid->ends, grid->capacity, grid->num_cells + 1))
    grid->ends[grid->num_cells++] = grid->text.len;
  else
    grid->text.failed = true;
}

size_t ppi_grid_num_rows(const ppi_grid *grid) {
  return grid->num_columns ? grid->num_cells / grid->num_columns : 0;
}

typedef struct words {
  const char *at;
  size_t len;
} words;

static words cell_of(const ppi_grid *grid, size_t row, size_t column) {
  size_t cell = row * grid->num_columns + column;
  bool is_there = !grid->text.failed && cell < grid->num_cells;
  size_t start = is_there && cell ? grid->ends[cell - 1] : 0;
  is_there = is_there && grid->ends[cell] > start;
  return (words){is_there ? grid->text.bytes + start : "",
                 is_there ? grid->ends[cell] - start : 0};
}

// ---- lists of names ----

static bool has_word(const char *list, const char *word, size_t len,
                     char comma) {
  for (const char *at = list; at; at = strchr(at, comma)) {
    if (*at == comma) at++;
    if (strncmp(at, word, len) == 0 && (at[len] == comma || !at[len]))
      return true;
  }
  return false;
}

bool ppi_names_are_of(const char *names, const char *known) {
  for (const char *at = names;; at++) {
    size_t len = strcspn(at, ",");
    if (!len || !has_word(known, at, len, '|')) return false;
    at += len;
    if (!*at) return true;
  }
}

bool ppi_names_have(const char *names, const char *name) {
  return has_word(names, name, strlen(name), ',');
}

// ---- widths ----

static size_t natural_width(const ppi_grid *grid, size_t column) {
  const ppi_grid_column *of = &grid->columns[column];
  size_t width = PPI_MAX(of->is_loose ? 0 : of->least,
                         ppi_page_width(of->heading, strlen(of->heading)));
  for (size_t row = 0; row < ppi_grid_num_rows(grid); row++) {
    const words cell = cell_of(grid, row, column);
    width = PPI_MAX(width, ppi_page_width(cell.at, cell.len));
  }
  return width;
}

static size_t floor_of(const ppi_grid_column *column) {
  return column->floor ? PPI_MIN(column->floor, column->width) : column->width;
}

static size_t needed(const ppi_grid *grid) {
  size_t sum = grid->indent, num = 0;
  for (size_t i = 0; i < grid->num_columns; i++)
    if (!grid->columns[i].is_out)
      sum += floor_of(&grid->columns[i]) + (num++ ? GAP : 0);
  return sum;
}

static bool leave_one_out(ppi_grid *grid) {
  ppi_grid_column *least = NULL;
  for (size_t i = 0; i < grid->num_columns; i++) {
    ppi_grid_column *column = &grid->columns[i];
    if (!column->is_out && column->rank > (least ? least->rank : 0))
      least = column;
  }
  if (least) least->is_out = true;
  return least != NULL;
}

static void measure(ppi_grid *grid) {
  for (size_t i = 0; i < grid->num_columns; i++)
    grid->columns[i].width = grid->columns[i].natural = natural_width(grid, i);
}

size_t ppi_grid_needs(ppi_grid *grid) {
  measure(grid);
  return needed(grid);
}

size_t ppi_grid_width(const ppi_grid *grid) {
  size_t sum = grid->indent, num = 0;
  for (size_t i = 0; i < grid->num_columns; i++)
    if (!grid->columns[i].is_out)
      sum += grid->columns[i].width + (num++ ? GAP : 0);
  return sum;
}

// ---- names ----

// The length of the tree's lines before a name.
static size_t lead_of(words cell) {
  static const char *const leads[] = {" ", "\u2514", "\u2500", "\u00b7"};
  size_t at = 0;
  for (size_t i = 0; i < sizeof leads / sizeof *leads;) {
    size_t len = strlen(leads[i]);
    bool is_here =
        at + len <= cell.len && memcmp(cell.at + at, leads[i], len) == 0;
    at += is_here ? len : 0;
    i = is_here ? 0 : i + 1;
  }
  return at;
}

// Some Python names have brackets, too, but none has a "::" or ">(".
static bool is_cxx(const char *name) {
  return strstr(name, "::") ? strpbrk(name, "<(") != NULL
                            : strstr(name, ">(") != NULL;
}

static const char *copy_of(ppi_page *scratch, words text) {
  scratch->len = 0;
  ppi_page_bytes(scratch, text.at, text.len);
  return text.len && !scratch->failed ? scratch->bytes : "";
}

static void trim(ppi_page *page, size_t from) {
  if (page->failed || page->len <= from) return;
  while (page->len > from && page->bytes[page->len - 1] == ' ') page->len--;
  page->bytes[page->len] = '\0';
}

// `from`: the byte where the name differs from another one with the same cut;
// 0: none.
static void put_cut(ppi_page *out, const ppi_grid *how, words cell,
                    size_t width, size_t from) {
  enum { BEFORE = 10, HEAD = 6 };
  size_t lead = lead_of(cell), start = out->len;
  size_t lead_width = ppi_page_width(cell.at, lead);
  ppi_page name = {0}, brief = {0};
  if (ppi_page_width(cell.at, cell.len) <= width || lead_width >= width) {
    ppi_page_bytes(out, cell.at, cell.len);
    return;
  }
  const char *text = copy_of(&name, (words){cell.at + lead, cell.len - lead});
  size_t room = width - lead_width;
  ppi_page_bytes(out, cell.at, lead);
  if (from > lead + BEFORE) {
    ppi_page_fit_from(out, text, room, HEAD, from - lead - BEFORE);
  } else if (is_cxx(text) && !from && !how->has_full_names) {
    ppi_kernel_name_short(&brief, text);
    if (!brief.failed) ppi_page_fit(out, brief.bytes, room);
  } else {
    size_t prefix = how->prefix.len;
    bool has_it = prefix && strncmp(text, how->prefix.bytes, prefix) == 0;
    ppi_page_fit_behind(out, text, room, has_it && !from ? prefix : 0);
  }
  trim(out, start);
  out->failed |= name.failed || brief.failed;
  ppi_page_clear(&name);
  ppi_page_clear(&brief);
}

typedef struct cut_names {
  ppi_page text;
  size_t *ends;  // of rows
} cut_names;

static words cut_of(const cut_names *names, size_t row) {
  size_t start = row ? names->ends[row - 1] : 0;
  return (words){names->text.bytes + start, names->ends[row] - start};
}

static bool are_same(words a, words b) {
  return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

// A row is compared with so many rows before and after it.
enum { NEIGHBOURS = 64 };

static size_t differs_at(const ppi_grid *grid, size_t column, size_t row,
                         const cut_names *names) {
  const words own = cell_of(grid, row, column);
  size_t end = PPI_MIN(row + NEIGHBOURS + 1, ppi_grid_num_rows(grid)), at = 0;
  for (size_t i = row > NEIGHBOURS ? row - NEIGHBOURS : 0; i < end; i++) {
    const words other = cell_of(grid, i, column);
    if (i == row || !are_same(cut_of(names, i), cut_of(names, row)) ||
        are_same(own, other))
      continue;
    size_t same = 0;
    while (same < own.len && same < other.len && own.at[same] == other.at[same])
      same++;
    if (!at || same < at) at = PPI_MAX(same, 1);
  }
  return at;
}

// The common prefix of the names that are too long, up to a word's end. A
// prefix of a few characters is not worth a line.
static size_t find_prefix(const ppi_grid *grid, size_t column,
                          ppi_page *first) {
  enum { WORTH = 8 };
  size_t len = SIZE_MAX, num = ppi_grid_num_rows(grid), num_long = 0;
  ppi_page next = {0};
  for (size_t row = 0; row < num && len; row++) {
    words cell = cell_of(grid, row, column);
    size_t lead = lead_of(cell);
    if (ppi_page_width(cell.at, cell.len) <= grid->columns[column].width)
      continue;
    const words name = {cell.at + lead, cell.len - lead};
    const char *text = copy_of(num_long ? &next : first, name);
    if (is_cxx(text) && !grid->has_full_names) continue;
    if (num_long++) len = ppi_fit_shared(first->bytes, text, len);
  }
  ppi_page_clear(&next);
  return num_long < 2 || len < WORTH ? 0 : len;
}

static void note_prefix(ppi_grid *grid, size_t column) {
  ppi_page first = {0};
  size_t len = find_prefix(grid, column, &first);
  if (len) ppi_page_bytes(&grid->prefix, first.bytes, len);
  grid->prefix.failed |= first.failed;
  ppi_page_clear(&first);
}

// Replaces the cells of a column by its cut names.
static void take_names(ppi_grid *grid, size_t column, const cut_names *names) {
  ppi_page text = {.failed = grid->text.failed};
  size_t num = ppi_grid_num_rows(grid);
  for (size_t row = 0; row < num; row++)
    for (size_t i = 0; i < grid->num_columns; i++) {
      const words cell =
          i == column ? cut_of(names, row) : cell_of(grid, row, i);
      ppi_page_bytes(&text, cell.at, cell.len);
    }
  // Ends move only once all cells have been copied.
  size_t end = 0, before = 0;
  for (size_t at = 0; at < grid->num_cells; at++) {
    size_t len = grid->ends[at] - before;
    before = grid->ends[at];
    if (at % grid->num_columns == column)
      len = cut_of(names, at / grid->num_columns).len;
    grid->ends[at] = end += len;
  }
  ppi_page_clear(&grid->text);
  grid->text = text;
}

static void cut_column(ppi_grid *grid, size_t column) {
  size_t num = ppi_grid_num_rows(grid), width = grid->columns[column].width;
  if (column == 0) note_prefix(grid, column);
  cut_names first = {.ends = ppi_alloc((num + 1) * sizeof(size_t))};
  cut_names last = {.ends = ppi_alloc((num + 1) * sizeof(size_t))};
  bool has_room = first.ends && last.ends;
  for (size_t row = 0; row < num && has_room; row++) {
    put_cut(&first.text, grid, cell_of(grid, row, column), width, 0);
    first.ends[row] = first.text.len;
  }
  for (size_t row = 0; row < num && has_room && !first.text.failed; row++) {
    put_cut(&last.text, grid, cell_of(grid, row, column), width,
            differs_at(grid, column, row, &first));
    last.ends[row] = last.text.len;
  }
  if (!has_room || first.text.failed || last.text.failed) {
    grid->text.failed = true;
  } else {
    take_names(grid, column, &last);
  }
  ppi_page_clear(&first.text);
  ppi_page_clear(&last.text);
  ppi_free(first.ends);
  ppi_free(last.ends);
}

// Widens columns of texts to the caller's least widths as far as texts go, then
// to their texts, then with blanks to the least widths.
static void widen(ppi_grid *grid, size_t room) {
  for (size_t at = 0; at < 3 * grid->num_columns; at++) {
    ppi_grid_column *column = &grid->columns[at % grid->num_columns];
    size_t pass = at / grid->num_columns;
    size_t wanted = pass == 0   ? PPI_MIN(column->least, column->natural)
                    : pass == 1 ? column->natural
                                : column->least;
    if (column->is_out || !column->floor) continue;
    column->width = ppi_fit_widen(column->width, wanted, &room);
  }
}

bool ppi_grid_fit(ppi_grid *grid, size_t most) {
  measure(grid);
  while (needed(grid) > most && leave_one_out(grid)) continue;
  size_t need = needed(grid), room = most > need ? most - need : 0;
  size_t lack = need > most ? need - most : 0;
  for (size_t i = grid->num_columns; i-- > 0;) {
    ppi_grid_column *column = &grid->columns[i];
    if (column->is_out || !column->floor) continue;
    column->width = floor_of(column);
    if (column->width > LEAST_NAME)
      column->width = ppi_fit_shrink(column->width, LEAST_NAME, &lack);
  }
  widen(grid, room);
  for (size_t i = 0; i < grid->num_columns; i++)
    if (!grid->columns[i].is_out && !grid->text.failed &&
        grid->columns[i].width < grid->columns[i].natural)
      cut_column(grid, i);
  return lack == 0;
}

// ---- lines ----

static void put_padded(ppi_page *page, const ppi_grid_column *column,
                       words text) {
  size_t width = ppi_page_width(text.at, text.len);
  size_t blanks = column->width > width ? column->width - width : 0;
  if (!column->is_left) ppi_page_repeat(page, ' ', blanks);
  ppi_page_bytes(page, text.at, text.len);
  if (column->is_left) ppi_page_repeat(page, ' ', blanks);
}

typedef words text_of(const ppi_grid *grid, size_t row, size_t column);

static void put_line(ppi_page *page, const ppi_grid *grid, size_t row,
                     text_of *text) {
  size_t start = page->len, num = 0;
  ppi_page_repeat(page, ' ', grid->indent);
  for (size_t i = 0; i < grid->num_columns; i++) {
    if (grid->columns[i].is_out) continue;
    if (num++) ppi_page_repeat(page, ' ', GAP);
    put_padded(page, &grid->columns[i], text(grid, row, i));
  }
  trim(page, start);
}

static words heading_of(const ppi_grid *grid, size_t row, size_t column) {
  (void)row;
  const char *heading = grid->columns[column].heading;
  return (words){heading, strlen(heading)};
}

void ppi_grid_put_headings(ppi_page *page, const ppi_grid *grid) {
  ppi_page line = {0};
  put_line(&line, grid, 0, heading_of);
  if (line.len && !line.failed) ppi_page_strong(page, line.bytes);
  ppi_page_text(page, "\n");
  page->failed |= line.failed;
  ppi_page_clear(&line);
}

void ppi_grid_put_row(ppi_page *page, const ppi_grid *grid, size_t row) {
  put_line(page, grid, row, cell_of);
  ppi_page_text(page, "\n");
  page->failed |= grid->text.failed;
}

void ppi_grid_put_rule(ppi_page *page, const ppi_grid *grid) {
  size_t num = 0;
  ppi_page_repeat(page, ' ', grid->indent);
  for (size_t i = 0; i < grid->num_columns; i++) {
    if (grid->columns[i].is_out) continue;
    if (num++) ppi_page_repeat(page, ' ', GAP);
    ppi_page_repeat(page, '-', grid->columns[i].width);
  }
  ppi_page_text(page, "\n");
}

void ppi_grid_put_prefix(ppi_page *page, const ppi_grid *grid) {
  page->failed |= grid->prefix.failed;
  if (!grid->prefix.len || page->failed) return;
  ppi_page_text(page, "Long names begin with ");
  ppi_page_wrapped(page, grid->prefix.bytes, strlen("Long names begin with "));
}

void ppi_grid_put_left_out(ppi_page *page, const ppi_grid *grid) {
  ppi_page line = {0};
  for (size_t i = 0; i < grid->num_columns; i++) {
    const ppi_grid_column *column = &grid->columns[i];
    if (!column->is_out || !column->rank) continue;
    ppi_page_text(&line, line.len ? ", " : "No room for ");
    ppi_page_text(&line, column->name ? column->name : column->heading);
  }
  if (line.len) {
    ppi_page_text(&line, ": --wide, or --columns A,B,...");
    if (!line.failed) ppi_page_wrapped(page, line.bytes, 0);
  }
  page->failed |= line.failed;
  ppi_page_clear(&line);
}

void ppi_grid_clear(ppi_grid *grid) {
  ppi_page_clear(&grid->text);
  ppi_page_clear(&grid->prefix);
  ppi_free(grid->ends);
  grid->ends = NULL;
  grid->num_cells = grid->capacity = 0;
}
