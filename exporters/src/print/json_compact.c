// SPDX-License-Identifier: Apache-2.0
//
// Prints a report as JSON that is short enough to be read whole, for readers
// that pay for each byte. It has the answer, findings in their order, and the
// first rows of the tables; fewer of each until it fits.
#include <string.h>

#include "event/event.h"
#include "print/printers.h"
#include "report/report.h"
#include "view/findings_text.h"

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
static void put_view(ppi_page *page, const ppi_view *view, size_t most) {
  const ppi_view_kind *kind = view->kind;
  ppi_page_format(page, "\"%s\":{\"columns\":[", kind->name);
  for (size_t i = 0; i < NUM_COLUMNS && i < kind->num_columns; i++) {
    ppi_page_format(page, "%s{\"name\":\"%s\"", i ? "," : "",
                    kind->columns[i].name);
    if (kind->columns[i].unit)
      ppi_page_format(page, ",\"unit\":\"%s\"", kind->columns[i].unit);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "],\"rows\":[");
  for (size_t row = 0; row < view->num_rows && row < most; row++) {
    ppi_page_text(page, row ? ",\n[" : "\n[");
    for (size_t i = 0; i < NUM_COLUMNS && i < kind->num_columns; i++) {
      if (i) ppi_page_text(page, ",");
      ppi_page_cell(page, &view->cells[row * kind->num_columns + i], put_text,
                    "null");
    }
    ppi_page_text(page, "]");
  }
  ppi_page_text(page, "]}");
}

// Counts of 0 are left out, except the most important ones.
static void put_trust(ppi_page *page, const ppi_figures *figures, size_t most) {
  ppi_page_format(page, "\"trust\":{\"recorded\":%llu,\"lost\":%llu",
                  (unsigned long long)figures->totals[PPI_TOTAL_RECORDED],
                  (unsigned long long)figures->totals[PPI_TOTAL_LOST]);
  for (int key = 0; key < PPI_NUM_TOTALS; key++) {
    uint64_t value = figures->totals[key];
    if (!value || key == PPI_TOTAL_RECORDED || key == PPI_TOTAL_LOST) continue;
    ppi_page_format(page, ",\"%s\":", ppi_total_name((ppi_total_key)key));
    if (key == PPI_TOTAL_CRASH_SAFE || key == PPI_TOTAL_INCOMPLETE)
      ppi_page_text(page, "true");
    else
      ppi_page_format(page, "%llu", (unsigned long long)value);
  }
  ppi_page_text(page, ",\"notes\":[");
  for (size_t i = 0; i < figures->num_notes && i < most; i++) {
    ppi_page_text(page, i ? ",{\"key\":" : "{\"key\":");
    put_text(page, figures->notes[i].key);
    ppi_page_text(page, ",\"text\":");
    put_text(page, figures->notes[i].text);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]}");
}

static void put_inputs(ppi_page *page, const ppi_figures *figures,
                       size_t most) {
  ppi_page_text(page, "\"inputs\":[");
  for (size_t i = 0; i < figures->num_inputs && i < most; i++) {
    const ppi_report_input *input = &figures->inputs[i];
    ppi_page_text(page, i ? ",{\"uuid\":" : "{\"uuid\":");
    put_text(page, input->uuid);
    ppi_page_text(page, ",\"host\":");
    put_text(page, input->host);
    ppi_page_text(page, ",\"pid\":");
    put_text(page, input->pid);
    ppi_page_text(page, "}");
  }
  ppi_page_text(page, "]");
}

static size_t left(size_t num, size_t most) {
  return num > most ? num - most : 0;
}

static void put_all(ppi_page *page, const ppi_figures *figures,
                    const ppi_view *view, const ppi_findings *findings,
                    const measure *most) {
  ppi_page_text(page, "{\"schema\":\"pprof.report/1\",\"compact\":true,\n");
  ppi_findings_put_members(page, figures, findings, most->findings);
  ppi_page_text(page, ",\n\"views\":{");
  if (view) put_view(page, view, most->rows);
  ppi_page_text(page, "},\n");
  put_trust(page, figures, most->notes);
  ppi_page_text(page, ",\n");
  put_inputs(page, figures, most->inputs);
  ppi_page_format(
      page,
      ",\n\"left_out\":{\"findings\":%zu,\"rows\":%zu,\"notes\":%zu,"
      "\"inputs\":%zu}}\n",
      left(findings->num, most->findings),
      left(view ? view->num_rows : 0, most->rows),
      left(figures->num_notes, most->notes),
      left(figures->num_inputs, most->inputs));
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
