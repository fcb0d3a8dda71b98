// SPDX-License-Identifier: Apache-2.0
//
// Prints a query's rows as CSV, JSON or a table.
#include "verb/answer.h"

#include <string.h>

#include "base/mem.h"

// Cells as texts one behind the other; `ends` says where each ends.
typedef struct cells {
  ppi_page text;
  size_t *ends;
  size_t num, capacity;
  bool *are_numbers;  // by column: nothing else was met in it
  int num_columns;
} cells;

static bool add_cell(cells *to) {
  if (!PPI_ROOM(to->ends, to->capacity, to->num + 1)) return false;
  to->ends[to->num++] = to->text.len;
  return true;
}

// Fields of CSV, and what a table shows. NULL is an empty one. Answers whether
// it is a text.
static bool put_cell(ppi_page *page, ppi_answer *answer, int at,
                     void (*put_text)(ppi_page *, const char *)) {
  bool is_number = false;
  const char *text = answer->cell(answer, at, &is_number);
  if (!text) return false;
  if (is_number)
    ppi_page_text(page, text);
  else
    put_text(page, text);
  return !is_number;
}

// JSON has no word for what is not finite.
static void put_json_cell(ppi_page *page, ppi_answer *answer, int at) {
  bool is_number = false;
  const char *text = answer->cell(answer, at, &is_number);
  bool is_finite = text && !strchr("IiNn", text[text[0] == '-']);
  if (!text || (is_number && !is_finite))
    ppi_page_text(page, "null");
  else if (is_number)
    ppi_page_text(page, text);
  else
    ppi_page_json(page, text);
}

static void put_csv(ppi_page *page, ppi_answer *answer) {
  int num = answer->num_columns;
  for (int i = 0; i < num; i++) {
    if (i) ppi_page_text(page, ",");
    ppi_page_csv(page, answer->column_name(answer, i));
  }
  ppi_page_text(page, "\n");
  while (answer->next(answer)) {
    for (int i = 0; i < num; i++) {
      if (i) ppi_page_text(page, ",");
      put_cell(page, answer, i, ppi_page_csv);
    }
    ppi_page_text(page, "\n");
  }
}

static void put_json(ppi_page *page, ppi_answer *answer) {
  int num = answer->num_columns;
  ppi_page_text(page, "{\"columns\":[");
  for (int i = 0; i < num; i++) {
    ppi_page_text(page, i ? ",{\"name\":" : "{\"name\":");
    ppi_page_json(page, answer->column_name(answer, i));
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "],\"rows\":[");
  for (bool any = false; answer->next(answer); any = true) {
    ppi_page_text(page, any ? ",\n[" : "\n[");
    for (int i = 0; i < num; i++) {
      if (i) ppi_page_text(page, ",");
      put_json_cell(page, answer, i);
    }
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "]}\n");
}

static bool collect(cells *to, ppi_answer *answer) {
  bool room = true;
  for (int i = 0; i < to->num_columns && room; i++) {
    ppi_page_visible(&to->text, answer->column_name(answer, i));
    to->are_numbers[i] = true;
    room = add_cell(to);
  }
  while (room && answer->next(answer))
    for (int i = 0; i < to->num_columns && room; i++) {
      if (put_cell(&to->text, answer, i, ppi_page_visible))
        to->are_numbers[i] = false;
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

static void put_table(ppi_page *page, ppi_answer *answer) {
  int num = answer->num_columns;
  cells found = {.num_columns = num,
                 .are_numbers = ppi_alloc((size_t)num * sizeof(bool))};
  size_t *widths = ppi_alloc((size_t)num * sizeof *widths), len;
  bool room = found.are_numbers && widths && collect(&found, answer);
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

void ppi_answer_put(ppi_page *page, ppi_answer *answer, const char *format) {
  if (strcmp(format, "json") == 0)
    put_json(page, answer);
  else if (strcmp(format, "csv") == 0)
    put_csv(page, answer);
  else
    put_table(page, answer);
}
