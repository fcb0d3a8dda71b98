// SPDX-License-Identifier: Apache-2.0
//
// Runs `search-batch`: finds the largest batch that a command survives, and its
// throughput. Python's pprof._search_batch tries and judges; it is built in.
#include <stdlib.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/parse.h"
#include "cli/rows.h"
#include "compare/compare_wanted.h"
#include "file/json_put.h"
#include "launch/hooks.h"
#include "launch/python.h"
#include "verb/costs.h"
#include "verb/trial.h"
#include "verb/verbs.h"

struct search {
  const struct ppi_tool_options *options;
  size_t from, to, least;
  uint64_t limit_ns, latency_ns;  // limit UINT64_MAX: the usual one
  ppi_trial trial;
  ppi_view view;
  ppi_page plot;
  const char *head;  // of the JSON
  bool has_bars;
};

// clang-format off
#define COLUMNS(each) \
  each(batch, NULL, "Batch", 5, 0, none) \
  each(result, NULL, "Result", 6, 0, none) \
  each(wall, "ns", "Wall", 8, 0, none) \
  each(batches, NULL, "Batches", 7, 0, none) \
  each(batches_time, "ns", "In time", 8, 0, none) \
  each(throughput, "items/s", "Items/s", 8, 0, none) \
  each(p50, "ns", "P50", 6, 0, none) \
  each(p99, "ns", "P99", 6, 0, none) \
  each(runs, NULL, "Runs", 4, 0, none)
// clang-format on
PPI_VIEW_TABLE(batch, COLUMNS);
static const ppi_view_kind kind = {
    PPI_VIEW_OF(batch, "search-batch", "Batches")};

// ---- the search ----

// Runs the search with its answer in `answer`, and answers its exit status.
static int run(const struct search *search, FILE *answer) {
  const struct ppi_tool_options *options = search->options;
  size_t num = (size_t)options->num_inputs;
  char tool[PATH_MAX], numbers[256];
  const char **argv = ppi_tool_must(ppi_alloc((num + 9) * sizeof *argv));
  bool started;
  snprintf(numbers, sizeof numbers, "%zu %zu %zu %lld %llu %d %d", search->from,
           search->to, search->least, (long long)search->limit_ns,
           (unsigned long long)search->latency_ns, options->search.sequential,
           options->run.logs != NULL);
  const char *const words[] = {ppi_tool_python(),
                               "-I",
                               "-c",
                               ppi_programs->text,
                               realpath("/proc/self/exe", tool) ? tool : "",
                               search->trial.folder,
                               options->stage ? options->stage : "",
                               numbers};
  memcpy(argv, words, sizeof words);
  memcpy(argv + 8, options->inputs, num * sizeof *argv);
  int code = ppi_trial_run((char *const *)(uintptr_t)argv, fileno(answer),
                           options->keeps_sigpipe, &started);
  ppi_free(argv);
  if (started) return code;
  return ppi_tool_fail(PPI_EXIT_USAGE,
                       "search-batch needs Python 3.9: install python3, or set "
                       "PPROF_PYTHON");
}

// ---- the answer ----

static void take(struct search *search, char *const *words, size_t num) {
  ppi_page *note = &search->view.note;
  const char *what = words[0], *text = words[1];
  if (strcmp(what, "head") == 0) search->head = text;
  if (strcmp(what, "page") == 0) ppi_page_format(&search->plot, "%s\n", text);
  if (strcmp(what, "note") == 0 ||
      (strcmp(what, "bar") == 0 && search->has_bars))
    ppi_page_format(note, "%s\n", text);
  if (strcmp(what, "row") != 0) return;
  ppi_cell *cells = ppi_tool_row(&search->view);
  for (size_t i = 1; i < num && i <= kind.num_columns; i++)
    cells[i - 1] = ppi_tool_cell_of(&search->view, words[i]);
}

static void read_answer(struct search *search, FILE *answer, ppi_buffer *text) {
  char *words[PPI_PYTHON_WORDS];
  char bytes[4096];
  rewind(answer);
  for (size_t n; (n = fread(bytes, 1, sizeof bytes, answer)) > 0;)
    ppi_buffer_bytes(text, bytes, n);
  ppi_buffer_bytes(text, "", 1);
  if (text->failed) ppi_tool_must(NULL);
  for (char *next = (char *)text->data; next;) {
    size_t num = ppi_tool_python_split(strsep(&next, "\n"), words);
    if (num > 1) take(search, words, num);
  }
}

static int print(struct search *search, int code) {
  struct ppi_tool_options to = *search->options;
  ppi_page page = {.is_raw = to.raw};
  if (ppi_report_format_of(to.format) == PPI_FORMAT_JSON) {
    ppi_tool_rows_begin(&page, "pprof.search-batch/1");
    ppi_put_line(&page);
    ppi_page_text(&page, search->head);
  }
  ppi_tool_rows_all(&page, &search->view, &to, NULL);
  code = ppi_tool_output_page(&to, &page, code);
  to.output = to.search.plot;
  return to.output ? ppi_tool_output_page(&to, &search->plot, code) : code;
}

static int run_search(struct search *search) {
  FILE *answer = tmpfile();
  ppi_buffer text = {0};
  if (!answer)
    return ppi_tool_fail(PPI_EXIT_INPUT, "no temporary file can be made");
  int code = ppi_trial_begin(&search->trial, search->options);
  if (code == PPI_EXIT_DONE) {
    code = run(search, answer);
    ppi_trial_end(&search->trial);
    read_answer(search, answer, &text);
    if (search->head) code = print(search, code);
  }
  fclose(answer);
  ppi_buffer_clear(&text);
  return code;
}

// ---- options ----

static bool names_the_batch(const struct ppi_tool_options *options) {
  for (int i = 0; i < options->num_inputs; i++)
    if (strstr(options->inputs[i], "{batch}")) return true;
  return false;
}

static bool read_time(const char *name, const char *text, uint64_t *out_ns) {
  return !text || ppi_tool_parse_time(name, text, out_ns);
}

static bool read_limits(struct search *search) {
  const struct ppi_search_options *given = &search->options->search;
  search->limit_ns = UINT64_MAX;
  return ppi_wanted_number("from", given->from, 1, &search->from) &&
         ppi_wanted_number("to", given->to, 1, &search->to) &&
         (!given->batches ||
          ppi_wanted_number("batches", given->batches, 1, &search->least)) &&
         read_time("try-timeout", given->try_timeout, &search->limit_ns) &&
         read_time("latency", given->latency, &search->latency_ns);
}

int ppi_tool_search_batch(const struct ppi_tool_options *options) {
  struct search search = {
      .options = options,
      .view = {.kind = &kind},
      .has_bars = ppi_report_format_of(options->format) == PPI_FORMAT_TABLE};
  if (!names_the_batch(options))
    return ppi_tool_fail(
        PPI_EXIT_USAGE,
        "the command does not say where the batch goes: write {batch}"
        " in it, such as --batch={batch}");
  if (!read_limits(&search)) return PPI_EXIT_USAGE;
  if (search.to < search.from)
    return ppi_tool_fail(PPI_EXIT_USAGE, "--from %zu is above --to %zu",
                         search.from, search.to);
  int code = ppi_tool_output_checks(options, options->search.plot);
  if (code == PPI_EXIT_DONE) code = run_search(&search);
  ppi_page_clear(&search.plot);
  ppi_view_clear(&search.view);
  return code;
}
