// SPDX-License-Identifier: Apache-2.0
//
// Reads the inputs of a verb into one report: a report of each, then their sum.
#include "verb/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "event/tee.h"
#include "input/input.h"
#include "input/joined.h"
#include "input/sums.h"
#include "log/write/log_io.h"
#include "names/glob.h"
#include "report/findings/impossible.h"
#include "schema/schema.h"

// ---- logs at once, each in a process ----

typedef struct all_readers all_readers;

typedef struct reader {
  pid_t pid;  // 0: none
  int fd;     // of its figures
} reader;

struct all_readers {
  const struct ppi_tool_options *options;
  const ppi_report_details *details;
  long jobs, jobs_of_each;
  int num_begun, num_taken;
  reader *items;  // of the inputs
};

// ---- in the process of one log ----

static pprof_report *read_log(const all_readers *readers, const char *path) {
  struct ppi_tool_watch watch;
  struct ppi_tool_runs met = {.items = NULL};
  ppi_tool_sums sums;
  ppi_tool_sums_of(readers->options, path, &sums);
  pprof_report *report = ppi_tool_sums_read(&sums, readers->details);
  if (report) return report;
  ppi_report_details details = *readers->details;
  ppi_tool_set_jobs(readers->jobs_of_each);
  details.jobs = readers->jobs_of_each > 1 ? ppi_tool_jobs(path) : NULL;
  if (pprof_report_create(&report) != PPROF_STATUS_OK) return NULL;
  ppi_report_set_details(report, &details);
  int code = ppi_tool_read_again(path, pprof_report_sink(report), &watch, &met);
  bool is_good = code == PPI_EXIT_DONE && !watch.sink_failed &&
                 !watch.num_repeated && ppi_report_figures(report) &&
                 !ppi_report_total(report, PPI_TOTAL_INCOMPLETE) &&
                 !ppi_report_depends_on_jobs(report);
  return is_good ? report : NULL;
}

static _Noreturn void be_reader(const all_readers *readers, const char *path,
                                int fd) {
  ppi_carry carry = {.reads = false};
  int nothing = ppi_fd_open("/dev/null", O_RDWR, 0);
  if (nothing < 0 || dup2(nothing, STDERR_FILENO) < 0) _exit(1);
  signal(SIGPIPE, SIG_DFL);
  pprof_report *report = read_log(readers, path);
  if (!report) _exit(1);
  ppi_report_carry(&carry, report);
  _exit(carry.failed || ppi_write_all(fd, carry.bytes, carry.len) != 0);
}

// ---- in ours ----

static void begin_next(all_readers *readers) {
  int ends[2], at = readers->num_begun++;
  const char *path = readers->options->inputs[at];
  // Other inputs make files of their own, which have to be removed.
  if (!ppi_ends_with(path, ".pplog") || pipe2(ends, O_CLOEXEC) != 0) return;
  pid_t pid = fork();
  if (pid == 0) be_reader(readers, path, ends[1]);
  close(ends[1]);
  if (pid > 0)
    readers->items[at] = (reader){pid, ends[0]};
  else
    close(ends[0]);
}

// readers_begin starts the first processes, --jobs of them at most.
// NULL: there is one input or one job.
static all_readers *readers_begin(const struct ppi_tool_options *options,
                                  const ppi_report_details *details) {
  size_t num = (size_t)options->num_inputs;
  long jobs = ppi_tool_num_jobs(options->inputs, num);
  if (num < 2 || jobs < 2) return NULL;
  all_readers *readers = ppi_tool_must(ppi_alloc(sizeof *readers));
  *readers = (all_readers){.options = options,
                           .details = details,
                           .jobs = jobs,
                           .jobs_of_each = PPI_MAX(jobs / (long)num, 1)};
  readers->items = ppi_tool_must(ppi_alloc(num * sizeof *readers->items));
  for (long i = 0; i < jobs && i < (long)num; i++) begin_next(readers);
  return readers;
}

static pprof_report *report_of(const all_readers *readers, ppi_carry *carry) {
  pprof_report *report;
  if (pprof_report_create(&report) != PPROF_STATUS_OK) ppi_tool_must(NULL);
  ppi_report_set_details(report, readers->details);
  carry->reads = true;
  ppi_report_carry(carry, report);
  if (!carry->failed) return report;
  pprof_report_destroy(report);
  return NULL;
}

static bool has_ended_well(pid_t pid) {
  int status = 1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status == 0;
}

// readers_take answers the report of the next input, in their order;
// NULL: read it. Each call may start the next process.
static pprof_report *readers_take(all_readers *readers) {
  enum { PIECE = 1 << 16 };
  reader *of = &readers->items[readers->num_taken++];
  pprof_report *report = NULL;
  ppi_carry carry = {.reads = false};
  ssize_t got = of->pid ? 1 : 0;
  while (got > 0 && PPI_ROOM(carry.bytes, carry.capacity, carry.len + PIECE)) {
    got = read(of->fd, carry.bytes + carry.len, PIECE);
    if (got > 0) carry.len += (size_t)got;
    if (got < 0 && errno == EINTR) got = 1;
  }
  if (of->pid) {
    close(of->fd);
    if (has_ended_well(of->pid) && got == 0)
      report = report_of(readers, &carry);
    of->pid = 0;
  }
  ppi_free(carry.bytes);
  if (readers->num_begun < readers->options->num_inputs) begin_next(readers);
  return report;
}

// readers_end ends what is left, and takes NULL.
static void readers_end(all_readers *readers) {
  if (!readers) return;
  for (int i = readers->num_taken; i < readers->num_begun; i++) {
    if (!readers->items[i].pid) continue;
    close(readers->items[i].fd);
    kill(readers->items[i].pid, SIGTERM);
    has_ended_well(readers->items[i].pid);
  }
  ppi_free(readers->items);
  ppi_free(readers);
}

// ---- reports ----

// ---- patterns of `include` that chose nothing ----

struct ppi_tool_unmatched {
  pprof_sink base;
  ppi_config config;  // of the run; no `include`: not checked
  bool matches[PPI_CONFIG_MAX_GLOBS];
  uint32_t machine;  // category; `include` chooses none of its names
  char names[160];   // of the run, as far as there is room
  bool has_more;
};

static pprof_status begin(pprof_sink *base, const pprof_run_info *info) {
  struct ppi_tool_unmatched *all = (struct ppi_tool_unmatched *)base;
  const char *text = pprof_run_info_text(info, "config");
  pprof_error error;
  memset(all->matches, 0, sizeof all->matches);
  all->names[0] = '\0';
  all->machine = UINT32_MAX;
  all->has_more = false;
  all->config.include.num = 0;
  // Hidden names match no pattern.
  if (!text || !strstr(text, "\ninclude: ") || !strstr(text, "  names: keep\n"))
    return PPROF_STATUS_OK;
  if (ppi_config_defaults(&all->config) != PPROF_STATUS_OK ||
      ppi_config_read_text(&all->config, "config", text, &error) !=
          PPROF_STATUS_OK)
    all->config.include.num = 0;
  return PPROF_STATUS_OK;
}

static void note_name(struct ppi_tool_unmatched *all, const char *name) {
  size_t len = strlen(all->names), room = sizeof all->names - len;
  int more = snprintf(all->names + len, room, "%s%s", len ? ", " : "", name);
  if (more >= 0 && (size_t)more < room) return;
  all->names[len] = '\0';
  all->has_more = true;
}

static pprof_status define(pprof_sink *base,
                           const pprof_definition *definition) {
  struct ppi_tool_unmatched *all = (struct ppi_tool_unmatched *)base;
  size_t num = all->config.include.num;
  int kind = pprof_definition_get_kind(definition);
  const char *name = pprof_definition_name(definition);
  if (kind == PPROF_DEFINITION_CATEGORY &&
      strcmp(name, PPI_CATEGORY_MACHINE) == 0)
    all->machine = pprof_definition_id(definition);
  if (!num || kind != PPROF_DEFINITION_SITE ||
      pprof_definition_parent(definition) == all->machine)
    return PPROF_STATUS_OK;
  for (size_t i = 0; i < num; i++)
    all->matches[i] |= ppi_glob_match(all->config.include.items[i], name);
  // Leaves out names of every log: "<other>", steps.
  if (name[0] != '<' &&
      pprof_definition_parent(definition) != PPROF_CATEGORY_PROFILE_STEP)
    note_name(all, name);
  return PPROF_STATUS_OK;
}

static pprof_status finish(pprof_sink *base, const pprof_totals *totals) {
  struct ppi_tool_unmatched *all = (struct ppi_tool_unmatched *)base;
  (void)totals;
  for (size_t i = 0; i < all->config.include.num && all->names[0]; i++)
    if (!all->matches[i])
      ppi_tool_say("include: '%s' matches no name; the program has: %s%s",
                   all->config.include.items[i], all->names,
                   all->has_more ? ", ..." : "");
  return PPROF_STATUS_OK;
}

// For each run, prints the patterns that match none of its names, and some of
// the names.
static struct ppi_tool_unmatched unmatched = {
    .base = {.size = sizeof(pprof_sink),
             .begin = begin,
             .define = define,
             .finish = finish}};

// ---- the rest ----

struct reading {
  const struct ppi_tool_options *options;
  const ppi_report_details *details;
  pprof_sink *beside;    // NULL: none
  all_readers *readers;  // NULL: none; its inputs are taken in order
  struct ppi_tool_runs runs;
  int *code;
};

// With `sink` NULL, sums replace the events.
static int read_both(struct reading *reading, const char *path,
                     pprof_sink *sink, struct ppi_tool_watch *watch) {
  ppi_tee both;
  ppi_tee_init(&both);
  if ((sink && ppi_tee_add(&both, sink) != PPROF_STATUS_OK) ||
      ppi_tee_add(&both, &unmatched.base) != PPROF_STATUS_OK ||
      (reading->beside &&
       ppi_tee_add(&both, reading->beside) != PPROF_STATUS_OK))
    ppi_tool_must(NULL);
  int code =
      sink ? ppi_tool_read_once(path, path, &both.base, watch, &reading->runs)
           : ppi_tool_skim(path, &both.base, false, watch, &reading->runs);
  if (both.first_error != PPROF_STATUS_OK && !watch->sink_failed) {
    watch->sink_failed = true;
    watch->sink_status = both.first_error;
  }
  ppi_tee_forget_sinks(&both);
  return code;
}

// With fewer pages a job costs more than it saves.
enum { LEAST_PAGES = 4 };

static pprof_report *new_report(const struct reading *reading, ppi_jobs *jobs) {
  pprof_report *report = NULL;
  ppi_report_details details = *reading->details;
  if (pprof_report_create(&report) != PPROF_STATUS_OK) ppi_tool_must(NULL);
  details.jobs = jobs;
  details.much_pages = LEAST_PAGES;
  ppi_report_set_details(report, &details);
  return report;
}

// Reads the log again, as one thread, into another report in the place of
// `report`. NULL: that failed.
static pprof_report *read_again(struct reading *reading, const char *path,
                                size_t num_runs, pprof_report *report) {
  struct ppi_tool_watch watch;
  pprof_report_destroy(report);
  report = new_report(reading, NULL);
  reading->runs.num = num_runs;
  if (ppi_tool_read_again(path, pprof_report_sink(report), &watch,
                          &reading->runs) != PPI_EXIT_INPUT &&
      !watch.sink_failed)
    return report;
  ppi_tool_say("%s: cannot be read a second time", path);
  pprof_report_destroy(report);
  *reading->code = PPI_EXIT_INPUT;
  return NULL;
}

// Reads `path` into a new report, or takes its sums. NULL: nothing to report,
// which is no failure if earlier inputs had all of its runs.
static pprof_report *read_with(struct reading *reading, const char *path,
                               const ppi_tool_sums *sums, bool *out_repeated) {
  struct ppi_tool_watch watch;
  size_t num_runs = reading->runs.num;
  pprof_report *found = ppi_tool_sums_read(sums, reading->details);
  pprof_report *read = reading->readers ? readers_take(reading->readers) : NULL;
  pprof_report *known = found ? found : read;
  if (found) pprof_report_destroy(read);
  pprof_report *report =
      known ? known : new_report(reading, ppi_tool_jobs(path));
  *out_repeated = false;
  int answer = read_both(reading, path,
                         known ? NULL : pprof_report_sink(report), &watch);
  if (watch.sink_failed) {
    ppi_tool_say("%s: cannot be reported: %s", path,
                 pprof_status_string(watch.sink_status));
    answer = PPI_EXIT_INPUT;
  }
  if (answer > *reading->code) *reading->code = answer;
  *out_repeated = watch.num_repeated > 0 && !watch.begun;
  if (answer == PPI_EXIT_INPUT || *out_repeated) {
    pprof_report_destroy(report);
    return NULL;
  }
  if (ppi_report_depends_on_jobs(report) || (known && watch.num_repeated))
    report = read_again(reading, path, num_runs, report);
  if (report && !found && answer == PPI_EXIT_DONE && !watch.num_repeated)
    ppi_tool_sums_write(sums, reading->details, report);
  return report;
}

static pprof_report *read_report(struct reading *reading, const char *path,
                                 bool *out_repeated) {
  ppi_tool_sums sums = {.path = NULL};
  // Output beside the report needs the events.
  if (!reading->beside) ppi_tool_sums_of(reading->options, path, &sums);
  pprof_report *report = read_with(reading, path, &sums, out_repeated);
  ppi_tool_sums_clear(&sums);
  return report;
}

// The run's records were in private memory only, and ended with its process.
static bool is_cut_short(const pprof_report *report) {
  return ppi_report_total(report, PPI_TOTAL_INCOMPLETE) &&
         !ppi_report_total(report, PPI_TOTAL_CRASH_SAFE);
}

// Whether the program recorded nothing; counters of the machine do not count.
static bool is_useless(const pprof_report *report) {
  const ppi_figures *figures = ppi_report_figures(report);
  uint64_t by_us = figures ? figures->machine.num_events : 0;
  return ppi_report_total(report, PPI_TOTAL_RECORDED) <= by_us &&
         !ppi_report_total(report, PPI_TOTAL_LOST) && !is_cut_short(report);
}

// Tables of an unfinished log have only the records that its process wrote.
static bool is_unfinished(const char *path) {
  if (!ppi_ends_with(path, ".part") || ppi_tool_is_joined(path)) return false;
  ppi_tool_say("%s: unfinished; `pprof-report recover` adds what its spool has",
               path);
  return true;
}

// A sum without one of its logs would look complete, so there is no sum then.
// With `skip_useless`, unreadable logs and logs without records are left out
// instead.
static pprof_report *add_all(struct reading *reading) {
  const struct ppi_tool_options *options = reading->options;
  int *code = reading->code;
  pprof_report *all = NULL;
  for (int i = 0; i < options->num_inputs; i++) {
    const char *path = options->inputs[i];
    bool repeated;
    pprof_report *report = read_report(reading, path, &repeated);
    if (repeated) continue;
    if (!options->skip_useless && is_unfinished(path) && options->strict &&
        *code < PPI_EXIT_CHECK)
      *code = PPI_EXIT_CHECK;
    if (options->skip_useless && (!report || is_useless(report))) {
      pprof_report_destroy(report);
      continue;
    }
    if (!report) {
      pprof_report_destroy(all);
      return NULL;
    }
    if (!all) {
      all = report;
      continue;
    }
    pprof_status status = ppi_report_add(all, report);
    pprof_report_destroy(report);
    if (status == PPROF_STATUS_OK) continue;
    ppi_tool_say("%s: cannot be added to the others: %s", path,
                 pprof_status_string(status));
    *code = PPI_EXIT_INCOMPARABLE;
    pprof_report_destroy(all);
    return NULL;
  }
  return all;
}

pprof_report *ppi_tool_reports_read(const struct ppi_tool_options *options,
                                    const ppi_report_details *details,
                                    pprof_sink *beside, int *code) {
  struct reading reading = {.options = options, .beside = beside, .code = code};
  ppi_report_details wanted = *details;
  wanted.joins = options->num_inputs > 1;
  reading.details = &wanted;
  if (!beside) reading.readers = readers_begin(options, &wanted);
  pprof_report *all = add_all(&reading);
  readers_end(reading.readers);
  if (all && ppi_report_join(all) == PPROF_STATUS_NO_MEMORY)
    ppi_tool_say("out of memory: requests are those of each process");
  ppi_tool_runs_clear(&reading.runs);
  return all;
}

int ppi_tool_report_judge(const pprof_report *report, bool strict) {
  static const ppi_total_key losses[] = {PPI_TOTAL_LOST, PPI_TOTAL_FLOWS_LOST,
                                         PPI_TOTAL_NAMES_OVERFLOWED};
  int code = PPI_EXIT_DONE;
  if (!ppi_report_identity_ok(report)) {
    ppi_tool_say("the accounting identity does not hold");
    code = PPI_EXIT_CHECK;
  }
  if (strict && is_cut_short(report)) {
    ppi_tool_say(
        "--strict: a process ended without a stop, and what it had not"
        " written is lost");
    code = PPI_EXIT_CHECK;
  }
  const ppi_figures *figures = ppi_report_figures(report);
  const ppi_impossible impossible = ppi_impossible_of(figures);
  if (strict && impossible.is_any) {
    ppi_tool_say("--strict: %s", impossible.text);
    code = PPI_EXIT_CHECK;
  }
  for (size_t i = 0; strict && i < figures->num_notes; i++) {
    if (strcmp(figures->notes[i].key, PPI_NOTE_CLOCKS) != 0) continue;
    ppi_tool_say("--strict: %s", figures->notes[i].text);
    code = PPI_EXIT_CHECK;
  }
  for (size_t i = 0; strict && i < sizeof(losses) / sizeof(losses[0]); i++) {
    uint64_t num = ppi_report_total(report, losses[i]);
    if (!num) continue;
    ppi_tool_say("--strict: %s %llu", ppi_total_name(losses[i]),
                 (unsigned long long)num);
    code = PPI_EXIT_CHECK;
  }
  return code;
}
