// SPDX-License-Identifier: Apache-2.0
//
// Writes the page from its first line to its last, and keeps the greatest rows
// of its tables. JSON is safe inside a script
// element: its texts have no "</" and no "<!".
#include "html/html.h"
#include "file/json_put.h"
#include "report/figures/sum.h"

#include <limits.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "html/pack.h"
#include "html/page_text.h"
#include "html/picture_pack.h"
#include "view/answer_line.h"
#include "view/tree_rows.h"

// A width that no text reaches: the browser wraps the lines.
#define NO_WRAPPING 100000

// The reports that the page has as JSON, with the options of the command line.
static const struct document {
  const char *id;
  size_t most_bytes;
  ppi_report_options options;
} documents[] = {
    {"report", 400000, {.style = PPI_STYLE_PADDLE, .top = LONG_MIN}},
    {"named",
     250000,
     {.style = PPI_STYLE_PADDLE, .views = "stages,requests", .top = LONG_MIN}},
    {"tree", 400000, {.style = PPI_STYLE_TREE, .top = LONG_MIN}},
};
// The rows of a view; each level of a part that is too long halves them.
enum { MOST_ROWS = 4096 };
enum { NUM_DOCUMENTS = sizeof documents / sizeof *documents };

void ppi_html_need(ppi_report_details *details) {
  details->courses = true;
  for (size_t i = 0; i < NUM_DOCUMENTS; i++)
    ppi_report_need(&documents[i].options, PPI_FORMAT_JSON, details);
}

static void put_hash(FILE *out, const unsigned char *text, size_t len) {
  uint8_t hash[32];
  char words[PPI_BASE64_SIZE(sizeof hash)];
  ppi_sha256(text, len, hash);
  ppi_base64(hash, sizeof hash, words);
  fprintf(out, " 'sha256-%s'", words);
}

// The page allows only its own script and styles, and no request to any
// address.
void ppi_html_begin(FILE *out) {
  fputs(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\""
      "default-src 'none'; base-uri 'none'; form-action 'none'; script-src",
      out);
  put_hash(out, ppi_page_script, ppi_page_script_len);
  fputs("; style-src", out);
  put_hash(out, ppi_page_style, ppi_page_style_len);
  fputs(
      "\">\n<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<meta name=\"generator\" content=\"pprof-report ",
      out);
  fputs(pprof_version(), out);
  fputs("\">\n<title>pprof report</title>\n<style>", out);
  fwrite(ppi_page_style, 1, ppi_page_style_len, out);
  fputs(
      "</style>\n</head>\n<body>\n<noscript>This report draws itself by its "
      "own script, which this browser does not run. `pprof-report LOG` prints "
      "the same figures.</noscript>\n",
      out);
}

pprof_status ppi_html_element(FILE *out, const char *id, ppi_page *json) {
  fprintf(out, "<script type=\"application/json\" id=\"%s\">\n", id);
  pprof_status status = ppi_page_write(json, out);
  fputs("</script>\n", out);
  return status;
}

pprof_status ppi_html_end(FILE *out) {
  fputs("<script>", out);
  fwrite(ppi_page_script, 1, ppi_page_script_len, out);
  fputs("</script>\n</body>\n</html>\n", out);
  return ferror(out) ? PPROF_STATUS_IO : PPROF_STATUS_OK;
}

static void put_ranks(ppi_page *page, const ppi_ranks *ranks) {
  ppi_put_object(page, "ranks");
  for (size_t i = 0; i < ranks->num; i++) {
    ppi_put_text(page, NULL, ranks->items[i].input->uuid);
    ppi_page_text(page, ":");
    ppi_page_json(page, ranks->items[i].name);
  }
  ppi_page_text(page, "}");
}

// The lines that the command line prints above and below the answer's table.
static pprof_status put_words(FILE *out, const ppi_figures *figures) {
  ppi_page ran = {.width = NO_WRAPPING}, trust = ran, page = {0};
  ppi_base_kind base = ppi_figures_base(figures);
  ppi_ranks ranks;
  PPI_TRY(ppi_ranks_of(figures, base, &ranks));
  if (figures->answers[base].num_units)
    ppi_answer_put_line(&ran, figures, base, NULL);
  ppi_trust_put_line(&trust, figures, PPI_TIME_MS);
  ppi_page_bytes(&ran, "", 1);
  ppi_page_bytes(&trust, "", 1);
  page.failed = ran.failed || trust.failed;
  ppi_put_object(&page, NULL);
  ppi_put_text(&page, "unit", ppi_answer_unit(base));
  ppi_put_text(&page, "ran", page.failed ? NULL : ran.bytes);
  ppi_put_text(&page, "trust", page.failed ? NULL : trust.bytes);
  put_ranks(&page, &ranks);
  ppi_page_text(&page, "}\n");
  ppi_page_clear(&ran);
  ppi_page_clear(&trust);
  ppi_ranks_clear(&ranks);
  return ppi_html_element(out, "words", &page);
}

// ---- rows of tables: of many, the greatest ----

enum { MOST_VIEWS = 64 };

typedef struct page_rows {
  size_t most;  // rows of each view
  struct {
    const char *view;
    size_t num;  // rows that are not in the page
  } left_out[MOST_VIEWS];
  size_t num_views;
} page_rows;

// ---- the tree ----

static int64_t size_of(const ppi_cell *cells) {
  int64_t host = cells[PPI_TREE_total].kind ? cells[PPI_TREE_total].value : 0;
  int64_t device =
      cells[PPI_TREE_device].kind ? cells[PPI_TREE_device].value : 0;
  return PPI_MAX(host, device);
}

// A row's size is at least that of the rows inside it, which stand below.
// `inside` has, by level, the largest size without a parent so far.
static void list_sizes(const ppi_view *view, int64_t *sizes, int64_t *inside) {
  for (size_t i = view->num_rows; i-- > 0;) {
    size_t level = (size_t)ppi_view_cells(view, i)[PPI_TREE_level].value;
    sizes[i] = PPI_MAX(size_of(ppi_view_cells(view, i)), inside[level + 1]);
    inside[level + 1] = 0;
    inside[level] = PPI_MAX(inside[level], sizes[i]);
  }
}

static int compare_sizes(const void *left, const void *right) {
  const int64_t *a = left, *b = right;
  return (*a < *b) - (*a > *b);
}

// Marks the rows that stay; `sorted` has room for `num` sizes.
static void choose(const int64_t *sizes, size_t num, size_t most,
                   int64_t *sorted, bool *stays) {
  memcpy(sorted, sizes, num * sizeof *sizes);
  qsort(sorted, num, sizeof *sorted, compare_sizes);
  int64_t least = sorted[most - 1];
  size_t num_equal = most;  // rows of the least size that may stay
  for (size_t i = 0; i < most; i++) num_equal -= sorted[i] > least;
  for (size_t i = 0; i < num; i++) {
    bool is_equal = sizes[i] == least && num_equal > 0;
    num_equal -= is_equal;
    stays[i] = sizes[i] > least || is_equal;
  }
}

static void keep(ppi_view *view, const bool *stays) {
  size_t num = 0;
  for (size_t i = 0; i < view->num_rows; i++)
    if (stays[i]) ppi_view_move_row(view, num++, i);
  view->num_rows = num;
}

static void trim_tree(ppi_view *view, size_t most) {
  size_t num = view->num_rows;
  for (size_t i = 0; i < num; i++)
    ppi_view_cells(view, i)[PPI_TREE_path] = (ppi_cell){.kind = PPI_CELL_NONE};
  if (num <= most) return;
  // A row's level is at most the number of rows.
  int64_t *sizes = ppi_alloc((2 * num + 2) * sizeof *sizes);
  bool *stays = ppi_alloc(num * sizeof *stays);
  if (sizes && stays) {
    list_sizes(view, sizes, sizes + num);
    choose(sizes, num, most, sizes + num, stays);
    keep(view, stays);
  } else {
    view->note.failed = true;
  }
  ppi_free(sizes);
  ppi_free(stays);
}

// ---- all ----

static void note(page_rows *rows, const char *view, size_t num) {
  size_t at = 0;
  while (at < rows->num_views && strcmp(rows->left_out[at].view, view) != 0)
    at++;
  if (at == MOST_VIEWS || (!num && at == rows->num_views)) return;
  rows->left_out[at].view = view;
  rows->left_out[at].num = num;
  rows->num_views = PPI_MAX(rows->num_views, at + 1);
}

// The `trim` of ppi_report_options. A row of the tree stays if a row inside it
// stays. Paths go: names and levels give them.
static void trim_view(void *of, void *context) {
  ppi_view *view = of;
  page_rows *rows = context;
  size_t num = view->num_rows;
  if (strcmp(view->kind->name, "tree") == 0) trim_tree(view, rows->most);
  if (view->num_rows > rows->most) {
    // The last row stays: it is the total, if there is one.
    ppi_view_move_row(view, rows->most - 1, num - 1);
    view->num_rows = rows->most;
  }
  note(rows, view->kind->name, num - view->num_rows);
}

static void put_left_out(ppi_page *page, const page_rows *rows) {
  ppi_page_text(page, "{");
  for (size_t i = 0; i < rows->num_views; i++)
    ppi_page_format(page, "%s\"%s\":%zu", i ? "," : "", rows->left_out[i].view,
                    rows->left_out[i].num);
  ppi_page_text(page, "}\n");
}

// ---- tables ----

typedef struct page_tables {
  const pprof_report *report;
  const ppi_report_options *asked;
  const struct document *document;
  page_rows *rows;
} page_tables;

static pprof_status make_document(ppi_pack *pack, const void *of,
                                  unsigned level) {
  const page_tables *tables = of;
  ppi_report_options options = tables->document->options;
  options.peaks = tables->asked->peaks;
  options.costs = tables->asked->costs;
  options.findings = tables->asked->findings;
  options.trim = trim_view;
  options.trim_of = tables->rows;
  tables->rows->most = PPI_MAX((size_t)MOST_ROWS >> level, 1u);
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);
  if (!out) return PPROF_STATUS_NO_MEMORY;
  pprof_status status =
      ppi_report_write(tables->report, &options, PPI_FORMAT_JSON, out);
  if (fclose(out) != 0 && status == PPROF_STATUS_OK)
    status = PPROF_STATUS_NO_MEMORY;
  if (status == PPROF_STATUS_OK) ppi_pack_bytes(pack, text, len);
  free(text);
  return status;
}

static pprof_status put_documents(const pprof_report *report,
                                  const ppi_report_options *options,
                                  FILE *out) {
  page_rows rows = {.num_views = 0};
  ppi_page left_out = {0};
  pprof_status status = PPROF_STATUS_OK;
  for (size_t i = 0; i < NUM_DOCUMENTS && status == PPROF_STATUS_OK; i++) {
    const page_tables tables = {report, options, &documents[i], &rows};
    const ppi_part part = {documents[i].id, documents[i].most_bytes,
                           make_document};
    status = ppi_part_put(&part, &tables, out);
  }
  if (status != PPROF_STATUS_OK) return status;
  put_left_out(&left_out, &rows);
  return ppi_html_element(out, "left_out", &left_out);
}

pprof_status ppi_html_write(const pprof_report *report,
                            const ppi_picture *picture,
                            const ppi_report_options *options, FILE *out) {
  const ppi_figures *figures = ppi_report_figures(report);
  if (!figures) return PPROF_STATUS_BUSY;
  ppi_html_begin(out);
  pprof_status status = put_words(out, figures);
  if (status == PPROF_STATUS_OK) status = put_documents(report, options, out);
  PPI_THEN(status, ppi_picture_pack(picture, figures, out));
  pprof_status ended = ppi_html_end(out);
  return status == PPROF_STATUS_OK ? ended : status;
}
