// SPDX-License-Identifier: Apache-2.0
//
// Runs `search-batch`: finds the largest batch that a command survives, and its
// throughput.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "batch/batch_measure.h"
#include "batch/batch_print.h"
#include "cli/output.h"
#include "cli/parse.h"
#include "cli/rows.h"
#include "compare/compare_wanted.h"
#include "verb/trial.h"
#include "verb/verbs.h"

#define PLACE "{batch}"

struct search {
  const struct ppi_tool_options *options;
  ppi_batch_search batches;
  ppi_trial trial;
  ppi_batch_try *tries;
  size_t num_tries, capacity;
  uint64_t limit_ns;  // 0: none
  ppi_batch_demand demand;
  bool has_limit;
  int interrupted;  // by this signal
};

// `text` with each {batch} replaced.
static char *fill_in(const char *text, size_t batch) {
  ppi_page page = {0};
  for (const char *at; (at = strstr(text, PLACE)) != NULL;
       text = at + sizeof PLACE - 1) {
    ppi_page_bytes(&page, text, (size_t)(at - text));
    ppi_page_format(&page, "%zu", batch);
  }
  ppi_page_text(&page, text);
  return page.failed ? ppi_tool_must(NULL) : page.bytes;
}

static uint64_t limit_of(const struct search *search, size_t batch) {
  if (search->has_limit) return search->limit_ns;
  return search->num_tries ? ppi_batch_limit_of(&search->tries[0], batch) : 0;
}

static int stop_search(struct search *search, int number) {
  search->interrupted = number;
  ppi_tool_say("interrupted");
  return 128 + number;
}

static int try_batch(struct search *search, size_t batch) {
  const struct ppi_tool_options *options = search->options;
  char prefix[40];
  size_t num = (size_t)options->num_inputs;
  char **argv = ppi_tool_must(ppi_alloc((num + 1) * sizeof *argv));
  PPI_MUST_ROOM(search->tries, search->capacity, search->num_tries + 1);
  ppi_batch_try *now = &search->tries[search->num_tries];
  *now = (ppi_batch_try){.batch = batch};
  snprintf(prefix, sizeof prefix, "batch-%zu.", batch);
  for (size_t i = 0; i < num; i++) argv[i] = fill_in(options->inputs[i], batch);
  ppi_trial_set_output(search->trial.folder, prefix);
  ppi_batch_run(argv, options->keeps_sigpipe, limit_of(search, batch), now);
  for (size_t i = 0; i < num; i++) ppi_free(argv[i]);
  ppi_free(argv);
  if (!now->started) return PPI_EXIT_USAGE;
  search->num_tries++;
  // A killed process leaves a spool with the end of its log.
  ppi_tool_recover_logs_in(search->trial.folder);
  ppi_batch_measure(search->trial.folder, prefix, options->stage,
                    !options->run.logs, now);
  ppi_batch_judge(search->tries, search->num_tries - 1, &search->demand, now);
  ppi_tool_say("batch %zu: %s", batch, now->result);
  return now->interrupted ? stop_search(search, now->interrupted)
                          : PPI_EXIT_DONE;
}

static int by_batch(const void *a, const void *b) {
  const ppi_batch_try *x = a, *y = b;
  return x->batch < y->batch ? -1 : x->batch > y->batch;
}

static int search_all(struct search *search) {
  for (size_t batch; (batch = ppi_batch_next(&search->batches)) != 0;) {
    int code = ppi_trial_asked() ? stop_search(search, ppi_trial_asked())
                                 : try_batch(search, batch);
    if (code != PPI_EXIT_DONE) return code;
    const ppi_batch_try *last = &search->tries[search->num_tries - 1];
    ppi_batch_tell(&search->batches, batch, last->survived);
  }
  return ppi_trial_asked() ? stop_search(search, ppi_trial_asked())
                           : PPI_EXIT_DONE;
}

static bool names_the_batch(const struct ppi_tool_options *options) {
  for (int i = 0; i < options->num_inputs; i++)
    if (strstr(options->inputs[i], PLACE)) return true;
  return false;
}

static bool read_time(const char *name, const char *text, uint64_t *out_ns) {
  return !text || ppi_tool_parse_time(name, text, out_ns);
}

static bool read_limits(struct search *search) {
  const struct ppi_search_options *given = &search->options->search;
  size_t least = 0;
  search->has_limit = given->try_timeout != NULL;
  if (given->batches &&
      !ppi_wanted_number("batches", given->batches, 1, &least))
    return false;
  search->demand.least_batches = least;
  return read_time("try-timeout", given->try_timeout, &search->limit_ns) &&
         read_time("latency", given->latency, &search->demand.latency_ns);
}

static int check(struct search *search) {
  const struct ppi_tool_options *options = search->options;
  ppi_batch_search *batches = &search->batches;
  if (!names_the_batch(options))
    return ppi_tool_fail(
        PPI_EXIT_USAGE,
        "the command does not say where the batch goes: write {batch}"
        " in it, such as --batch={batch}");
  if (!ppi_wanted_number("from", options->search.from, 1, &batches->from) ||
      !ppi_wanted_number("to", options->search.to, 1, &batches->to) ||
      !read_limits(search))
    return PPI_EXIT_USAGE;
  if (batches->to < batches->from)
    return ppi_tool_fail(PPI_EXIT_USAGE, "--from %zu is above --to %zu",
                         batches->from, batches->to);
  return ppi_tool_output_checks(options, options->search.plot);
}

// Writes the page to --plot.
static int plot(const ppi_batch_result *result, int code) {
  struct ppi_tool_options to = *result->options;
  ppi_page page = {0};
  if (!to.search.plot) return code;
  to.output = to.search.plot;
  ppi_batch_plot(result, &page);
  return ppi_tool_output_page(&to, &page, code);
}

static int show(const struct search *search, int code) {
  const ppi_batch_result result = {.options = search->options,
                                   .tries = search->tries,
                                   .num_tries = search->num_tries,
                                   .from = search->batches.from,
                                   .latency_ns = search->demand.latency_ns,
                                   .interrupted = search->interrupted != 0,
                                   .failed = search->batches.failed != 0};
  if (code == PPI_EXIT_DONE && !search->batches.survived) code = PPI_EXIT_CHECK;
  return plot(&result, ppi_batch_print(&result, code));
}

static int run_search(struct search *search) {
  int code = ppi_trial_begin(&search->trial, search->options);
  if (code != PPI_EXIT_DONE) return code;
  code = search_all(search);
  ppi_trial_end(&search->trial);
  if (code != PPI_EXIT_DONE && !search->interrupted) return code;
  if (search->num_tries == 0) return code;
  qsort(search->tries, search->num_tries, sizeof *search->tries, by_batch);
  return show(search, code);
}

int ppi_tool_search_batch(const struct ppi_tool_options *options) {
  static struct search search;  // until the process ends
  search.options = options;
  search.batches.sequential = options->search.sequential;
  int code = check(&search);
  return code == PPI_EXIT_DONE ? run_search(&search) : code;
}
