// SPDX-License-Identifier: Apache-2.0
//
// Lists the options of all verbs, one row each.
#include "cli/option_table.h"

#include "cli/options.h"
#include "print/report_print.h"

#define BAR_NAME(value, name) "|" name
#define ALL_FORMATS &("" PPI_REPORT_FORMATS(BAR_NAME))[1]
#define FOR(group) PPI_TAKES(group)

#define ROW(type, name, letter, field, groups, ...)                            \
  {                                                                            \
    name, letter, PPI_OPTION_##type, offsetof(struct ppi_tool_options, field), \
        groups, __VA_ARGS__                                                    \
  }
#define FLAG(name, letter, field, groups, help) \
  ROW(FLAG, name, letter, field, groups, NULL, NULL, help)
#define TEXT(...) ROW(TEXT, __VA_ARGS__)
#define TEXTS(...) ROW(TEXTS, __VA_ARGS__)
#define CHOICE(...) ROW(CHOICE, __VA_ARGS__)
#define VIEWS(...) ROW(VIEWS, __VA_ARGS__)
#define NUMBER(...) ROW(NUMBER, __VA_ARGS__)

const struct ppi_tool_option ppi_option_rows[] = {
    CHOICE("format", 'f', format, FOR(TABLES), ALL_FORMATS, "table",
           "how to print the report"),
    CHOICE("format", 'f', format, FOR(JSON), "table|json", "table",
           "how to print it"),
    CHOICE("format", 'f', format, FOR(RECOVER), "table|json", "table",
           "how to print what is open"),
    FLAG("live", 0, live, FOR(INFO),
         "what is open in running processes, named by PID, spool or LOG.part"),
    FLAG(
        "open-ranges", 0, open, FOR(RECOVER),
        "what was open when the process died; nothing is recovered or removed"),
    TEXT("output", 'o', output, FOR(SUMMARY), "FILE", "-",
         "where to write; - is stdout, and FOLDER/ has a file for each view, "
         "with -f csv"),
    TEXT("output", 'o', output, FOR(OUTPUT), "FILE", "-",
         "where to write; - is stdout"),
    TEXT("output", 'o', output, FOR(TRACE), "FILE", NULL,
         "where to write; - is stdout, a name in .gz is compressed [LOG with "
         ".trace.json.gz for .pplog]"),
    TEXT("output", 'o', output, FOR(HTML), "FILE", NULL,
         "where to write; - is stdout [LOG with .html for .pplog]"),
    TEXT("output", 'o', output, FOR(IMPORT), "FILE", NULL,
         "the log to write [TRACE with .pplog for .json]"),
    TEXT("output", 'o', output, FOR(MERGE), "FILE", NULL,
         "the log to write; needed"),
    TEXT("output", 'o', output, FOR(RECOVER), "FILE", NULL,
         "the log to write [the name that the run would have used]"),
    TEXT("output", 'o', output, FOR(RUN), "FILE", NULL,
         "where to write the tables; - is stdout [stderr]"),
    TEXT("output", 'o', output, FOR(EXPORT), "FILE", NULL,
         "where to write; - is stdout [LOG with the format's ending for "
         ".pplog]"),
    FLAG("open", 0, open, FOR(HTML),
         "show the page: by $BROWSER, else xdg-open"),
    FLAG("list", 0, to.list, FOR(EXPORT),
         "print the formats, and what opens them"),
    CHOICE("schema", 0, to.schema, FOR(EXPORT), "own|nsys", "own",
           "sqlite: the tables of docs/sql.md, or those of nsys's files"),
    CHOICE("format", 'f', format, FOR(SQL), "table|csv|json", "table",
           "how to print the answer"),
    TEXT("timeout", 0, to.timeout, FOR(SQLITE), "TIME", NULL,
         "end a query that takes longer, such as 10s [none]"),
    CHOICE(
        "view", 0, fleet.view, FOR(FLEET),
        "stages|stragglers|imbalance|tail|busy|ranks|clocks", NULL,
        "a question that is asked often, instead of a query; see docs/sql.md"),
    CHOICE("print-sql", 0, fleet.print_sql, FOR(FLEET), "duckdb|spark", NULL,
           "the SQL for an engine, instead of the answer"),
    FLAG("force", 0, force, FOR(ALL),
         "overwrite FILE; with run also variables that are set"),
    TEXT("config", 'c', run.config, FOR(RUN) | FOR(TRACES), "FILE", NULL,
         "what to record, see docs/profile-yaml.md [PPROF_CONFIG]; of traces "
         "its names.categories"),
    TEXT("preset", 0, run.preset, FOR(RUN), "NAME", NULL,
         "a configuration for a server that marks: docs/serving.md#presets"),
    TEXTS("hooks", 0, run.hooks, FOR(RUN), "FILE|NAME", NULL,
          "mark functions of Python packages, may come again: torch, vllm, "
          "asgi, ... or a file, see docs/python.md [torch, asgi where nothing "
          "is marked]"),
    FLAG("no-hooks", 0, run.no_hooks, FOR(RUN), "mark nothing from outside"),
    TEXT("logs", 0, run.logs, FOR(RUN), "FOLDER", NULL,
         "new or empty folder for the logs [pprof.CMD.PID]"),
    TEXT("html", 0, html, FOR(PAGE), "FILE", NULL,
         "write it as a page, too: docs/page.md"),
    FLAG("kernels", 0, run.kernels, FOR(RUN),
         "record each kernel and copy of CUDA under its stage; no other tool "
         "can use CUPTI meanwhile, see docs/devices.md"),
    FLAG("waits", 0, run.waits, FOR(RUN),
         "record what threads wait for and who ends it, see docs/forensics.md"),
    TEXT("library", 0, run.library, FOR(LIBRARY), "FILE", NULL,
         "libpprof_nvtx.so [the one installed with this tool]"),
    VIEWS("view", 0, tables.view, FOR(TABLES), "VIEW,...", NULL,
          "the tables to print"),
    CHOICE("style", 0, tables.style, FOR(TABLES), "answer|paddle|torch|nsys",
           NULL,
           "answer: what limits it; paddle, torch, nsys: that profiler's "
           "tables [answer; paddle for csv, json and options of tables]"),
    CHOICE("by", 0, tables.by, FOR(TABLES), "request|step|rank|thread", NULL,
           "the answer: the table's unit: an average request or step, each "
           "rank, each thread [request, else step, else the run]"),
    TEXT("iteration", 0, tables.iteration, FOR(TABLES), "NAME", NULL,
         "the answer: the range that begins an iteration of a run without "
         "steps and requests [as found]"),
    FLAG("no-iterations", 0, tables.no_iterations, FOR(TABLES),
         "the answer: look for no iterations"),
    FLAG("verbose", 'v', tables.verbose, FOR(TABLES),
         "the answer: every counter, and where each device's time went"),
    FLAG("compact", 0, tables.compact, FOR(TABLES),
         "json: the answer, the greatest findings and where the time goes, in "
         "8 kB; see docs/quickstart.md"),
    FLAG("tree", 0, tables.tree, FOR(TABLES),
         "every stage where it is called from: calls, total, share of the "
         "time, self, percentiles, device time, rate, CPU time"),
    FLAG("flat", 0, tables.flat, FOR(TABLES),
         "the columns of --tree, each name once"),
    NUMBER("depth", 0, tables.depth, FOR(TABLES), "N", NULL,
           "--tree: so many levels; 0 is all [0]"),
    TEXT("filter", 0, tables.filter, FOR(TABLES), "GLOB", NULL,
         "--tree: names that fit, with what is around and inside; * and ? "
         "stand for anything"),
    FLAG("kernel-tree", 0, tables.open_kernels, FOR(SUMMARY),
         "the tree with each stage's kernels and copies: device time, why it "
         "was idle, and --top N names [5]"),
    CHOICE("kernel-names", 0, tables.kernel_names, FOR(SUMMARY), "short|full",
           "short", "--kernel-tree: short names, or full ones"),
    TEXT("columns", 0, tables.columns, FOR(TABLES), "A,B,...", NULL,
         "of --view, --style: as CSV names them; of --tree: as --wide names "
         "them [those that fit]"),
    TEXT("columns", 0, tables.columns,
         FOR(FORMATS) | FOR(JSON) | FOR(SQL) | FOR(RECOVER), "A,B,...", NULL,
         "of the table, as CSV names them [those that fit]"),
    FLAG("wide", 0, wide,
         FOR(TABLES) | FOR(FORMATS) | FOR(JSON) | FOR(SQL) | FOR(RECOVER),
         "tables: every column, and names whole [the width of the terminal; "
         "100 in a file]"),
    CHOICE("color", 0, color, FOR(TABLES), "auto|always|never", "auto",
           "bold headings; auto: on a terminal, unless NO_COLOR is set"),
    TEXT("sort", 0, tables.sort, FOR(TABLES), "KEY", NULL,
         "what orders rows: cpu-total, -avg, -max, -min, the same with gpu-, "
         "self, p50, p90, p99, std, calls [cpu-total; total]"),
    NUMBER("top", 0, tables.top, FOR(TABLES), "N", NULL,
           "rows of each table of names; 0 is all [0; torch 100]"),
    NUMBER("name-width", 0, tables.name_width, FOR(TABLES), "N", NULL,
           "--style torch: columns of names, the longest are cut [55]"),
    NUMBER("warmup", 0, warmup, FOR(REPORT), "N", NULL,
           "stages, interference, requests: how many first calls, or requests, "
           "of each run rates and tails leave out [as found]"),
    TEXT("peak", 0, tables.peak, FOR(REPORT), "TYPE=FLOPS[@STAGES],...", NULL,
         "stages: the device's peak by data type, such as "
         "bf16=989T@model*,f32=67T"),
    TEXT("cost", 0, tables.cost, FOR(REPORT), "MODEL.onnx[:STAGE],...", NULL,
         "work of a stage by its model, for rates, MFU and roofline; see "
         "docs/cost.md"),
    TEXT("threshold", 0, threshold, FOR(REPORT), "ID=N,...", NULL,
         "the answer: thresholds of findings, by id and in their units, such "
         "as host-bound=30,uneven=5 [docs/findings.md]"),
    TEXT("slo", 0, slo, FOR(TABLES), "ttft=TIME,...", NULL,
         "serving: limits of a good request: ttft, itl (each gap), tpot, e2e, "
         "such as ttft=200ms,itl=50ms [docs/serving.md]"),
    FLAG("thread-sep", 0, tables.thread_sep, FOR(TABLES),
         "Operator and UserDefined by thread"),
    FLAG("op-detail", 0, tables.op_detail, FOR(TABLES),
         "the parts of each operator"),
    CHOICE(
        "distributed", 0, tables.distribution, FOR(TABLES), "explicit|paddle",
        "explicit",
        "what counts as communication: marked ranges, or names as in Paddle"),
    CHOICE("time-unit", 0, time_unit, FOR(TABLES), "ns|us|ms|s", NULL,
           "the unit of times in tables; csv and json keep ns [ms; torch as it "
           "fits]"),
    TEXT("device-process", 0, device_process, FOR(TRACES), "PATTERN", NULL,
         "traces: names of processes that are devices; * and ? fit anything"),
    TEXT("group-by", 0, group_by, FOR(SHAPES), "shape|stack=N", NULL,
         "traces: a row for each shape of inputs, or for N Python functions "
         "around"),
    FLAG("raw", 0, raw, FOR(RAW),
         "csv: names as they are; else those a spreadsheet would run get a '"),
    NUMBER("jobs", 'j', jobs, FOR(JOBS), "N", NULL,
           "threads that read and add up [processors, at most 8; 1 for a log "
           "below 128 KiB]"),
    FLAG("no-sums", 0, no_sums, PPI_TAKES_SUMS,
         "neither use nor write LOG.pplog.sum, the figures of earlier reports"),
    FLAG("strict", 0, strict, FOR(STRICT), "exit 1 when anything was lost"),
    TEXT("expect", 0, expect, FOR(CHECK), "FILE", NULL,
         "check these rules instead of the blocks; exit 1 if a run breaks one: "
         "docs/compare.md"),
    FLAG("learn", 0, learn, FOR(EXPECT),
         "write the rules that these runs keep; needed"),
    FLAG("keep", 0, keep, FOR(RECOVER), "leave the spool where it is"),
    FLAG("origin", 0, origin, FOR(CONFIG), "show: where each value comes from"),
    TEXT("output", 'o', output, FOR(TRIGGER), "FILE", NULL,
         "a log for this window or dump alone [where the process records]"),
    TEXT("pid", 0, trigger.pid, FOR(TRIGGER), "P", NULL,
         "the process to ask; needed"),
    TEXT("steps", 0, trigger.steps, FOR(TRIGGER), "N", NULL,
         "record so many steps, from the next one on"),
    TEXT("seconds", 0, trigger.seconds, FOR(TRIGGER), "S", NULL,
         "record so long, from now on [10]"),
    TEXT("kernels", 0, trigger.kernels_for, FOR(TRIGGER), "TIME", NULL,
         "record for so long, such as 200ms, with each kernel and copy of "
         "CUDA; see docs/devices.md"),
    CHOICE("format", 'f', format, FOR(FORMATS), ALL_FORMATS, "table",
           "how to print it"),
    CHOICE("time-unit", 0, time_unit, FOR(STAGES), "ns|us|ms|s", "ms",
           "the unit of times in tables; csv and json keep ns"),
    CHOICE("metric", 0, compare.metric, FOR(TRY) | FOR(HISTORY),
           "mean|p50|p90|p99", "p50", "what of each stage is compared"),
    CHOICE("metric", 0, compare.metric, FOR(COMPARE), "mean|p50|p90|p99|energy",
           "p50",
           "what of each stage is compared; energy: joules of devices, per "
           "call and per item"),
    TEXT("threshold", 0, threshold, FOR(COMPARE), "[[STAGE.]METRIC=]P%,...",
         NULL, "changes up to it do not matter, such as 2%,decode.p99=5% [1%]"),
    TEXT("fail-on", 0, compare.fail_on, FOR(COMPARE) | FOR(TRY), "VERDICT,...",
         NULL, "exit 1 on faster, slower, same, ambiguous, or none [slower]"),
    FLAG("runs-differ", 0, compare.runs_differ, FOR(COMPARE),
         "--fail-on is about these runs [about the programs]"),
    CHOICE("adjust", 0, compare.adjust, FOR(COMPARE), "clock", NULL,
           "scale device times to the base's clock, if both logs have clocks"),
    TEXT("history", 0, compare.history, FOR(COMPARE), "FOLDER", NULL,
         "logs of earlier runs, for how far runs differ: each folder in it, "
         "and itself, is one program"),
    NUMBER("warmup", 0, warmup, FOR(COMPARE) | FOR(TRY) | FOR(HISTORY), "N",
           NULL, "first calls of each stage and run that are not compared [1]"),
    TEXT("stage", 0, stage, FOR(STAGES), "NAME,...", NULL,
         "compare, try, history: only these; search-batch: what one batch is; "
         "* and ? stand for anything [all; the steps]"),
    CHOICE("fail-on", 0, compare.fail_on, FOR(HISTORY), "new|none", "none",
           "exit 1 if a stage became slower at the last point"),
    TEXT("base", 0, tries.base, FOR(TRY), "CMD", NULL,
         "the command to compare with, for a shell; needed"),
    TEXTS("new", 0, tries.programs, FOR(TRY), "CMD", NULL,
          "the command to try, may come again; each look drops the worse half; "
          "needed"),
    TEXT("until", 0, tries.until, FOR(TRY), "P%", "5%",
         "the smallest change that matters: run until one is found, or none is "
         "possible"),
    TEXT("max-runs", 0, tries.max_runs, FOR(TRY), "N", "30",
         "runs of each command at most, from 6 on"),
    TEXT("from", 0, search.from, FOR(SEARCH_BATCH), "N", "1",
         "the first batch to try"),
    TEXT("to", 0, search.to, FOR(SEARCH_BATCH), "N", "65536",
         "the last batch to try"),
    FLAG("sequential", 0, search.sequential, FOR(SEARCH_BATCH),
         "try each batch in turn instead of doubling and halving"),
    TEXT("try-timeout", 0, search.try_timeout, FOR(SEARCH_BATCH), "TIME", NULL,
         "the longest try, such as 10min; 0s: no limit [1min, or ten times the "
         "first try for as many items]"),
    TEXT("latency", 0, search.latency, FOR(SEARCH_BATCH), "TIME", NULL,
         "the longest p99 of a batch, such as 50ms [none]"),
    TEXT("batches", 0, search.batches, FOR(SEARCH_BATCH), "N", NULL,
         "how many batches a try must make to be ok [as many as those before]"),
    TEXT("plot", 0, search.plot, FOR(SEARCH_BATCH), "FILE", NULL,
         "items/s by batch as a page of HTML"),
    TEXT("logs", 0, run.logs, FOR(SEARCH_BATCH) | FOR(TRY), "FOLDER", NULL,
         "new or empty folder that keeps the logs [they are removed]"),
    TEXT("least", 0, stuck.least, FOR(STUCK), "TIME", "1s",
         "the least time open to be stuck"),
    TEXT("usual", 0, stuck.usual, FOR(STUCK), "LOG", NULL,
         "the log with usual lengths [the process's own log]"),
    TEXT("every", 0, top.every, FOR(TOP), "TIME", "1s", "how often to update"),
    TEXT("last", 0, top.last, FOR(TOP), "TIME", "10s",
         "the span of rates and percentiles"),
    FLAG("once", 0, top.once, FOR(TOP),
         "measure for --every, print once and exit"),
    FLAG("json", 0, top.json, FOR(TOP),
         "a line of JSON for each process and update"),
    TEXT("dim", 0, cost.dims, FOR(DIMS), "NAME=N,...", NULL,
         "the size of a named dimension, such as batch=8, or of an axis of a "
         "tensor, such as boxes:0=100"),
    CHOICE("by", 0, cost.by, FOR(COST), "module|operator|module,operator|node",
           "module", "what a row is of"),
    TEXT("times", 0, cost.times, FOR(COST), "TRACE", NULL,
         "add times of nodes from ONNX Runtime's trace of the model; see "
         "docs/cost.md"),
    NUMBER("step", 0, cost.step, FOR(COST), "N", NULL,
           "--times: use this run, from 0 [the mean of all but the first]"),
    CHOICE("style", 0, tables.style, FOR(COST), "deepspeed", NULL,
           "modules as DeepSpeed's FLOPS profiler prints them"),
    NUMBER("depth", 0, tables.depth, FOR(COST), "N", NULL,
           "levels of modules; 0 is all [3]"),
    NUMBER("top", 0, tables.top, FOR(COST), "N", NULL,
           "so many rows; 0 is all [0]"),
    TEXTS("scale", 0, whatif.scales, FOR(WHATIF), "STAGE=FACTOR,...", NULL,
          "factors of stages' times, such as detect=0.5 (half); * and ? stand "
          "for anything; may come again [each stage in turn, by half]"),
    NUMBER("top", 0, tables.top, FOR(WHATIF), "N", NULL,
           "so many stages; 0 is all [0]"),
    TEXT("listen", 0, metrics.listen, FOR(METRICS), "ADDRESS:PORT",
         "127.0.0.1:9464", "where to answer HTTP"),
    TEXT("stages", 0, metrics.stages, FOR(METRICS), "N", "200",
         "stages of each process; those that come later are <other>"),
    CHOICE("format", 'f', format, FOR(HELP), "text|man|bash|zsh|fish", "text",
           "as it is, as a page for man, or completions for a shell"),
    FLAG("verbose", 'v', tables.verbose, FOR(HELP),
         "every option, with all that it does"),
    FLAG("help", 'h', help, FOR(ALL), "print this on one screen and exit"),
    FLAG("version", 'V', version, FOR(ALL), "print the version and exit"),
};
const size_t ppi_num_option_rows =
    sizeof(ppi_option_rows) / sizeof(ppi_option_rows[0]);
