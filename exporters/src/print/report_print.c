// SPDX-License-Identifier: Apache-2.0
//
// Builds the views that a list of names asks for, and prints them to a stream
// in a format.
#include "print/report_print.h"

#include "base/uncancelled.h"
#include "file/json_put.h"
#include "pprof/export.h"
#include "print/printers.h"
#include "report/figures/sum.h"
#include "view/answer_line.h"
#include "view/fit.h"
#include "view/grid.h"
#include "view/tree_rows.h"

// The tables of the style nsys.
#define NSYS_VIEWS(each)                                            \
  each(nsys_nvtx_sum) each(nsys_proj_sum) each(nsys_nvtx_kern_sum)  \
      each(nsys_api_sum) each(nsys_kern_sum) each(nsys_kern_gb_sum) \
          each(nsys_mem_time_sum) each(nsys_mem_size_sum)

#define DECLARE(name) extern const ppi_view_kind ppi_view_##name;
PPI_VIEWS(DECLARE)
NSYS_VIEWS(DECLARE)
DECLARE(torch)
DECLARE(tree)
#undef DECLARE

#define ADDRESS(name) &ppi_view_##name,
static const ppi_view_kind *const view_kinds[] = {PPI_VIEWS(ADDRESS) NULL};
static const ppi_view_kind *const nsys_kinds[] = {NSYS_VIEWS(ADDRESS) NULL};
#undef ADDRESS
static const ppi_view_kind *const torch_kinds[] = {&ppi_view_torch, NULL};
static const ppi_view_kind *const answer_kinds[] = {&ppi_view_answer,
                                                    &ppi_view_serving, NULL};
static const ppi_view_kind *const tree_kinds[] = {&ppi_view_tree, NULL};
static const ppi_view_kind *const *const kinds_of_style[] = {
    [PPI_STYLE_PADDLE] = view_kinds,
    [PPI_STYLE_TORCH] = torch_kinds,
    [PPI_STYLE_NSYS] = nsys_kinds,
    [PPI_STYLE_ANSWER] = answer_kinds,
    [PPI_STYLE_TREE] = tree_kinds};

enum { NUM_VIEWS = sizeof view_kinds / sizeof *view_kinds - 1 };

const ppi_view_kind *const *ppi_view_kinds(void) {
  return view_kinds;
}

ppi_report_format ppi_report_format_of(const char *name) {
#define NAME(value, name) name,
  static const char *const names[] = {PPI_REPORT_FORMATS(NAME)};
#undef NAME
  unsigned i = sizeof names / sizeof *names - 1;
  while (i > 0 && strcmp(names[i], name) != 0) i--;
  return (ppi_report_format)i;
}

ppi_report_style ppi_report_usual_style(const char *views,
                                        ppi_report_format format) {
  bool is_for_people =
      format == PPI_FORMAT_TABLE || format == PPI_FORMAT_MARKDOWN;
  return is_for_people && !views ? PPI_STYLE_ANSWER : PPI_STYLE_PADDLE;
}

// JSON of all tables includes the answer and the findings.
static bool wants_answer(const ppi_report_options *options,
                         ppi_report_format format) {
  if (options->views)
    return ppi_names_have(options->views, ppi_view_answer.name);
  return options->style == PPI_STYLE_ANSWER ||
         (options->style == PPI_STYLE_PADDLE && format == PPI_FORMAT_JSON);
}

void ppi_report_need(const ppi_report_options *options,
                     ppi_report_format format, ppi_report_details *details) {
  const char *views = options->views;
  bool answer = wants_answer(options, format);
  details->answer |= answer || ppi_names_have(views, ppi_view_energy.name);
  bool wants_use = options->has_kernels ||
                   (options->columns && ppi_tree_wants_use(options->columns));
  details->iteration = options->iteration;
  details->no_iterations = options->no_iterations;
  details->answer_of_steps |= answer && options->by == PPI_BY_STEP;
  details->by_thread |= answer && options->by == PPI_BY_THREAD;
  details->allocations |= options->style == PPI_STYLE_TORCH ||
                          ppi_names_have(views, ppi_view_torch.name);
  details->kernels |= options->style == PPI_STYLE_NSYS || wants_use;
  details->paths |=
      answer || options->style == PPI_STYLE_TREE || details->kernels;
  details->flat_paths |= details->paths && options->is_flat;
  details->requests |= answer || ppi_names_have(views, ppi_view_requests.name);
}

static bool all_are_known(const char *names) {
  for (const char *at = names;; at++) {
    size_t len = strcspn(at, ",");
    bool known = false;
    for (size_t i = 0; i < NUM_VIEWS; i++)
      known |= strlen(view_kinds[i]->name) == len &&
               strncmp(view_kinds[i]->name, at, len) == 0;
    if (!known) return false;
    at += len;
    if (*at == '\0') return true;
  }
}

static bool are_valid(const ppi_report_options *options) {
  if (options->views &&
      (options->style != PPI_STYLE_PADDLE || !all_are_known(options->views)))
    return false;
  return !options->sort || ppi_sort_is_known(options->style, options->sort);
}

static bool has_answers(const ppi_figures *figures) {
  return figures->answers[ppi_figures_base(figures)].num_units > 0 ||
         figures->runs_unopened > 0;
}

void ppi_report_columns(ppi_report_style style, const char *views,
                        ppi_page *out) {
  for (const ppi_view_kind *const *kind = kinds_of_style[style]; *kind; kind++)
    if (!views || ppi_names_have(views, (*kind)->name))
      ppi_view_put_columns(*kind, out);
}

static bool is_asked(const ppi_view_kind *kind,
                     const ppi_report_options *options,
                     ppi_report_format format, const ppi_figures *figures) {
  if (options->views) return ppi_names_have(options->views, kind->name);
  if (kind != &ppi_view_answer) return !kind->named_only;
  return options->style == PPI_STYLE_ANSWER ||
         (wants_answer(options, format) && has_answers(figures));
}

static pprof_status build_views(const ppi_figures *figures,
                                const ppi_report_options *options,
                                ppi_report_format format, ppi_view *views,
                                size_t *out_num) {
  for (const ppi_view_kind *const *kind = kinds_of_style[options->style]; *kind;
       kind++) {
    if (!is_asked(*kind, options, format, figures)) continue;
    ppi_view *view = &views[*out_num];
    ++*out_num;
    if (!ppi_view_begin(view, *kind)) return PPROF_STATUS_NO_MEMORY;
    view->note.width = options->width;
    view->note.has_colour = options->has_colour;
    (*kind)->build(figures, options, view);
    if (view->note.failed) return PPROF_STATUS_NO_MEMORY;
    bool is_for_people =
        format == PPI_FORMAT_TABLE || format == PPI_FORMAT_MARKDOWN;
    if (is_for_people && (*kind)->fold) (*kind)->fold(view, options);
    if (options->trim) options->trim(view, options->trim_of);
    if (view->note.failed) return PPROF_STATUS_NO_MEMORY;
    if (!(*kind)->only_with_rows || view->num_rows || options->views) continue;
    ppi_view_clear(view);
    --*out_num;
  }
  return PPROF_STATUS_OK;
}

static void put_reason(ppi_page *page, const ppi_view *view,
                       ppi_report_format format) {
  if (format == PPI_FORMAT_MARKDOWN) {
    ppi_page_format(page, "## %s\n\n", view->kind->title);
    ppi_page_markdown(page, view->reason);
    ppi_page_text(page, "\n");
    return;
  }
  ppi_page line = {0};
  ppi_page_format(&line, "%s: %s\n", view->kind->title, view->reason);
  ppi_page_wrapped_lines(page, &line);
  ppi_page_clear(&line);
}

static void put_view(ppi_page *page, const ppi_view *view,
                     const ppi_report_options *options,
                     ppi_report_format format) {
  if (format == PPI_FORMAT_MARKDOWN)
    ppi_markdown_put(
        page, view,
        options->style == PPI_STYLE_NSYS ? PPI_TIME_NS : options->time_unit);
  else if (view->kind->put_text)
    view->kind->put_text(page, view, options);
  else
    ppi_table_put(page, view, options);
}

// A style with one line of trust names what else there is.
static const char *more_of(const ppi_report_options *options) {
  if (options->style == PPI_STYLE_ANSWER)
    return "--tree, --view stages,requests,interference, --style paddle, "
           "--verbose, docs/findings.md";
  if (options->style != PPI_STYLE_TREE) return NULL;
  if (options->has_kernels)
    return "--top N, --kernel-names full, --columns A,B,..., --view launches, "
           "--style nsys, docs/devices.md";
  return options->is_flat ? "--tree, --sort KEY, --filter GLOB, docs/tables.md"
                          : "--flat, --depth N, --filter GLOB, --sort KEY, "
                            "docs/tables.md";
}

static void put_trust(ppi_page *page, const ppi_figures *figures,
                      const ppi_report_options *options) {
  ppi_page lines = {0};
  const char *more = options->is_verbose ? NULL : more_of(options);
  if (more) {
    ppi_trust_put_line(&lines, figures, options->time_unit);
  } else {
    ppi_identity_put(&lines, figures, options->time_unit);
    ppi_trust_put(&lines, figures, options->time_unit);
  }
  if (options->is_wide)
    ppi_page_bytes(page, lines.bytes, lines.len);
  else
    ppi_page_wrapped_lines(page, &lines);
  page->failed |= lines.failed;
  ppi_page_clear(&lines);
  if (!more) return;
  ppi_page_text(page, "More: ");
  ppi_page_wrapped(page, more, strlen("More: "));
}

// In text tables one reason follows another line by line. A blank line follows
// everything else.
static void put_for_people(ppi_page *page, const ppi_figures *figures,
                           const ppi_view *views, size_t num_views,
                           const ppi_report_options *options,
                           ppi_report_format format) {
  bool is_open = false;
  for (size_t i = 0; i < num_views; i++) {
    const ppi_view *view = &views[i];
    bool is_unasked = view->only_when_named && !options->views;
    bool has_reason = view->reason && (is_unasked || !view->num_rows);
    if (is_unasked && !has_reason) continue;
    if (is_open && (!has_reason || format == PPI_FORMAT_MARKDOWN))
      ppi_page_text(page, "\n");
    if (has_reason)
      put_reason(page, view, format);
    else
      put_view(page, view, options, format);
    if (!has_reason) ppi_page_text(page, "\n");
    is_open = has_reason;
  }
  if (is_open) ppi_page_text(page, "\n");
  put_trust(page, figures, options);
}

static void put_csv(ppi_page *page, const ppi_view *views, size_t num_views) {
  for (size_t i = 0; i < num_views; i++) {
    if (i) ppi_page_text(page, "\n");
    ppi_csv_put(page, &views[i], num_views > 1);
  }
}

void ppi_print_view(ppi_page *page, const ppi_view *view,
                    ppi_report_format format, const ppi_report_options *how) {
  page->width = how->width;
  page->has_colour = how->has_colour;
  switch (format) {
    case PPI_FORMAT_TABLE:
      ppi_table_put(page, view, how);
      break;
    case PPI_FORMAT_CSV:
      ppi_csv_put(page, view, false);
      break;
    case PPI_FORMAT_MARKDOWN:
      ppi_markdown_put(page, view, how->time_unit);
      break;
    case PPI_FORMAT_JSON:
      ppi_put_line(page);
      ppi_json_put_view(page, view);
      break;
  }
}

pprof_status ppi_figures_write(const ppi_figures *figures,
                               const ppi_report_options *options,
                               ppi_report_format format, FILE *out) {
  if (!are_valid(options)) return PPROF_STATUS_INVALID;
  ppi_view views[NUM_VIEWS];
  ppi_page page = {.is_raw = options->is_raw,
                   .has_colour = options->has_colour,
                   .width = options->width};
  size_t num = 0;
  pprof_status status = build_views(figures, options, format, views, &num);
  if (status == PPROF_STATUS_OK) {
    if (format == PPI_FORMAT_JSON && options->is_compact)
      status = ppi_json_put_compact(&page, figures, num ? views : NULL,
                                    options->findings);
    else if (format == PPI_FORMAT_JSON)
      ppi_json_put(&page, figures, views, num,
                   !options->views && has_answers(figures) ? options : NULL);
    else if (format == PPI_FORMAT_CSV)
      put_csv(&page, views, num);
    else
      put_for_people(&page, figures, views, num, options, format);
    bool is_data = format == PPI_FORMAT_JSON || format == PPI_FORMAT_CSV;
    if (options->is_ascii && !is_data) ppi_page_to_ascii(&page);
    if (status == PPROF_STATUS_OK)
      status = ppi_page_write(&page, out);
    else
      ppi_page_clear(&page);
  }
  for (size_t i = 0; i < num; i++) ppi_view_clear(&views[i]);
  return status;
}

pprof_status ppi_report_write(const pprof_report *report,
                              const ppi_report_options *options,
                              ppi_report_format format, FILE *out) {
  if (!report || !out) return PPROF_STATUS_INVALID;
  const ppi_figures *figures = ppi_report_figures(report);
  if (!figures) return PPROF_STATUS_BUSY;
  return ppi_figures_write(figures, options, format, out);
}

static pprof_status write(const pprof_report *report, const char *views,
                          ppi_report_format format, FILE *out) {
  PPI_UNCANCELLED;
  const ppi_report_options options = {.views = views, .is_wide = true};
  return ppi_report_write(report, &options, format, out);
}

pprof_status pprof_report_write_table(const pprof_report *report,
                                      const char *views, FILE *out) {
  return write(report, views, PPI_FORMAT_TABLE, out);
}

pprof_status pprof_report_write_json(const pprof_report *report,
                                     const char *views, FILE *out) {
  return write(report, views, PPI_FORMAT_JSON, out);
}

pprof_status pprof_report_write_csv(const pprof_report *report,
                                    const char *views, FILE *out) {
  return write(report, views, PPI_FORMAT_CSV, out);
}
