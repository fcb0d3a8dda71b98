// SPDX-License-Identifier: Apache-2.0
//
// Runs `summary`: prints the tables of one log, or of several added up.
#include <errno.h>
#include <limits.h>

#include "cli/look.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "import/fields.h"
#include "print/report_print.h"
#include "verb/costs.h"
#include "verb/reports.h"
#include "verb/thresholds.h"
#include "verb/verbs.h"
#include "view/grid.h"
#include "view/tree_rows.h"

// ---- limits of served requests ----

static bool read_one(const char *text, size_t len, ppi_slo *out) {
  const struct {
    const char *key;
    uint64_t *bound_ns;
  } keys[] = {{"ttft=", &out->ttft_ns},
              {"itl=", &out->itl_ns},
              {"tpot=", &out->tpot_ns},
              {"e2e=", &out->e2e_ns}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    size_t key_len = strlen(keys[i].key);
    int64_t ns;
    if (len <= key_len || strncmp(text, keys[i].key, key_len) != 0) continue;
    if (!ppi_duration_ns(text + key_len, len - key_len, &ns) || ns <= 0)
      return false;
    *keys[i].bound_ns = (uint64_t)ns;
    return true;
  }
  return false;
}

// ppi_tool_slo_read reads "ttft=200ms,itl=50ms" (also tpot and e2e; ns, us, ms,
// s). NULL is none.
//
// Result: an exit code, after a message about a mistake.
static int ppi_tool_slo_read(const char *text, ppi_slo *out) {
  *out = (ppi_slo){0};
  while (text) {
    size_t len = strcspn(text, ",");
    if (!read_one(text, len, out))
      return ppi_tool_fail(
          PPI_EXIT_USAGE,
          "--slo: '%.*s' is none of ttft=TIME, itl=TIME, tpot=TIME and"
          " e2e=TIME, such as ttft=200ms",
          (int)len, text);
    text = text[len] ? text + len + 1 : NULL;
  }
  return PPI_EXIT_DONE;
}

// ---- the rest ----

static const char *const style_names[] = {[PPI_STYLE_PADDLE] = "paddle",
                                          [PPI_STYLE_TORCH] = "torch",
                                          [PPI_STYLE_NSYS] = "nsys",
                                          [PPI_STYLE_ANSWER] = "answer"};

static ppi_report_by by_of(const struct ppi_tool_options *options) {
  static const char *const names[] = {[PPI_BY_USUAL] = "",
                                      [PPI_BY_REQUEST] = "request",
                                      [PPI_BY_STEP] = "step",
                                      [PPI_BY_RANK] = "rank",
                                      [PPI_BY_THREAD] = "thread"};
  unsigned i = options->tables.by ? PPI_BY_THREAD : PPI_BY_USUAL;
  while (i > 0 && strcmp(names[i], options->tables.by) != 0) i--;
  return (ppi_report_by)i;
}

static bool wants_tree(const struct ppi_tool_options *options) {
  return options->tables.tree || options->tables.flat ||
         options->tables.open_kernels ||
         (options->tables.columns && !options->tables.view &&
          !options->tables.style) ||
         options->tables.filter || options->tables.depth != LONG_MIN;
}

static ppi_report_style style_of(const struct ppi_tool_options *options) {
  if (options->tables.compact) return PPI_STYLE_ANSWER;
  if (!options->tables.style && wants_tree(options)) return PPI_STYLE_TREE;
  if (!options->tables.style && options->tables.by && !options->tables.view)
    return PPI_STYLE_ANSWER;
  if (!options->tables.style)
    // Options that sort or split tables ask for tables.
    return options->tables.sort || options->tables.thread_sep ||
                   options->tables.op_detail
               ? PPI_STYLE_PADDLE
               : ppi_report_usual_style(options->tables.view,
                                        ppi_report_format_of(options->format));
  unsigned i = PPI_STYLE_ANSWER;
  while (i > 0 && strcmp(style_names[i], options->tables.style) != 0) i--;
  return (ppi_report_style)i;
}

// Whether each view gets a file: csv into a folder. Other formats fail without
// a file.
static bool wants_files(const struct ppi_tool_options *options) {
  return ppi_report_format_of(options->format) == PPI_FORMAT_CSV &&
         ppi_tool_output_is_folder(options->output);
}

static pprof_report *read_all(const struct ppi_tool_options *options,
                              int *code) {
  ppi_report_details details = {
      .by_thread = options->tables.thread_sep,
      .operator_parts = options->tables.op_detail,
      .paddle_distribution =
          strcmp(options->tables.distribution, "paddle") == 0,
      .warmup = options->warmup};
  ppi_tool_slo_read(options->slo, &details.slo);
  const ppi_report_options how = {
      .views = options->tables.view,
      .iteration = options->tables.iteration,
      .no_iterations = options->tables.no_iterations,
      .style = style_of(options),
      .by = by_of(options),
      .is_flat = options->tables.flat,
      .columns = options->tables.columns,
      .has_kernels = options->tables.open_kernels};
  ppi_report_need(&how, ppi_report_format_of(options->format), &details);
  return ppi_tool_reports_read(options, &details, NULL, code);
}

static int check_compact(const struct ppi_tool_options *options) {
  bool is_alone =
      !options->tables.style && !options->tables.view && !wants_tree(options);
  if (!options->tables.compact) return PPI_EXIT_DONE;
  if (is_alone && ppi_report_format_of(options->format) == PPI_FORMAT_JSON)
    return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE,
                       "'--compact' is a form of '-f json' alone");
}

static int check_columns(const struct ppi_tool_options *options,
                         ppi_report_style style) {
  const char *asked = options->tables.columns;
  ppi_page known = {0};
  if (!asked) return PPI_EXIT_DONE;
  if (style == PPI_STYLE_TREE)
    ppi_page_text(&known, ppi_tree_columns());
  else
    ppi_report_columns(style, options->tables.view, &known);
  int code = PPI_EXIT_DONE;
  if (known.failed || !ppi_names_are_of(asked, known.bytes ? known.bytes : ""))
    code = ppi_tool_fail(PPI_EXIT_USAGE, "'--columns %s' has others than %s",
                         asked, known.bytes ? known.bytes : "");
  ppi_page_clear(&known);
  return code;
}

// Keys and views depend on the style, so the option table cannot check them.
int ppi_tool_summary_check(const struct ppi_tool_options *options) {
  ppi_report_style style = style_of(options);
  if (check_compact(options) != PPI_EXIT_DONE) return PPI_EXIT_USAGE;
  if (options->tables.sort && !ppi_sort_is_known(style, options->tables.sort))
    return ppi_tool_fail(PPI_EXIT_USAGE, "'--sort %s' is not one of %s",
                         options->tables.sort, ppi_sort_keys(style));
  if (options->tables.style && wants_tree(options))
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'--style %s' has no tree: leave it out",
                         options->tables.style);
  if (options->tables.tree && options->tables.flat)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'--tree' and '--flat' are two tables: choose one");
  if (check_columns(options, style) != PPI_EXIT_DONE) return PPI_EXIT_USAGE;
  if (wants_files(options) && style != PPI_STYLE_PADDLE)
    return ppi_tool_fail(
        PPI_EXIT_USAGE,
        "%s: a folder is for views; this is one table, give a file",
        options->output);
  if (options->tables.view && style != PPI_STYLE_PADDLE)
    return ppi_tool_fail(PPI_EXIT_USAGE,
                         "'%s%s' has one table: leave out '--view'",
                         options->tables.style ? "--style " : "--tree",
                         options->tables.style ? options->tables.style : "");
  ppi_findings_options findings;
  ppi_slo slo;
  int code = ppi_tool_thresholds_read(options->threshold, &findings);
  if (code == PPI_EXIT_DONE) code = ppi_tool_slo_read(options->slo, &slo);
  // Reports an unreadable model before a command runs.
  return code == PPI_EXIT_DONE ? ppi_tool_costs_check(options) : code;
}

static bool has_full_names(const struct ppi_tool_options *options) {
  return options->tables.kernel_names &&
         strcmp(options->tables.kernel_names, "full") == 0;
}

// Writes the report by `how`, with the wanted views.
static int write_as(const struct ppi_tool_options *options,
                    const pprof_report *report, const ppi_report_options *how,
                    int code) {
  FILE *out;
  int opened = ppi_tool_output_open(options, &out);
  if (opened != PPI_EXIT_DONE) return opened;
  errno = 0;
  pprof_status status =
      ppi_report_write(report, how, ppi_report_format_of(options->format), out);
  int reason = errno;
  code = ppi_tool_output_close(options, out, reason, code);
  if (status == PPROF_STATUS_OK || status == PPROF_STATUS_IO) return code;
  ppi_tool_say("the report cannot be written: %s", pprof_status_string(status));
  return code > PPI_EXIT_USAGE ? code : PPI_EXIT_USAGE;
}

// Writes DIR/VIEW.csv for each view of `how`.
static int write_files(const struct ppi_tool_options *options,
                       const pprof_report *report,
                       const ppi_report_options *how, int code) {
  int made = ppi_tool_output_folder(options->output);
  if (made != PPI_EXIT_DONE) return made;
  bool has_slash = options->output[strlen(options->output) - 1] == '/';
  for (const char *at = how->views; *at; at += strspn(at, ",")) {
    size_t len = strcspn(at, ",");
    char name[64], path[PATH_MAX];
    snprintf(name, sizeof name, "%.*s", (int)len, at);
    snprintf(path, sizeof path, "%s%s%s.csv", options->output,
             has_slash ? "" : "/", name);
    struct ppi_tool_options one = *options;
    ppi_report_options one_view = *how;
    one.output = path;
    one_view.views = name;
    code = write_as(&one, report, &one_view, code);
    at += len;
  }
  return code;
}

static int write_report(const struct ppi_tool_options *options,
                        const pprof_report *report, int code) {
  struct ppi_tool_costs costs;
  ppi_findings_options findings;
  int taken = ppi_tool_costs_take(options, report, &costs, &findings);
  if (taken != PPI_EXIT_DONE) return taken;
  ppi_report_options how = {.views = options->tables.view,
                            .by = by_of(options),
                            .time_unit = ppi_tool_time_unit(options),
                            .has_time_unit = options->time_unit != NULL,
                            .style = style_of(options),
                            .sort = options->tables.sort,
                            .top = options->tables.top,
                            .name_width = options->tables.name_width,
                            .peaks = &costs.peaks,
                            .costs = &costs.costs,
                            .findings = &findings,
                            .is_compact = options->tables.compact,
                            .is_raw = options->raw,
                            .is_verbose = options->tables.verbose,
                            .is_flat = options->tables.flat,
                            .depth = options->tables.depth,
                            .filter = options->tables.filter,
                            .columns = options->tables.columns,
                            .has_kernels = options->tables.open_kernels,
                            .has_full_names = has_full_names(options)};
  ppi_tool_look(options, &how);
  return wants_files(options) ? write_files(options, report, &how, code)
                              : write_as(options, report, &how, code);
}

static int summarize(const struct ppi_tool_options *options, bool *out_any) {
  int code = PPI_EXIT_DONE;
  pprof_report *report = read_all(options, &code);
  *out_any = report != NULL;
  if (!report) return code;
  code = ppi_tool_worse(code, ppi_tool_report_judge(report, options->strict));
  code = write_report(options, report, code);
  pprof_report_destroy(report);
  return code;
}

// A folder gets all views.
int ppi_tool_summary_of(const struct ppi_tool_options *options, bool *out_any) {
  struct ppi_tool_options with_views = *options;
  ppi_page names = {0};
  if (wants_files(options) && !options->tables.view) {
    const ppi_view_kind *const *view = ppi_view_kinds();
    for (; *view; view++)
      ppi_page_format(&names, "%s%s", names.len ? "," : "", (*view)->name);
    with_views.tables.view = names.bytes;
  }
  if (names.failed) ppi_tool_must(NULL);
  int code = summarize(&with_views, out_any);
  ppi_page_clear(&names);
  return code;
}

int ppi_tool_summary(const struct ppi_tool_options *options) {
  bool any;
  int code = ppi_tool_summary_check(options);
  if (code == PPI_EXIT_DONE)
    code = ppi_tool_output_check(options, options->output);
  return code == PPI_EXIT_DONE ? ppi_tool_summary_of(options, &any) : code;
}
