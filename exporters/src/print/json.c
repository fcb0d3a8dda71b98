// SPDX-License-Identifier: Apache-2.0
//
// Prints a report as JSON: one shape for every view, then identity, trust,
// inputs. The compact form has the first of each.

#include "file/json_put.h"
#include "print/printers.h"
#include "view/answer_line.h"
#include "view/answer_text.h"

static void put_at_max(ppi_page *page, const ppi_view *view, size_t row) {
  ppi_page names = {0};
  bool any = ppi_view_put_at_max(view, row, &names);
  ppi_put_text(page, NULL, any ? names.bytes : NULL);
  page->failed |= names.failed;
  ppi_page_clear(&names);
}

static void put_name(ppi_page *page, const char *name, const char *unit) {
  ppi_put_object(page, NULL);
  ppi_put_text(page, "name", name);
  if (unit) ppi_put_text(page, "unit", unit);
  ppi_page_text(page, "}");
}

static void put_columns(ppi_page *page, const ppi_view_kind *kind,
                        size_t most) {
  ppi_put_array(page, "columns");
  for (size_t i = 0; i < kind->num_columns && i < most; i++)
    put_name(page, kind->columns[i].name, kind->columns[i].unit);
  if (kind->has_quantiles && most == SIZE_MAX) put_name(page, PPI_AT_MAX, NULL);
  ppi_page_text(page, "]");
}

typedef void put_string(ppi_page *page, const char *text);

static void put_row(ppi_page *page, const ppi_view *view, size_t row,
                    size_t most, put_string *put) {
  const ppi_view_kind *kind = view->kind;
  ppi_put_line(page);
  ppi_put_array(page, NULL);
  for (size_t i = 0; i < kind->num_columns && i < most; i++) {
    ppi_put_key(page, NULL);
    ppi_page_cell(page, &view->cells[row * kind->num_columns + i], put, "null");
  }
  if (kind->has_quantiles && most == SIZE_MAX) put_at_max(page, view, row);
  ppi_page_text(page, "]");
}

static void put_rows(ppi_page *page, const ppi_view *view) {
  ppi_put_array(page, "rows");
  for (size_t row = 0; row < view->num_rows; row++)
    put_row(page, view, row, SIZE_MAX, ppi_page_json);
  ppi_page_text(page, "]");
}

void ppi_json_put_view(ppi_page *page, const ppi_view *view) {
  put_columns(page, view->kind, SIZE_MAX);
  ppi_put_line(page);
  put_rows(page, view);
}

static void put_view(ppi_page *page, const ppi_view *view) {
  ppi_put_line(page);
  ppi_put_object(page, view->kind->name);
  put_columns(page, view->kind, SIZE_MAX);
  put_rows(page, view);
  if (view->reason && view->num_rows == 0)
    ppi_put_text(page, "reason", view->reason);
  ppi_page_text(page, "}");
}

static void put_input(ppi_page *page, const ppi_report_input *input,
                      put_string *put) {
  ppi_put_object(page, NULL);
  ppi_put_key(page, "uuid");
  put(page, input->uuid);
  ppi_put_key(page, "host");
  put(page, input->host);
  ppi_put_key(page, "pid");
  put(page, input->pid);
  ppi_page_text(page, "}");
}

static void begin(ppi_page *page) {
  ppi_put_object(page, NULL);
  ppi_put_text(page, "schema", "pprof.report/1");
}

void ppi_json_put(ppi_page *page, const ppi_figures *figures,
                  const ppi_view *views, size_t num_views,
                  const ppi_report_options *found) {
  begin(page);
  ppi_put_line(page);
  ppi_put_object(page, "views");
  for (size_t i = 0; i < num_views; i++) put_view(page, &views[i]);
  ppi_page_text(page, "}");
  if (found &&
      ppi_findings_put_json(page, figures, found->findings) != PPROF_STATUS_OK)
    page->failed = true;
  ppi_identity_put_json(page, figures);
  ppi_trust_put_json(page, figures, SIZE_MAX, ppi_page_json);
  ppi_put_line(page);
  ppi_put_array(page, "inputs");
  for (size_t i = 0; i < figures->num_inputs; i++) {
    ppi_put_line(page);
    put_input(page, &figures->inputs[i], ppi_page_json);
  }
  ppi_page_text(page, "]}\n");
}

// ---- compact ----

// JSON that is short enough to be read whole, for readers that pay for each
// byte. It has the answer, findings in their order, and the first rows of the
// tables; fewer of each until it fits.

enum { MOST_FINDINGS = 10, MOST_ROWS = 20, MOST_TEXT = 160, NUM_COLUMNS = 9 };
enum { MOST_INPUTS = 4, MOST_NOTES = 4, MOST_BYTES = 8000 };

// The number of items printed of each kind.
typedef struct measure {
  size_t findings, rows, inputs, notes;
} measure;

// Cuts a text to MOST_TEXT bytes, at the end of a character.
static void put_text(ppi_page *page, const char *text) {
  char cut[MOST_TEXT + 4];
  size_t len = strlen(text);
  if (len <= MOST_TEXT) {
    ppi_page_json(page, text);
    return;
  }
  len = MOST_TEXT;
  while (len && ((unsigned char)text[len] & 0xc0) == 0x80) len--;
  memcpy(cut, text, len);
  memcpy(cut + len, "...", 4);
  ppi_page_json(page, cut);
}

// Columns about ranks and sums are only in the whole report.
static void put_few(ppi_page *page, const ppi_view *view, size_t most) {
  ppi_put_object(page, view->kind->name);
  put_columns(page, view->kind, NUM_COLUMNS);
  ppi_put_array(page, "rows");
  for (size_t row = 0; row < view->num_rows && row < most; row++)
    put_row(page, view, row, NUM_COLUMNS, put_text);
  ppi_page_text(page, "]}");
}

static void put_left(ppi_page *page, const char *key, size_t num, size_t most) {
  ppi_put_u64(page, key, num > most ? num - most : 0);
}

static void put_all(ppi_page *page, const ppi_figures *figures,
                    const ppi_view *view, const ppi_findings *findings,
                    const measure *most) {
  begin(page);
  ppi_put_bool(page, "compact", true);
  ppi_findings_put_members(page, figures, findings, most->findings);
  ppi_put_line(page);
  ppi_put_object(page, "views");
  if (view) put_few(page, view, most->rows);
  ppi_page_text(page, "}");
  ppi_trust_put_json(page, figures, most->notes, put_text);
  ppi_put_line(page);
  ppi_put_array(page, "inputs");
  for (size_t i = 0; i < figures->num_inputs && i < most->inputs; i++)
    put_input(page, &figures->inputs[i], put_text);
  ppi_page_text(page, "]");
  ppi_put_line(page);
  ppi_put_object(page, "left_out");
  put_left(page, "findings", findings->num, most->findings);
  put_left(page, "rows", view ? view->num_rows : 0, most->rows);
  put_left(page, "notes", figures->num_notes, most->notes);
  put_left(page, "inputs", figures->num_inputs, most->inputs);
  ppi_page_text(page, "}}\n");
}

// Removes rows first, as there are more of them; then the last findings.
static bool lessen(measure *most) {
  size_t *less = most->rows > most->findings ? &most->rows
                 : most->findings            ? &most->findings
                 : most->notes               ? &most->notes
                                             : &most->inputs;
  if (!*less) return false;
  --*less;
  return true;
}

pprof_status ppi_json_put_compact(ppi_page *page, const ppi_figures *figures,
                                  const ppi_view *view,
                                  const ppi_findings_options *options) {
  ppi_findings findings = {0};
  measure most = {MOST_FINDINGS, MOST_ROWS, MOST_INPUTS, MOST_NOTES};
  pprof_status status = ppi_findings_of(figures, options, &findings);
  if (most.findings > findings.num) most.findings = findings.num;
  if (view && most.rows > view->num_rows) most.rows = view->num_rows;
  if (status == PPROF_STATUS_OK) do {
      page->len = 0;
      put_all(page, figures, view, &findings, &most);
    } while (page->len > MOST_BYTES && lessen(&most));
  ppi_findings_clear(&findings);
  return status;
}
