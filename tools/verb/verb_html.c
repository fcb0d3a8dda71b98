// SPDX-License-Identifier: Apache-2.0
//
// Runs `html`: writes the report of one or several logs as a page.
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/output.h"
#include "html/html.h"
#include "input/input.h"
#include "verb/costs.h"
#include "verb/reports.h"
#include "verb/thresholds.h"
#include "verb/verbs.h"

static int write_page(const struct ppi_tool_options *options,
                      const pprof_report *report, const ppi_picture *picture,
                      int code) {
  ppi_findings_options findings;
  struct ppi_tool_costs costs;
  int taken = ppi_tool_costs_take(options, report, &costs, &findings);
  if (taken != PPI_EXIT_DONE) return taken;
  const ppi_report_options how = {
      .peaks = &costs.peaks, .costs = &costs.costs, .findings = &findings};
  FILE *out;
  int opened = ppi_tool_output_open(options, &out);
  if (opened != PPI_EXIT_DONE) return opened;
  errno = 0;
  pprof_status status = ppi_html_write(report, picture, &how, out);
  int reason = errno;
  code = ppi_tool_output_close(options, out, reason, code);
  if (status == PPROF_STATUS_OK || status == PPROF_STATUS_IO) return code;
  ppi_tool_say("the page cannot be written: %s", pprof_status_string(status));
  return code > PPI_EXIT_USAGE ? code : PPI_EXIT_USAGE;
}

// Reads the logs a second time, without repeating messages.
static int read_again(const struct ppi_tool_options *options,
                      const pprof_report *report, ppi_picture *picture) {
  struct ppi_tool_runs met = {.items = NULL};
  int code = PPI_EXIT_DONE;
  pprof_status status = ppi_picture_plan(picture, ppi_report_figures(report));
  for (int i = 0; i < options->num_inputs && status == PPROF_STATUS_OK; i++) {
    struct ppi_tool_watch watch;
    ppi_tool_read_again(options->inputs[i], ppi_picture_detail(picture), &watch,
                        &met);
    status = watch.sink_failed ? watch.sink_status : PPROF_STATUS_OK;
  }
  ppi_tool_runs_clear(&met);
  if (status == PPROF_STATUS_OK) return code;
  return ppi_tool_fail(PPI_EXIT_INPUT, "%s",
                       status == PPROF_STATUS_INVALID
                           ? "an input has changed while it was read"
                           : pprof_status_string(status));
}

static int write_with(const struct ppi_tool_options *options,
                      ppi_picture *picture) {
  int code = PPI_EXIT_DONE;
  ppi_report_details details = {.warmup = options->warmup};
  ppi_html_need(&details);
  pprof_report *report = ppi_tool_reports_read(
      options, &details, ppi_picture_survey(picture), &code);
  if (!report) return code;
  // Other verbs judge the report themselves.
  if (options->verb->run == ppi_tool_html)
    code = ppi_tool_worse(code, ppi_tool_report_judge(report, options->strict));
  int again = read_again(options, report, picture);
  code = again == PPI_EXIT_DONE ? write_page(options, report, picture, code)
                                : again;
  pprof_report_destroy(report);
  return code;
}

static int read_and_write(const struct ppi_tool_options *options) {
  ppi_picture *picture;
  if (ppi_picture_create(&picture) != PPROF_STATUS_OK) ppi_tool_must(NULL);
  int code = write_with(options, picture);
  ppi_picture_destroy(picture);
  return code;
}

int ppi_tool_html_of(const struct ppi_tool_options *options, const char *path) {
  struct ppi_tool_options to = *options;
  to.output = path;
  int code = read_and_write(&to);
  if (strcmp(path, "-") != 0 && code != PPI_EXIT_USAGE &&
      code != PPI_EXIT_INPUT)
    ppi_tool_show(stderr, path);
  return code;
}

// Starts the browser as a process of its own, in the background.
static bool show_in(const char *program, const char *path) {
  char *argv[] = {(char *)program, (char *)path, NULL};
  pid_t pid;
  return program && *program &&
         posix_spawnp(&pid, program, NULL, NULL, argv, environ) == 0;
}

static void show(const char *path) {
  if (!show_in(getenv("BROWSER"), path) && !show_in("xdg-open", path))
    ppi_tool_say("no browser: set BROWSER, or open '%s' yourself", path);
}

static int check(const struct ppi_tool_options *options, const char *path) {
  ppi_findings_options findings;
  int code = ppi_tool_thresholds_read(options->threshold, &findings);
  if (code == PPI_EXIT_DONE) code = ppi_tool_costs_check(options);
  return code == PPI_EXIT_DONE ? ppi_tool_output_check(options, path) : code;
}

int ppi_tool_html(const struct ppi_tool_options *options) {
  struct ppi_tool_options named;
  char *made;
  int code = ppi_tool_output_name(options, ".html", &named, &made);
  const char *path = named.output;
  if (code == PPI_EXIT_DONE) code = check(options, path);
  if (code == PPI_EXIT_DONE && options->open && strcmp(path, "-") == 0)
    code =
        ppi_tool_fail(PPI_EXIT_USAGE, "'--open' needs a file: --output FILE");
  if (code == PPI_EXIT_DONE) {
    code = ppi_tool_html_of(options, path);
    if (options->open && code != PPI_EXIT_USAGE && code != PPI_EXIT_INPUT)
      show(path);
  }
  free(made);
  return code;
}
