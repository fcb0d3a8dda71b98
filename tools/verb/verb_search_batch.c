// SPDX-License-Identifier: Apache-2.0
//
// `search-batch`: the largest batch that a command survives, and its
// throughput.
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "batch/batch_measure.h"
#include "batch/batch_search.h"
#include "cli/output.h"
#include "cli/rows.h"
#include "compare/compare_wanted.h"
#include "launch/injection.h"
#include "print/report_print.h"
#include "start/environment.h"
#include "verb/verbs.h"

#define PLACE "{batch}"

struct search {
  const struct ppi_tool_options *options;
  ppi_batch_search batches;
  char folder[PATH_MAX];
  ppi_batch_try *tries;
  size_t num_tries, capacity;
  bool interrupted;
};

// `text` with each {batch} replaced; NULL: out of memory.
static char *fill_in(const char *text, size_t batch) {
  ppi_page page = {0};
  for (const char *at; (at = strstr(text, PLACE)) != NULL;
       text = at + sizeof PLACE - 1) {
    ppi_page_bytes(&page, text, (size_t)(at - text));
    ppi_page_format(&page, "%zu", batch);
  }
  ppi_page_text(&page, text);
  char *filled = page.failed ? NULL : ppi_strdup(page.bytes ? page.bytes : "");
  ppi_page_clear(&page);
  return filled;
}

static void free_arguments(char **argv) {
  for (size_t i = 0; argv && argv[i]; i++) ppi_free(argv[i]);
  ppi_free(argv);
}

static char **arguments_for(const struct ppi_tool_options *options,
                            size_t batch) {
  size_t num = (size_t)options->num_inputs;
  char **argv = ppi_alloc((num + 1) * sizeof *argv);
  for (size_t i = 0; argv && i < num; i++) {
    argv[i] = fill_in(options->inputs[i], batch);
    if (argv[i]) continue;
    free_arguments(argv);
    return NULL;
  }
  return argv;
}

// The folder's name may contain what PPROF_OUTPUT would expand.
static bool set_output(const struct search *search, const char *prefix) {
  ppi_page path = {0};
  for (const char *at = search->folder; *at; at++)
    ppi_page_bytes(&path, *at == '%' ? "%%" : at, *at == '%' ? 2 : 1);
  ppi_page_format(&path, "/%s%%h.%%p.%%t.pplog", prefix);
  bool done =
      !path.failed && path.bytes && setenv("PPROF_OUTPUT", path.bytes, 1) == 0;
  ppi_page_clear(&path);
  return done;
}

static int out_of_memory(void) {
  ppi_tool_say("out of memory");
  return PPI_EXIT_USAGE;
}

static int try_batch(struct search *search, size_t batch) {
  const struct ppi_tool_options *options = search->options;
  char prefix[40];
  ppi_batch_try *tries = ppi_grow(search->tries, &search->capacity,
                                  search->num_tries + 1, sizeof *tries);
  if (!tries) return out_of_memory();
  search->tries = tries;
  ppi_batch_try *now = &tries[search->num_tries];
  *now = (ppi_batch_try){.batch = batch};
  snprintf(prefix, sizeof prefix, "batch-%zu.", batch);
  char **argv = arguments_for(options, batch);
  if (!argv || !set_output(search, prefix)) {
    free_arguments(argv);
    return out_of_memory();
  }
  ppi_batch_run(argv, options->keeps_sigpipe, now);
  free_arguments(argv);
  if (!now->started) return PPI_EXIT_USAGE;
  search->num_tries++;
  // What was killed leaves its spool, and in it the end of its log.
  ppi_tool_recover_logs_in(search->folder);
  ppi_tool_say("batch %zu: %s", batch, now->result);
  ppi_batch_measure(search->folder, prefix, options->stage, !options->run.logs,
                    now);
  if (!now->interrupted) return PPI_EXIT_DONE;
  search->interrupted = true;
  ppi_tool_say("interrupted");
  return 128 + 2;
}

static int by_batch(const void *a, const void *b) {
  const ppi_batch_try *x = a, *y = b;
  return x->batch < y->batch ? -1 : x->batch > y->batch;
}

static int search_all(struct search *search) {
  for (size_t batch; (batch = ppi_batch_next(&search->batches)) != 0;) {
    int code = try_batch(search, batch);
    if (code != PPI_EXIT_DONE) return code;
    const ppi_batch_try *last = &search->tries[search->num_tries - 1];
    ppi_batch_tell(&search->batches, batch, last->survived);
  }
  return PPI_EXIT_DONE;
}

enum {
  CELL_BATCH = 0,
  CELL_RESULT,
  CELL_WALL,
  CELL_BATCHES,
  CELL_SPAN,
  CELL_THROUGHPUT,
  CELL_RUNS,
  NUM_CELLS
};
static const ppi_column columns[NUM_CELLS] = {
    {"batch", NULL},   {"result", NULL},       {"wall", "ns"},
    {"batches", NULL}, {"batches_time", "ns"}, {"throughput", "items/s"},
    {"runs", NULL}};
static const ppi_table_column table_columns[] = {
    {"Batch", 5, CELL_BATCH, 1},  {"Result", 6, CELL_RESULT, 1},
    {"Wall", 8, CELL_WALL, 1},    {"Batches", 7, CELL_BATCHES, 1},
    {"In time", 8, CELL_SPAN, 1}, {"Items/s", 8, CELL_THROUGHPUT, 1},
    {"Runs", 4, CELL_RUNS, 1},
};
static const ppi_view_kind kind = {.name = "search-batch",
                                   .title = "Batches",
                                   PPI_VIEW_LAYOUT(columns, table_columns),
                                   .has_time_unit = true,
                                   .end = PPI_TABLE_END_NOTE};

static bool fill_rows(const struct search *search, ppi_view *view) {
  for (size_t i = 0; i < search->num_tries; i++) {
    const ppi_batch_try *one = &search->tries[i];
    double throughput = ppi_batch_throughput(one);
    ppi_cell *cells = ppi_view_add_row(view, 0, 0);
    if (!cells) return false;
    cells[CELL_BATCH] = ppi_cell_count(one->batch);
    cells[CELL_RESULT] = ppi_cell_text(one->result);
    cells[CELL_WALL] = ppi_cell_time(one->wall_ns);
    if (one->num_runs == 0) continue;
    cells[CELL_BATCHES] = ppi_cell_count(one->num_batches);
    cells[CELL_SPAN] = ppi_cell_time(one->span_ns);
    cells[CELL_RUNS] = ppi_cell_count(one->num_runs);
    if (throughput > 0) cells[CELL_THROUGHPUT] = ppi_cell_decimal(throughput);
  }
  return true;
}

static const ppi_batch_try *best_of(const struct search *search) {
  for (size_t i = 0; i < search->num_tries; i++)
    if (search->tries[i].survived &&
        search->tries[i].batch == search->batches.survived)
      return &search->tries[i];
  return NULL;
}

static void put_seconds(ppi_page *page, uint64_t ns) {
  ppi_page_fixed(page, (double)ns / 1e9, 3);
}

// The answer, in words.
static void put_answer(const struct search *search, ppi_page *notes) {
  const ppi_batch_try *best = best_of(search);
  const char *unit = search->options->stage ? "matching ranges" : "steps";
  if (!best) {
    ppi_page_format(notes, "No batch: the command %s %zu already\n",
                    search->interrupted ? "was interrupted with" : "fails with",
                    search->batches.from);
    return;
  }
  ppi_page_format(notes, "Largest batch%s: %zu%s\n",
                  search->interrupted ? " before the interrupt" : "",
                  best->batch,
                  search->batches.failed || search->interrupted
                      ? ""
                      : ", where --to ends the search");
  if (best->num_runs == 0) {
    ppi_page_format(
        notes, "Throughput unknown: no log of it has %s (see --stage)\n", unit);
    return;
  }
  ppi_page_text(notes, "Throughput: ");
  ppi_page_fixed(notes, ppi_batch_throughput(best), 2);
  ppi_page_format(notes, " items/s = (%llu batches x %zu) / ",
                  (unsigned long long)best->num_batches, best->batch);
  put_seconds(notes, best->span_ns);
  ppi_page_text(notes, " s\n");
}

static void put_json_head(const struct search *search, ppi_page *page) {
  const ppi_batch_try *best = best_of(search);
  double throughput = best ? ppi_batch_throughput(best) : 0;
  ppi_page_text(page, "{\"schema\":\"pprof.search-batch/1\",\n\"command\":[");
  for (int i = 0; i < search->options->num_inputs; i++) {
    if (i) ppi_page_text(page, ",");
    ppi_page_json(page, search->options->inputs[i]);
  }
  ppi_page_text(page, "],\n\"largest\":");
  if (best)
    ppi_page_format(page, "%zu", best->batch);
  else
    ppi_page_text(page, "null");
  ppi_page_text(page, ",\"throughput\":");
  if (throughput > 0)
    ppi_page_short(page, throughput);
  else
    ppi_page_text(page, "null");
  ppi_page_text(page, ",\n");
}

static int print(const struct search *search, int code) {
  ppi_report_format format = ppi_report_format_of(search->options->format);
  ppi_view view = {.kind = &kind};
  ppi_page page = {.is_raw = search->options->raw};
  put_answer(search, &view.note);
  bool ok = fill_rows(search, &view) && !view.note.failed;
  if (format == PPI_FORMAT_JSON) put_json_head(search, &page);
  ppi_print_view(&page, &view, format, ppi_tool_time_unit(search->options));
  if (format == PPI_FORMAT_JSON) {
    ppi_tool_rows_lines(&page, "notes", &view.note);
    ppi_page_text(&page, "}\n");
  }
  page.failed |= !ok;
  ppi_view_clear(&view);
  return ppi_tool_output_page(search->options, &page, code);
}

static bool names_the_batch(const struct ppi_tool_options *options) {
  for (int i = 0; i < options->num_inputs; i++)
    if (strstr(options->inputs[i], PLACE)) return true;
  return false;
}

static int check(struct search *search) {
  const struct ppi_tool_options *options = search->options;
  ppi_batch_search *batches = &search->batches;
  const char *output = secure_getenv("PPROF_OUTPUT");
  if (!names_the_batch(options)) {
    ppi_tool_say(
        "the command does not say where the batch goes: write {batch}"
        " in it, such as --batch={batch}");
    return PPI_EXIT_USAGE;
  }
  if (!ppi_wanted_number("from", options->search.from, 1, &batches->from) ||
      !ppi_wanted_number("to", options->search.to, 1, &batches->to))
    return PPI_EXIT_USAGE;
  if (batches->to < batches->from) {
    ppi_tool_say("--from %zu is above --to %zu", batches->from, batches->to);
    return PPI_EXIT_USAGE;
  }
  if (output && output[0]) {
    ppi_tool_say(
        "PPROF_OUTPUT is set already, to %s; unset it; --logs names"
        " the folder of the logs",
        output);
    return PPI_EXIT_USAGE;
  }
  return ppi_tool_output_check(options, options->output);
}

// A command that marks with NVTX alone is recorded too, where that can be had.
// False after a message.
static bool inject(const struct ppi_tool_options *options) {
  const char *set = secure_getenv(PPI_INJECTION);
  char library[PATH_MAX];
  bool enabled = true;
  bool is_wanted =
      ppi_environment_enabled(&enabled, NULL) == PPROF_STATUS_OK && enabled;
  if (set && set[0] && options->run.library) {
    ppi_tool_say(PPI_INJECTION " is set already, to %s; unset it", set);
    return false;
  }
  if ((set && set[0]) || !is_wanted) return true;
  if (!ppi_tool_find_injection(options->run.library, true, library))
    return !options->run.library;
  if (ppi_tool_set_injection(library)) return true;
  ppi_tool_say("out of memory");
  return false;
}

static bool is_empty(const char *path) {
  DIR *folder = opendir(path);
  int num = 0;
  while (folder && readdir(folder)) num++;
  if (folder) closedir(folder);
  if (num > 2) errno = ENOTEMPTY;
  return num == 2;  // . and ..
}

// The command may change its folder, so the path is a whole one.
static int make_folder(struct search *search) {
  const char *given = search->options->run.logs,
             *parent = secure_getenv("TMPDIR");
  char path[PATH_MAX];
  bool made;
  if (given) {
    snprintf(path, sizeof path, "%s", given);
    made = mkdir(path, 0700) == 0 || (errno == EEXIST && is_empty(path));
  } else {
    snprintf(path, sizeof path, "%s/pprof-search.XXXXXX",
             parent && parent[0] ? parent : "/tmp");
    made = mkdtemp(path) != NULL;
  }
  if (made && realpath(path, search->folder)) return PPI_EXIT_DONE;
  ppi_tool_say("%s: is no folder to write logs to: %s", path, strerror(errno));
  return PPI_EXIT_USAGE;
}

static int run_search(struct search *search) {
  int code = make_folder(search);
  if (code != PPI_EXIT_DONE) return code;
  code = search_all(search);
  unsetenv("PPROF_OUTPUT");
  if (!search->options->run.logs) rmdir(search->folder);
  if (code != PPI_EXIT_DONE && code != 128 + 2) return code;
  if (search->num_tries == 0) return code;
  qsort(search->tries, search->num_tries, sizeof *search->tries, by_batch);
  if (code == PPI_EXIT_DONE && !best_of(search)) code = PPI_EXIT_CHECK;
  return print(search, code);
}

int ppi_tool_search_batch(const struct ppi_tool_options *options) {
  struct search *search = ppi_alloc(sizeof *search);
  if (!search) return out_of_memory();
  search->options = options;
  search->batches.sequential = options->search.sequential;
  int code = check(search);
  if (code == PPI_EXIT_DONE && !inject(options)) code = PPI_EXIT_USAGE;
  if (code == PPI_EXIT_DONE) code = run_search(search);
  ppi_free(search->tries);
  ppi_free(search);
  return code;
}
