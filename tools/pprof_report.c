// SPDX-License-Identifier: Apache-2.0
//
// Starts pprof-report: has the table of verbs and passes the command line to
// one.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/descriptor.h"
#include "cli/pages.h"
#include "cli/parse.h"
#include "cli/unread.h"
#include "cli/usage.h"
#include "input/folder.h"
#include "input/input.h"
#include "input/joined.h"
#include "input/segments.h"
#include "input/spooled.h"
#include "schema/schema.h"
#include "verb/verbs.h"

static int run_help(const struct ppi_tool_options *options) {
  const struct ppi_tool_verb *verb = NULL;
  bool for_man = strcmp(options->format, "man") == 0;
  if (options->num_inputs > 0 &&
      strcmp(options->inputs[0], "pprof.yaml") == 0) {
    for_man ? ppi_tool_man_yaml(stdout) : ppi_config_help(stdout);
    return PPI_EXIT_DONE;
  }
  if (options->num_inputs > 0) {
    verb = ppi_tool_find_verb(options->verbs, options->inputs[0]);
    if (!verb)
      return ppi_tool_fail(PPI_EXIT_USAGE,
                           "no verb '%s'; see pprof-report --help",
                           options->inputs[0]);
  }
  if (for_man)
    ppi_tool_man(options->verbs, verb, stdout);
  else if (strcmp(options->format, "text") == 0 && options->tables.verbose)
    ppi_tool_help_all(options->verbs, verb, stdout);
  else if (strcmp(options->format, "text") == 0)
    ppi_tool_help(options->verbs, verb, stdout);
  else
    ppi_tool_complete(options->verbs, options->format, stdout);
  return PPI_EXIT_DONE;
}

static const struct ppi_tool_verb verbs[] = {
    {"summary", "LOG...", "print the tables of one or several logs",
     "Several logs (one per process or rank, or a folder of them) make one "
     "report.\n"
     "An unfinished log (LOG.part) is read with the spool that its process "
     "left.\n",
     PPI_TAKES(ALL) | PPI_TAKES(JOBS) | PPI_TAKES(SUMMARY) | PPI_TAKES(TABLES) |
         PPI_TAKES(REPORT) | PPI_TAKES(TRACES) | PPI_TAKES(SHAPES) |
         PPI_TAKES(RAW) | PPI_TAKES(STRICT) | PPI_TAKES(DIMS),
     PPI_READS_RUNS, true, false, ppi_tool_summary, NULL, "Look at a log",
     "pprof-report --tree --depth 3 run.pplog"},
    {"trace", "LOG...", "write a Chrome trace (chrome://tracing, Perfetto)",
     "Runs of several processes share one time axis when each says when it "
     "began.\n",
     PPI_TAKES(ALL) | PPI_TAKES(JOBS) | PPI_TAKES(TRACE) | PPI_TAKES(TRACES) |
         PPI_TAKES(SHAPES),
     PPI_READS_RUNS, true, false, ppi_tool_trace, NULL, "Convert",
     "pprof-report trace -o run.json run.pplog"},
    {"export", "FORMAT LOG...", "write what other programs open",
     "--list prints the formats. Data without a place in a format is counted; "
     "see\ndocs/page.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(JOBS) | PPI_TAKES(EXPORT) | PPI_TAKES(TRACES),
     PPI_READS_RUNS, false, false, ppi_tool_export, ppi_tool_export_operands,
     "Convert", "pprof-report export parquet -o ranks/ rank*.pplog"},
    {"html", "LOG...", "write the report as one page: tables, pictures",
     "The page is one file, needs no network, and opens in any browser of 2023 "
     "or\nlater. See docs/page.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(JOBS) | PPI_TAKES(HTML) | PPI_TAKES(REPORT) |
         PPI_TAKES(TRACES) | PPI_TAKES(STRICT) | PPI_TAKES(DIMS),
     PPI_READS_RUNS, true, false, ppi_tool_html, NULL, "Look at a log",
     "pprof-report html --open run.pplog"},
    {"sql", "LOG... QUERY", "answer a query of SQL over logs",
     "The tables and views are those of docs/sql.md; a file that `export "
     "sqlite` made\nis read as it is.\n",
     PPI_TAKES(ALL) | PPI_TAKES(SQL) | PPI_TAKES(SQLITE) | PPI_TAKES(OUTPUT) |
         PPI_TAKES(TRACES) | PPI_TAKES(RAW),
     PPI_READS_RUNS, false, false, ppi_tool_sql, ppi_tool_sql_operands,
     "Look at a log",
     "pprof-report sql run.pplog 'SELECT name, calls FROM stages'"},
    {"fleet", "FOLDER [QUERY]", "answer a query of SQL over many ranks",
     "The folder is what `export parquet` makes, of one rank or thousands. "
     "DuckDB\nanswers; --print-sql spark has the same for many machines: "
     "docs/sql.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(SQL) | PPI_TAKES(FLEET) | PPI_TAKES(OUTPUT) |
         PPI_TAKES(RAW),
     0, false, false, ppi_tool_fleet, ppi_tool_fleet_operands, "Look at a log",
     "pprof-report fleet ranks/ --view stragglers"},
    {"info", "LOG...", "print what a log is: its run, size and contents",
     "With --live its operands are running processes: what is open in each "
     "thread and\nstream, and since when; see docs/forensics.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(INFO) | PPI_TAKES(JSON) | PPI_TAKES(OUTPUT),
     PPI_READS_LOGS | PPI_READS_FOLDERS, true, false, ppi_tool_info, NULL,
     "Check, repair, set up", "pprof-report info run.pplog"},
    {"check", "LOG...", "check every block of a log",
     "Checksums, order and contents of all blocks; what is damaged, and what "
     "the\nrun itself lost. With --expect whether each run keeps the rules "
     "of a file.\n",
     PPI_TAKES(ALL) | PPI_TAKES(OUTPUT) | PPI_TAKES(STRICT) | PPI_TAKES(CHECK),
     PPI_READS_LOGS | PPI_READS_FOLDERS, true, false, ppi_tool_check, NULL,
     "Check, repair, set up",
     "pprof-report check --expect expect.yaml run.pplog"},
    {"expect", "--learn LOG...", "write rules that runs keep, for check",
     "The order of stages in each request or step, their numbers, where "
     "nothing waits, how\nlong they take at most. See docs/compare.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(OUTPUT) | PPI_TAKES(EXPECT) | PPI_TAKES(TRACES),
     PPI_READS_RUNS, true, false, ppi_tool_expect, NULL,
     "Check, repair, set up",
     "pprof-report expect --learn run1.pplog run2.pplog -o expect.yaml"},
    {"recover", "[SPOOL|LOG.part|FOLDER]...",
     "make a whole log of a killed run",
     "A FOLDER stands for all killed runs with logs in it. Without an operand "
     "it lists the\nspools that killed runs left behind. With --open-ranges it "
     "only says what was open,\nand since when; see docs/forensics.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(RECOVER), 0, false, false, ppi_tool_recover,
     NULL, "Check, repair, set up", "pprof-report recover run.pplog.part"},
    {"import", "TRACE", "make a log of another profiler's trace",
     "Chrome JSON as PyTorch, Paddle and ONNX Runtime write it, plain or "
     "gzip.\n",
     PPI_TAKES(ALL) | PPI_TAKES(IMPORT) | PPI_TAKES(TRACES) | PPI_TAKES(SHAPES),
     PPI_READS_LOGS, true, false, ppi_tool_import, NULL, "Convert",
     "pprof-report import trace.json"},
    {"merge", "LOG...", "put the runs of several logs into one",
     "Each run once, in an order of its own: however logs are merged, the "
     "result is the\nsame file.\n",
     PPI_TAKES(ALL) | PPI_TAKES(MERGE) | PPI_TAKES(TRACES),
     PPI_READS_LOGS | PPI_READS_FOLDERS | PPI_READS_TOLD, true, false,
     ppi_tool_merge, NULL, "Convert",
     "pprof-report merge -o job.pplog rank*.pplog"},
    {"compare", "A B...",
     "find out whether a change made stages faster or slower",
     "A is the base. Each input is a log, or a folder of runs. Two answers: "
     "whether these\nruns differ, and whether the programs do. The second "
     "needs several runs a side, or\n--history. More than two inputs are "
     "ranked. See docs/compare.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(JOBS) | PPI_TAKES(COMPARE) |
         PPI_TAKES(FORMATS) | PPI_TAKES(OUTPUT) | PPI_TAKES(STAGES) |
         PPI_TAKES(PAGE) | PPI_TAKES(TRACES) | PPI_TAKES(SHAPES) |
         PPI_TAKES(RAW),
     PPI_READS_LOGS | PPI_READS_JOINED | PPI_READS_TOLD, true, false,
     ppi_tool_compare, NULL, "Compare and predict",
     "pprof-report compare before/ after/"},
    {"try", "--base CMD --new CMD",
     "run two commands in turns until it is sure which one is faster",
     "Each runs once to warm up, then in turns, A B B A. It ends when every "
     "stage is decided,\n"
     "or at --max-runs. At most 5 % of unchanged programs have any stage "
     "named. See\n"
     "docs/compare.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(TRY) | PPI_TAKES(FORMATS) | PPI_TAKES(OUTPUT) |
         PPI_TAKES(STAGES) | PPI_TAKES(LIBRARY) | PPI_TAKES(RAW),
     0, false, false, ppi_tool_try, NULL, "Compare and predict",
     "pprof-report try --base './serve' --new './serve --fast'"},
    {"history", "FOLDER", "find where stages became slower or faster for good",
     "FOLDER has the logs of a program over commits or days. Each log, or each "
     "folder of\n"
     "logs, is a point, in the order in which they were made. See "
     "docs/compare.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(HISTORY) | PPI_TAKES(FORMATS) |
         PPI_TAKES(OUTPUT) | PPI_TAKES(STAGES) | PPI_TAKES(PAGE) |
         PPI_TAKES(RAW),
     0, true, false, ppi_tool_history, NULL, "Compare and predict",
     "pprof-report history --fail-on new --html history.html nightly/"},
    {"search-batch", "[--] CMD [ARG...]",
     "find the largest batch that a command survives",
     "{batch} in CMD and its arguments becomes the size of the batch. The size "
     "doubles until\n"
     "the command fails (exit status, signal, out of memory), then is halved "
     "in between.\n"
     "The throughput with the best one comes from its log.\n",
     PPI_TAKES(ALL) | PPI_TAKES(SEARCH_BATCH) | PPI_TAKES(FORMATS) |
         PPI_TAKES(OUTPUT) | PPI_TAKES(STAGES) | PPI_TAKES(LIBRARY) |
         PPI_TAKES(RAW),
     0, true, true, ppi_tool_search_batch, NULL, "Record a program",
     "pprof-report search-batch python serve.py --batch {batch}"},
    {"whatif", "LOG",
     "find what a faster stage brings at most, and what limits then",
     "Bounds by the laws of queues, from the utilization of each thread, "
     "stream and lock.\nWithout --scale what half of each stage brings. See "
     "docs/live.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(WHATIF) | PPI_TAKES(FORMATS) |
         PPI_TAKES(OUTPUT) | PPI_TAKES(TRACES) | PPI_TAKES(RAW),
     PPI_READS_RUNS, true, false, ppi_tool_whatif, NULL, "Compare and predict",
     "pprof-report whatif --scale detect=0.5 run.pplog"},
    {"cost", "MODEL.onnx", "count what a model computes, before it runs",
     "Parameters, MACs, FLOPs and bytes of an ONNX model, by module, operator "
     "or node.\nIts weights are not read. Unknown parts are named, and totals "
     "then are \"at least\";\nsee docs/cost.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(COST) | PPI_TAKES(FORMATS) | PPI_TAKES(OUTPUT) |
         PPI_TAKES(RAW) | PPI_TAKES(DIMS),
     0, true, false, ppi_tool_cost, NULL, "Compare and predict",
     "pprof-report cost --dim batch=8 model.onnx"},
    {"run", "[--] CMD [ARG...]", "run a command and print what it recorded",
     "NVTX, or the SDK if they use it, profiles the command and its children:\n"
     "nothing in them must change. Input and output are theirs: the\n"
     "tables go to stderr. Exits as the command does (128 + n for signal n; "
     "126 or\n"
     "127: it cannot run). On success, it exits as below.\n",
     PPI_TAKES(ALL) | PPI_TAKES(RUN) | PPI_TAKES(TABLES) | PPI_TAKES(REPORT) |
         PPI_TAKES(PAGE) | PPI_TAKES(LIBRARY) | PPI_TAKES(RAW) |
         PPI_TAKES(STRICT) | PPI_TAKES(DIMS),
     0, true, true, ppi_tool_run, NULL, "Record a program",
     "pprof-report run --html page.html python serve.py"},
    {"trigger", "", "ask a running process for a window, or for a dump",
     "Waits until the window is complete and prints the file that has it. A "
     "process\nwith a flight recorder writes a dump, unless --steps or "
     "--seconds is given.\nExits 1 when the process refuses or ends, 2 when "
     "there is none to ask; see\ndocs/capture.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(TRIGGER), 0, false, false, ppi_tool_trigger,
     NULL, "Ask running processes",
     "pprof-report trigger --pid 4711 --seconds 5"},
    {"stuck", "[PID|SPOOL|LOG.part]...",
     "print what a process hangs in, and how long that usually takes",
     "For each thread and stream of a running or killed process: the open "
     "range, since\nwhen, and its usual length. Without an operand, all "
     "processes of this user. Exits 1\nif a range is open for ten times its "
     "longest call; see docs/forensics.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(STUCK) | PPI_TAKES(JSON) | PPI_TAKES(OUTPUT), 0,
     false, false, ppi_tool_stuck, NULL, "Ask running processes",
     "pprof-report stuck 4711"},
    {"top", "[PID|NAME]...", "show what running processes do, again and again",
     "Stages with rate and percentiles, open ranges, devices, counters, "
     "losses, cost.\nNAME is a program's or a script's; without an operand, "
     "all processes of this user.\nProcesses count only while it runs; see "
     "docs/live.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(TOP), 0, false, false, ppi_tool_top, NULL,
     "Ask running processes", "pprof-report top serve.py"},
    {"metrics", "[PID|NAME]...", "serve figures of running processes by HTTP",
     "For Prometheus: text, or OpenMetrics where it is asked for, at "
     "/metrics, until\na signal ends it. Without an operand all of this user's "
     "processes, also those\nthat start later; see docs/live.md.\n",
     PPI_TAKES(ALL) | PPI_TAKES(METRICS), 0, false, false, ppi_tool_metrics,
     NULL, "Ask running processes",
     "pprof-report metrics --listen 0.0.0.0:9464"},
    {"config", "validate FILE... | show [FILE] | schema",
     "check a configuration, or show what would be in force",
     "`validate` judges files alone. `show` reads FILE, or PPROF_CONFIG, and "
     "the\n"
     "environment as pprof_start would. `schema` prints the JSON Schema of the "
     "keys.\n",
     PPI_TAKES(ALL) | PPI_TAKES(CONFIG), 0, true, false, ppi_tool_config, NULL,
     "Check, repair, set up", "pprof-report config validate pprof.yaml"},
    {"help", "[VERB | pprof.yaml]", "print this, or the help of a verb",
     "pprof.yaml: what each key of a configuration means. Completions are of "
     "all verbs:\nsource <(pprof-report help -f bash)\n",
     PPI_TAKES(ALL) | PPI_TAKES(HELP), 0, false, false, run_help, NULL,
     "Check, repair, set up", "pprof-report help -v run"},
    {.name = NULL}};

static int run_verb(struct ppi_tool_options *options) {
  const struct ppi_tool_verb *verb = options->verb;
  // With --live the operands are processes, not logs.
  const unsigned reads = options->live ? 0 : verb->reads;
  int code = PPI_EXIT_DONE, spooled = PPI_EXIT_DONE;
  ppi_tool_set_device_process(options->device_process);
  ppi_tool_set_jobs(options->jobs);
  code = ppi_tool_set_group_by(options->group_by);
  // For `run` the configuration is the command's.
  if (code == PPI_EXIT_DONE && !(verb->takes & PPI_TAKES(RUN)))
    code = ppi_tool_set_config(options->run.config);
  if (code == PPI_EXIT_DONE && verb->take_operands)
    code = verb->take_operands(options);
  if (code == PPI_EXIT_DONE && reads & PPI_READS_FOLDERS)
    code = ppi_tool_folders_open(options);
  if (code == PPI_EXIT_DONE && reads & PPI_READS_LOGS)
    spooled = ppi_tool_inputs_spool(options);
  if (spooled != PPI_EXIT_DAMAGED && spooled > code) code = spooled;
  if (reads & PPI_READS_TOLD) ppi_tool_warn_unread(options);
  if (code == PPI_EXIT_DONE && reads & PPI_READS_JOINED)
    ppi_tool_segments_join(options);
  if (code == PPI_EXIT_DONE) code = verb->run(options);
  ppi_tool_end_jobs();
  ppi_tool_join_clear();
  return spooled > code ? spooled : code;
}

int main(int argc, char **argv) {
  struct ppi_tool_options options;
  // Fills closed standard descriptors, so that no opened file gets their
  // numbers. For a command they are still closed.
  ppi_fd_stand_in();
  // A reader that stops early (`| head`) is no failure: writes answer EPIPE.
  bool keeps_sigpipe = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  if (argc < 2) {
    ppi_tool_help(verbs, NULL, stderr);
    return PPI_EXIT_USAGE;
  }
  int code = ppi_tool_parse(verbs, argc, argv, &options);
  options.keeps_sigpipe = keeps_sigpipe;
  if (code == PPI_EXIT_DONE) {
    const struct ppi_tool_verb *verb = options.verb_given ? options.verb : NULL;
    if (options.help)
      ppi_tool_help(verbs, verb, stdout);
    else if (options.version)
      printf("pprof-report %s\n", pprof_version());
    else
      code = run_verb(&options);
  }
  free(options.inputs);
  return code;
}
