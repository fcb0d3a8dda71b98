// SPDX-License-Identifier: Apache-2.0
//
// Runs `trace`: writes the runs of one or several logs as a Chrome trace.
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "chrome/chrome.h"
#include "cli/output.h"
#include "clocks/clocks.h"
#include "input/input.h"
#include "input/segments.h"
#include "log/read/log_section.h"
#include "verb/verbs.h"

// The runs of all inputs, in order, with their begins in real time.
struct axis {
  struct axis_run {
    uint64_t base_ns;  // 0: unknown
    bool is_empty;     // no readable events
  } * runs;
  size_t num_runs, capacity;
  struct ppi_tool_runs met;  // to take each run once
};

static void add_run(struct axis *axis, const ppi_log_section *section) {
  const char *before;
  if (ppi_tool_run_meet(&axis->met, section->uuid, section->segment, "",
                        &before))
    return;
  PPI_MUST_PUSH(axis->runs, axis->num_runs, axis->capacity,
                (struct axis_run){section->base_ns, section->len == 0});
}

// Segments of a run that follow each other are read as one run.
static int list_sections(const char *path, bool first_only, struct axis *axis) {
  ppi_log_section *sections;
  size_t num;
  pprof_error error = {""};
  if (ppi_log_sections(path, &sections, &num, &error) != PPROF_STATUS_OK)
    return ppi_tool_fail(PPI_EXIT_INPUT, "%s", error.text);
  for (size_t i = 0; i < num; i++)
    if (i == 0 || (!first_only &&
                   !ppi_log_section_goes_on(&sections[i - 1], &sections[i])))
      add_run(axis, &sections[i]);
  ppi_free(sections);
  return PPI_EXIT_DONE;
}

static int list_runs(const char *path, struct axis *axis) {
  struct ppi_tool_segments segments;
  ppi_tool_segments_of(&path, &segments);
  int code = list_sections(segments.paths[0], segments.paths != &path, axis);
  ppi_tool_segments_clear(&segments);
  return code;
}

// Whether all runs fit one axis: each run with events has a known begin.
static bool has_one_axis(const struct axis *axis) {
  bool any = false;
  for (size_t i = 0; i < axis->num_runs; i++) {
    if (!axis->runs[i].base_ns && !axis->runs[i].is_empty) return false;
    any |= axis->runs[i].base_ns != 0;
  }
  return any && axis->num_runs > 1;
}

// ---- hosts' clocks ----

// The compared clocks, and a label for each run's process. Empty without
// several hosts.
struct alignment {
  ppi_clocks *clocks;
  char **labels;
  size_t num_labels;
};

// Reads all logs into new clocks; skipping events is fast.
static ppi_clocks *read_clocks(const struct ppi_tool_log *logs, int num,
                               bool skims) {
  ppi_clocks *clocks = ppi_clocks_create();
  struct ppi_tool_runs met = {.items = NULL};
  for (int i = 0; i < num; i++) {
    struct ppi_tool_watch watch;
    pprof_sink *sink = ppi_clocks_sink(clocks);
    if (skims)
      ppi_tool_skim(logs[i].path, sink, true, &watch, NULL);
    else
      ppi_tool_read_again(logs[i].path, sink, &watch, &met);
  }
  ppi_tool_runs_clear(&met);
  return clocks;
}

static double ms(double ns) {
  return ns / 1e6;
}

// The order of two hosts' events is known if their distance exceeds both
// clocks' errors.
static void say_clocks(const ppi_clocks *clocks) {
  size_t num = ppi_clocks_num_hosts(clocks), num_known = 0;
  uint64_t worst = 0, second = 0;
  for (size_t i = 0; i < num; i++) {
    const ppi_clocks_host *host = ppi_clocks_at(clocks, i);
    if (!host->num_pairs) continue;
    num_known++;
    second = PPI_MAX(second, PPI_MIN(worst, host->error_ns));
    worst = PPI_MAX(worst, host->error_ns);
  }
  if (num_known)
    ppi_tool_say(
        "the ends of their collectives set the clocks of %zu hosts: order "
        "between hosts is true beyond %.3f ms",
        num_known, ms((double)(worst + second)));
  if (num_known < num)
    ppi_tool_say(
        "%zu of %zu hosts share no collective with the others: their own "
        "clocks order them, with unknown error",
        num - num_known, num);
}

static char *label_of(const ppi_clocks_host *host) {
  char *label = NULL;
  int len = -1;
  if (!host)
    len = asprintf(&label, "host not known");
  else if (!host->num_pairs)
    len = asprintf(&label, "host's own clock, error not known");
  else
    len = asprintf(&label, "clock set by %+.3f ms, +-%.3f ms",
                   ms((double)-host->offset_ns), ms((double)host->error_ns));
  return len < 0 ? ppi_tool_must(NULL) : label;
}

// Compares the hosts' clocks. Without several hosts on one axis it does
// nothing.
static void align(const struct ppi_tool_log *logs, int num,
                  const struct axis *axis, struct alignment *by) {
  ppi_clocks *glance = has_one_axis(axis) ? read_clocks(logs, num, true) : NULL;
  bool is_alone = !glance || ppi_clocks_num_hosts(glance) < 2;
  ppi_clocks_destroy(glance);
  if (is_alone) return;
  by->clocks = read_clocks(logs, num, false);
  by->labels = ppi_tool_must(ppi_alloc(axis->num_runs * sizeof *by->labels));
  ppi_clocks_compare(by->clocks);
  // Runs of a damaged log may be listed but unreadable.
  if (ppi_clocks_num_runs(by->clocks) != axis->num_runs) {
    ppi_tool_say("not all runs can be read: hosts' clocks are not compared");
    ppi_clocks_destroy(by->clocks);
    by->clocks = NULL;
    return;
  }
  for (; by->num_labels < axis->num_runs; by->num_labels++)
    by->labels[by->num_labels] =
        label_of(ppi_clocks_of(by->clocks, by->num_labels));
  say_clocks(by->clocks);
}

// The begin of a run, by the common clock; 0: unknown.
static uint64_t base_of(const struct axis *axis, const struct alignment *by,
                        size_t run) {
  uint64_t base_ns = axis->runs[run].base_ns;
  const ppi_clocks_host *host =
      by->clocks ? ppi_clocks_of(by->clocks, run) : NULL;
  return host ? base_ns - (uint64_t)host->offset_ns : base_ns;
}

// Puts all runs on one axis if their begins are known, else each at zero.
static void plan_runs(const struct axis *axis, const struct alignment *by,
                      pprof_sink *sink) {
  if (axis->num_runs < 2) return;
  uint64_t *shifts = ppi_tool_must(ppi_alloc(axis->num_runs * sizeof(*shifts)));
  uint64_t first = UINT64_MAX;
  bool known = has_one_axis(axis);
  for (size_t i = 0; i < axis->num_runs; i++)
    if (axis->runs[i].base_ns) first = PPI_MIN(first, base_of(axis, by, i));
  for (size_t i = 0; known && i < axis->num_runs; i++)
    if (axis->runs[i].base_ns) shifts[i] = base_of(axis, by, i) - first;
  if (!known)
    ppi_tool_say(
        "not all of the %zu runs say when they began: each starts at 0",
        axis->num_runs);
  const ppi_chrome_plan plan = {
      axis->num_runs, shifts, known ? first : 0,
      by->clocks ? (const char *const *)by->labels : NULL};
  if (ppi_chrome_writer_expect(sink, &plan) != PPROF_STATUS_OK)
    ppi_tool_must(NULL);
  ppi_free(shifts);
}

static int fail_write(const pprof_sink *sink, pprof_status status,
                      const char *path) {
  bool to_stdout = strcmp(path, "-") == 0;
  int reason = ppi_chrome_writer_error(sink);
  if (to_stdout && reason == EPIPE) return PPI_EXIT_DONE;
  return ppi_tool_fail(PPI_EXIT_USAGE, "%s: cannot write: %s",
                       to_stdout ? "stdout" : path,
                       reason ? strerror(reason) : pprof_status_string(status));
}

static int read_runs(const struct ppi_tool_log *logs, int num,
                     struct ppi_tool_runs *met, pprof_sink *sink,
                     const char *path) {
  int code = PPI_EXIT_DONE;
  for (int i = 0; i < num; i++) {
    struct ppi_tool_watch watch;
    int answer =
        ppi_tool_read_once(logs[i].path, logs[i].name, sink, &watch, met);
    if (watch.sink_failed) answer = fail_write(sink, watch.sink_status, path);
    if (answer > code) code = answer;
    if (watch.sink_failed || !watch.finished) return code;
  }
  // Standard error: with `-o -` the trace itself goes to standard output.
  if (ppi_chrome_writer_is_whole(sink)) {
    if (strcmp(path, "-") != 0) ppi_tool_show(stderr, path);
    return code;
  }
  return ppi_tool_fail(PPI_EXIT_INPUT,
                       "an input has changed while it was read");
}

static int write_trace(const struct ppi_tool_log *logs, int num,
                       const struct axis *axis, const struct alignment *by,
                       const char *path) {
  pprof_sink *sink;
  pprof_error error = {""};
  pprof_status status =
      strcmp(path, "-") == 0
          ? ppi_chrome_writer_create_fd(STDOUT_FILENO, false, &sink, &error)
          : pprof_chrome_writer_create(path, &sink, &error);
  if (status != PPROF_STATUS_OK)
    return ppi_tool_fail(PPI_EXIT_USAGE, "%s", error.text);
  plan_runs(axis, by, sink);
  struct ppi_tool_runs met = {.items = NULL};
  int code = read_runs(logs, num, &met, sink, path);
  ppi_tool_runs_clear(&met);
  sink->destroy(sink);
  return code;
}

// Inputs that are no logs become logs first, since all runs must be known
// before the first is written.
static int trace_all(const struct ppi_tool_options *options,
                     struct ppi_tool_log *logs, struct axis *axis,
                     const char *path) {
  int code = PPI_EXIT_DONE;
  for (int i = 0; i < options->num_inputs; i++) {
    int opened = ppi_tool_log_open(options->inputs[i], &logs[i]);
    if (opened > code) code = opened;
    if (opened != PPI_EXIT_DONE && opened != PPI_EXIT_DAMAGED) return code;
    int listed = list_runs(logs[i].path, axis);
    if (listed != PPI_EXIT_DONE) return listed;
  }
  struct alignment by = {.clocks = NULL};
  align(logs, options->num_inputs, axis, &by);
  int written = write_trace(logs, options->num_inputs, axis, &by, path);
  for (size_t i = 0; i < by.num_labels; i++) free(by.labels[i]);
  ppi_free(by.labels);
  ppi_clocks_destroy(by.clocks);
  return written > code ? written : code;
}

static int trace_to(const struct ppi_tool_options *options, const char *path) {
  int code = ppi_tool_output_check(options, path);
  if (code != PPI_EXIT_DONE) return code;
  struct axis axis = {.runs = NULL};
  struct ppi_tool_log *logs =
      ppi_tool_must(calloc((size_t)options->num_inputs, sizeof(*logs)));
  code = trace_all(options, logs, &axis, path);
  for (int i = 0; i < options->num_inputs; i++) ppi_tool_log_close(&logs[i]);
  ppi_tool_runs_clear(&axis.met);
  ppi_free(axis.runs);
  free(logs);
  return code;
}

int ppi_tool_trace(const struct ppi_tool_options *options) {
  struct ppi_tool_options named;
  char *made;
  int code = ppi_tool_output_name(options, ".trace.json.gz", &named, &made);
  if (code == PPI_EXIT_DONE) code = trace_to(options, named.output);
  ppi_tool_output_share(options);
  free(made);
  return code;
}
