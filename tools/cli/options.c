// SPDX-License-Identifier: Apache-2.0
//
// The option table, and the parser that reads it.
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/suggest.h"
#include "print/report_print.h"

enum option_type {
  OPTION_FLAG,
  OPTION_TEXT,
  OPTION_TEXTS,  // it may come again
  OPTION_CHOICE,
  OPTION_VIEWS,
  OPTION_NUMBER
};

// A name may have several rows, each of another group, for the verbs that take
// it. `values` names the argument, and for a choice lists what it may be; views
// are listed by the library.
struct option_row {
  const char *name;
  char letter;
  enum option_type type;
  size_t offset;  // of the field in struct ppi_tool_options
  uint64_t group;
  const char *values;
  const char *fallback;
  const char *help;
};
#define BAR_NAME(value, name) "|" name
#define ALL_FORMATS &("" PPI_REPORT_FORMATS(BAR_NAME))[1]
#define FOR(group) PPI_TAKES(group)
#define FIELD(name) offsetof(struct ppi_tool_options, name)

static const struct option_row option_table[] = {
    {"format", 'f', OPTION_CHOICE, FIELD(format), FOR(TABLES), ALL_FORMATS,
     "table", "how to print the report"},
    {"format", 'f', OPTION_CHOICE, FIELD(format), FOR(JSON), "table|json",
     "table", "how to print it"},
    {"format", 'f', OPTION_CHOICE, FIELD(format), FOR(RECOVER), "table|json",
     "table", "how to print what is open"},
    {"live", 0, OPTION_FLAG, FIELD(live), FOR(INFO), NULL, NULL,
     "what is open in running processes, named by PID, spool or LOG.part"},
    {"open", 0, OPTION_FLAG, FIELD(open), FOR(RECOVER), NULL, NULL,
     "what was open when the process died; nothing is recovered or removed"},
    {"output", 'o', OPTION_TEXT, FIELD(output), FOR(SUMMARY), "FILE", "-",
     "where to write; - is stdout, and FOLDER/ has a file for each view, with"
     " -f csv"},
    {"output", 'o', OPTION_TEXT, FIELD(output), FOR(OUTPUT), "FILE", "-",
     "where to write; - is stdout"},
    {"output", 'o', OPTION_TEXT, FIELD(output), FOR(TRACE), "FILE", NULL,
     "where to write; - is stdout, a name in .gz is compressed"
     " [LOG with .trace.json.gz for .pplog]"},
    {"output", 'o', OPTION_TEXT, FIELD(output), FOR(HTML), "FILE", NULL,
     "where to write; - is stdout [LOG with .html for .pplog]"},
    {"output", 'o', OPTION_TEXT, FIELD(output), FOR(IMPORT), "FILE", NULL,
     "the log to write [TRACE with .pplog for .json]"},
    {"output", 'o', OPTION_TEXT, FIELD(output), FOR(MERGE), "FILE", NULL,
     "the log to write; needed"},
    {"output", 'o', OPTION_TEXT, FIELD(output), FOR(RECOVER), "FILE", NULL,
     "the log to write [the name that the run would have used]"},
    {"output", 'o', OPTION_TEXT, FIELD(output), FOR(RUN), "FILE", NULL,
     "where to write the tables; - is stdout [stderr]"},
    {"output", 'o', OPTION_TEXT, FIELD(output), FOR(EXPORT), "FILE", NULL,
     "where to write; - is stdout [LOG with the format's ending for .pplog]"},
    {"list", 0, OPTION_FLAG, FIELD(to.list), FOR(EXPORT), NULL, NULL,
     "print the formats, and what opens them"},
    {"schema", 0, OPTION_CHOICE, FIELD(to.schema), FOR(EXPORT), "own|nsys",
     "own", "sqlite: the tables of docs/sql.md, or those of nsys's files"},
    {"format", 'f', OPTION_CHOICE, FIELD(format), FOR(SQL), "table|csv|json",
     "table", "how to print the answer"},
    {"view", 0, OPTION_CHOICE, FIELD(fleet.view), FOR(FLEET),
     "stages|stragglers|imbalance|tail|busy|ranks|clocks", NULL,
     "a question that is asked often, instead of a query; see docs/scale.md"},
    {"print-sql", 0, OPTION_CHOICE, FIELD(fleet.print_sql), FOR(FLEET),
     "duckdb|spark", NULL, "the SQL for an engine, instead of the answer"},
    {"force", 0, OPTION_FLAG, FIELD(force), FOR(ALL), NULL, NULL,
     "overwrite FILE; with run also variables that are set"},
    {"config", 'c', OPTION_TEXT, FIELD(run.config), FOR(RUN), "FILE", NULL,
     "what to record, see docs/profile-yaml.md [PPROF_CONFIG]"},
    {"preset", 0, OPTION_TEXT, FIELD(run.preset), FOR(RUN), "NAME", NULL,
     "a configuration for a server that marks: docs/serving.md#presets"},
    {"logs", 0, OPTION_TEXT, FIELD(run.logs), FOR(RUN), "FOLDER", NULL,
     "new or empty folder for the logs [pprof.CMD.PID]"},
    {"html", 0, OPTION_TEXT, FIELD(html), FOR(PAGE), "FILE", NULL,
     "write it as a page, too: docs/page.md"},
    {"kernels", 0, OPTION_FLAG, FIELD(run.kernels), FOR(RUN), NULL, NULL,
     "record each kernel and copy of CUDA, too, under the stage that launched"
     " it; no other tool can have CUPTI meanwhile, see docs/kernels.md"},
    {"library", 0, OPTION_TEXT, FIELD(run.library), FOR(LIBRARY), "FILE", NULL,
     "libpprof_nvtx.so [the one installed with this tool]"},
    {"view", 0, OPTION_VIEWS, FIELD(tables.view), FOR(TABLES), "VIEW,...", NULL,
     "the tables to print"},
    {"style", 0, OPTION_CHOICE, FIELD(tables.style), FOR(TABLES),
     "answer|paddle|torch|nsys", NULL,
     "the answer: what ran, where its time went and what that says; all tables"
     " of Paddle's profiler; the one of torch.profiler; those of nsys stats"
     " [answer; paddle for csv, json and what orders or parts tables]"},
    {"by", 0, OPTION_CHOICE, FIELD(tables.by), FOR(TABLES),
     "request|step|rank|thread", NULL,
     "the answer: whose time the table has: an average request or step, each"
     " rank's, each thread's [request, or else step, or else the run]"},
    {"verbose", 'v', OPTION_FLAG, FIELD(tables.verbose), FOR(TABLES), NULL,
     NULL, "the answer: every counter, and where each device's time went"},
    {"compact", 0, OPTION_FLAG, FIELD(tables.compact), FOR(TABLES), NULL, NULL,
     "json: the answer, the greatest findings and where the time goes, in 8 kB;"
     " see docs/for-agents.md"},
    {"tree", 0, OPTION_FLAG, FIELD(tables.tree), FOR(TABLES), NULL, NULL,
     "every stage where it is called from: calls, total, share of the time,"
     " self, percentiles, device time, rate, CPU time"},
    {"flat", 0, OPTION_FLAG, FIELD(tables.flat), FOR(TABLES), NULL, NULL,
     "the columns of --tree, each name once"},
    {"depth", 0, OPTION_NUMBER, FIELD(tables.depth), FOR(TABLES), "N", NULL,
     "--tree: so many levels; 0 is all [0]"},
    {"filter", 0, OPTION_TEXT, FIELD(tables.filter), FOR(TABLES), "GLOB", NULL,
     "--tree: names that fit, with what is around and inside; * and ? stand for"
     " anything"},
    {"kernels", 0, OPTION_FLAG, FIELD(tables.open_kernels), FOR(SUMMARY), NULL,
     NULL,
     "the tree with what was launched in each stage: kernels and copies, how"
     " long the device worked and why not, and the --top N names [5]"},
    {"kernel-names", 0, OPTION_CHOICE, FIELD(tables.kernel_names), FOR(SUMMARY),
     "short|full", "short",
     "--kernels: with what tells them apart, or as they are"},
    {"columns", 0, OPTION_TEXT, FIELD(tables.columns), FOR(TABLES), "A,B,...",
     NULL,
     "--tree: calls, total, wall, self, avg, std, p50, p99, device, items/s,"
     " user, sys, run-queue, max; kernels, launches, copies, busy, busy%, span,"
     " idle, because, delay, delay-p99, copied, GB/s, events [those that fit]"},
    {"wide", 0, OPTION_FLAG, FIELD(wide), FOR(TABLES), NULL, NULL,
     "the answer, --tree: every column, and names whole [the width of the"
     " terminal; 100 in a file]"},
    {"color", 0, OPTION_CHOICE, FIELD(color), FOR(TABLES), "auto|always|never",
     "auto", "bold headings; auto: on a terminal, unless NO_COLOR is set"},
    {"sort", 0, OPTION_TEXT, FIELD(tables.sort), FOR(TABLES), "KEY", NULL,
     "what orders named rows: cpu-total, cpu-avg, cpu-max, cpu-min, the same"
     " with gpu-, self, p50, p90, p99, std, calls; the other styles and --tree"
     " have their own [cpu-total; total]"},
    {"top", 0, OPTION_NUMBER, FIELD(tables.top), FOR(TABLES), "N", NULL,
     "rows of each table of names; 0 is all [0; torch 100]"},
    {"name-width", 0, OPTION_NUMBER, FIELD(tables.name_width), FOR(TABLES), "N",
     NULL, "--style torch: columns of names, the longest are cut [55]"},
    {"warmup", 0, OPTION_NUMBER, FIELD(warmup), FOR(REPORT), "N", NULL,
     "stages, interference, requests: how many calls, or requests, of each run"
     " are cold and have no part in rates and tails [as found]"},
    {"peak", 0, OPTION_TEXT, FIELD(tables.peak), FOR(REPORT),
     "TYPE=FLOPS[@STAGES],...", NULL,
     "stages: the device's peak by data type, such as "
     "bf16=989T@model*,f32=67T"},
    {"cost", 0, OPTION_TEXT, FIELD(tables.cost), FOR(REPORT),
     "MODEL.onnx[:STAGE],...", NULL,
     "what a call of a stage computes, as its model says: rates, MFU and"
     " roofline; see docs/cost.md"},
    {"threshold", 0, OPTION_TEXT, FIELD(threshold), FOR(REPORT), "ID=N,...",
     NULL,
     "the answer: from where on a finding is told of, by its id and in its"
     " unit, such as host-bound=30,uneven=5 [docs/findings.md]"},
    {"slo", 0, OPTION_TEXT, FIELD(slo), FOR(TABLES), "ttft=TIME,...", NULL,
     "serving: what a request must keep to be good, of ttft, itl (each gap),"
     " tpot and e2e, such as ttft=200ms,itl=50ms [docs/serving.md]"},
    {"thread-sep", 0, OPTION_FLAG, FIELD(tables.thread_sep), FOR(TABLES), NULL,
     NULL, "Operator and UserDefined apart by thread"},
    {"op-detail", 0, OPTION_FLAG, FIELD(tables.op_detail), FOR(TABLES), NULL,
     NULL, "under each operator what it consists of"},
    {"distributed", 0, OPTION_CHOICE, FIELD(tables.distribution), FOR(TABLES),
     "explicit|paddle", "explicit",
     "what counts as communication: what says so, or what Paddle guesses"},
    {"time-unit", 0, OPTION_CHOICE, FIELD(time_unit), FOR(TABLES), "ns|us|ms|s",
     NULL,
     "the unit of times in tables; csv and json keep ns [ms; torch as it"
     " fits]"},
    {"device-process", 0, OPTION_TEXT, FIELD(device_process), FOR(TRACES),
     "PATTERN", NULL,
     "traces: processes called so are devices; * and ? fit anything"},
    {"group-by", 0, OPTION_TEXT, FIELD(group_by), FOR(SHAPES), "shape|stack=N",
     NULL, "traces: apart by shapes of inputs, by N Python functions around"},
    {"raw", 0, OPTION_FLAG, FIELD(raw), FOR(RAW), NULL, NULL,
     "csv: names as they are; else those a spreadsheet would run get a '"},
    {"strict", 0, OPTION_FLAG, FIELD(strict), FOR(STRICT), NULL, NULL,
     "exit 1 when anything was lost"},
    {"keep", 0, OPTION_FLAG, FIELD(keep), FOR(RECOVER), NULL, NULL,
     "leave the spool where it is"},
    {"origin", 0, OPTION_FLAG, FIELD(origin), FOR(CONFIG), NULL, NULL,
     "show: where each value comes from"},
    {"output", 'o', OPTION_TEXT, FIELD(output), FOR(TRIGGER), "FILE", NULL,
     "a log for this window or dump alone [where the process records]"},
    {"pid", 0, OPTION_TEXT, FIELD(trigger.pid), FOR(TRIGGER), "P", NULL,
     "the process to ask; needed"},
    {"steps", 0, OPTION_TEXT, FIELD(trigger.steps), FOR(TRIGGER), "N", NULL,
     "record so many steps, from the next one on"},
    {"seconds", 0, OPTION_TEXT, FIELD(trigger.seconds), FOR(TRIGGER), "S", NULL,
     "record so long, from now on [10]"},
    {"kernels", 0, OPTION_TEXT, FIELD(trigger.kernels_for), FOR(TRIGGER),
     "TIME", NULL,
     "record for so long, such as 200ms, with each kernel and copy of CUDA;"
     " see docs/kernels.md"},
    {"format", 'f', OPTION_CHOICE, FIELD(format), FOR(FORMATS), ALL_FORMATS,
     "table", "how to print it"},
    {"time-unit", 0, OPTION_CHOICE, FIELD(time_unit), FOR(STAGES), "ns|us|ms|s",
     "ms", "the unit of times in tables; csv and json keep ns"},
    {"metric", 0, OPTION_CHOICE, FIELD(compare.metric), FOR(COMPARE),
     "mean|p50|p90|p99", "p50", "what of each stage is compared"},
    {"threshold", 0, OPTION_TEXT, FIELD(threshold), FOR(COMPARE),
     "[[STAGE.]METRIC=]P%,...", NULL,
     "changes up to it do not matter, such as 2%,decode.p99=5% [1%]"},
    {"fail-on", 0, OPTION_TEXT, FIELD(compare.fail_on), FOR(COMPARE),
     "VERDICT,...", NULL,
     "exit 1 on faster, slower, same, ambiguous, or none [slower]"},
    {"warmup", 0, OPTION_NUMBER, FIELD(warmup), FOR(COMPARE), "N", NULL,
     "first calls of each stage and run that are not compared [1]"},
    {"stage", 0, OPTION_TEXT, FIELD(stage), FOR(STAGES), "NAME,...", NULL,
     "compare: only these; search-batch: what one batch is; * and ? stand for "
     "anything [all; the steps]"},
    {"from", 0, OPTION_TEXT, FIELD(search.from), FOR(SEARCH_BATCH), "N", "1",
     "the first batch to try"},
    {"to", 0, OPTION_TEXT, FIELD(search.to), FOR(SEARCH_BATCH), "N", "65536",
     "the last batch to try"},
    {"sequential", 0, OPTION_FLAG, FIELD(search.sequential), FOR(SEARCH_BATCH),
     NULL, NULL, "try each batch in turn instead of doubling and halving"},
    {"try-timeout", 0, OPTION_TEXT, FIELD(search.try_timeout),
     FOR(SEARCH_BATCH), "TIME", NULL,
     "a try that takes longer, such as 10min, has failed; 0s: none [1min, or"
     " ten times the first one's for each as many items]"},
    {"latency", 0, OPTION_TEXT, FIELD(search.latency), FOR(SEARCH_BATCH),
     "TIME", NULL,
     "a batch whose p99 takes longer, such as 50ms, is too large [none]"},
    {"batches", 0, OPTION_TEXT, FIELD(search.batches), FOR(SEARCH_BATCH), "N",
     NULL,
     "how many batches a try must make to be ok [as many as those before]"},
    {"plot", 0, OPTION_TEXT, FIELD(search.plot), FOR(SEARCH_BATCH), "FILE",
     NULL, "items/s by batch as a page of HTML"},
    {"logs", 0, OPTION_TEXT, FIELD(run.logs), FOR(SEARCH_BATCH), "FOLDER", NULL,
     "new or empty folder that keeps the logs [they are removed]"},
    {"least", 0, OPTION_TEXT, FIELD(stuck.least), FOR(STUCK), "TIME", "1s",
     "what is open for less is not stuck"},
    {"usual", 0, OPTION_TEXT, FIELD(stuck.usual), FOR(STUCK), "LOG", NULL,
     "where to read how long things usually take [the process's own log]"},
    {"every", 0, OPTION_TEXT, FIELD(top.every), FOR(TOP), "TIME", "1s",
     "how often to look"},
    {"last", 0, OPTION_TEXT, FIELD(top.last), FOR(TOP), "TIME", "10s",
     "rates and percentiles are of so long"},
    {"once", 0, OPTION_FLAG, FIELD(top.once), FOR(TOP), NULL, NULL,
     "look for --every, print once and exit"},
    {"json", 0, OPTION_FLAG, FIELD(top.json), FOR(TOP), NULL, NULL,
     "a line of JSON for each process and look"},
    {"dim", 0, OPTION_TEXT, FIELD(cost.dims), FOR(DIMS), "NAME=N,...", NULL,
     "the size of a named dimension, such as batch=8, or of an axis of a"
     " tensor, such as boxes:0=100"},
    {"by", 0, OPTION_CHOICE, FIELD(cost.by), FOR(COST),
     "module|operator|module,operator|node", "module", "what a row is of"},
    {"times", 0, OPTION_TEXT, FIELD(cost.times), FOR(COST), "TRACE", NULL,
     "beside each node, or what it is part of, its time in ONNX Runtime's trace"
     " of the model; see docs/cost.md"},
    {"step", 0, OPTION_NUMBER, FIELD(cost.step), FOR(COST), "N", NULL,
     "--times: of this run, from 0 [the mean of all but the first]"},
    {"style", 0, OPTION_CHOICE, FIELD(tables.style), FOR(COST), "deepspeed",
     NULL, "modules as DeepSpeed's FLOPS profiler prints them"},
    {"depth", 0, OPTION_NUMBER, FIELD(tables.depth), FOR(COST), "N", NULL,
     "levels of modules; 0 is all [3]"},
    {"top", 0, OPTION_NUMBER, FIELD(tables.top), FOR(COST), "N", NULL,
     "so many rows; 0 is all [0]"},
    {"scale", 0, OPTION_TEXTS, FIELD(whatif.scales), FOR(WHATIF),
     "STAGE=FACTOR,...", NULL,
     "how long stages take, such as detect=0.5 (half); * and ? stand for"
     " anything; may come again [each stage in turn, with a tenth less]"},
    {"by", 0, OPTION_CHOICE, FIELD(tables.by), FOR(WHATIF), "request|step",
     NULL, "what figures are of [request, or else step]"},
    {"warmup", 0, OPTION_NUMBER, FIELD(warmup), FOR(WHATIF), "N", NULL,
     "so many requests or steps at first have no part in the figures [1]"},
    {"top", 0, OPTION_NUMBER, FIELD(tables.top), FOR(WHATIF), "N", NULL,
     "so many stages; 0 is all [0]"},
    {"listen", 0, OPTION_TEXT, FIELD(metrics.listen), FOR(METRICS),
     "ADDRESS:PORT", "127.0.0.1:9464", "where to answer HTTP"},
    {"stages", 0, OPTION_TEXT, FIELD(metrics.stages), FOR(METRICS), "N", "200",
     "stages of each process; those that come later are <other>"},
    {"format", 'f', OPTION_CHOICE, FIELD(format), FOR(HELP),
     "text|man|bash|zsh|fish", "text",
     "as it is, as a page for man, or completions for a shell"},
    {"usage", 'h', OPTION_FLAG, FIELD(usage), FOR(ALL), NULL, NULL,
     "print verbs and options on one screen and exit"},
    {"help", 0, OPTION_FLAG, FIELD(help), FOR(ALL), NULL, NULL,
     "print what each option does and exit"},
    {"version", 'V', OPTION_FLAG, FIELD(version), FOR(ALL), NULL, NULL,
     "print the version and exit"},
};
enum { NUM_ROWS = sizeof(option_table) / sizeof(option_table[0]) };

bool ppi_tool_option_at(size_t i, struct ppi_tool_option *out) {
  if (i >= NUM_ROWS) return false;
  const struct option_row *row = &option_table[i];
  *out = (struct ppi_tool_option){.name = row->name,
                                  .letter = row->letter,
                                  .argument = row->values,
                                  .is_choice = row->type == OPTION_CHOICE,
                                  .is_views = row->type == OPTION_VIEWS,
                                  .group = row->group,
                                  .fallback = row->fallback,
                                  .help = row->help};
  return true;
}

const struct ppi_tool_verb *ppi_tool_find_verb(
    const struct ppi_tool_verb *verbs, const char *name) {
  while (verbs->name && strcmp(verbs->name, name) != 0) verbs++;
  return verbs->name ? verbs : NULL;
}

// One item of the command line: an option with its value, or an operand.
struct item {
  const struct option_row *row;  // NULL: an operand
  const char *value;
};
struct cursor {
  const struct ppi_tool_verb *verbs;
  int argc, at;
  char **argv;
  bool only_operands;
  int num_operands;
  const struct ppi_tool_verb *verb;  // so far
  bool before_command;               // the next operand is a command
};

static const struct option_row *find_row(const char *name, size_t len,
                                         uint64_t groups) {
  for (size_t i = 0; i < NUM_ROWS; i++) {
    const struct option_row *row = &option_table[i];
    bool same = strlen(row->name) == len && memcmp(row->name, name, len) == 0;
    if (same && (row->group & groups)) return row;
  }
  return NULL;
}

static int refuse_option(const char *name, size_t len) {
  struct ppi_tool_guess guess = {.wrong = name, .wrong_len = len};
  for (size_t i = 0; i < NUM_ROWS; i++)
    ppi_tool_guess_offer(&guess, option_table[i].name,
                         strlen(option_table[i].name));
  if (guess.best)
    ppi_tool_say("unknown option '--%.*s' (did you mean '--%.*s'?)", (int)len,
                 name, (int)guess.best_len, guess.best);
  else
    ppi_tool_say("unknown option '--%.*s'; see pprof-report --help", (int)len,
                 name);
  return PPI_EXIT_USAGE;
}

// Takes the value of `item->row`: `attached`, or the next argument.
static int take_value(struct cursor *cursor, const char *attached,
                      struct item *item) {
  const struct option_row *row = item->row;
  item->value = attached;
  if (row->type == OPTION_FLAG && attached) {
    ppi_tool_say("option '--%s' takes no value", row->name);
    return PPI_EXIT_USAGE;
  }
  if (row->type == OPTION_FLAG || attached) return PPI_EXIT_DONE;
  if (cursor->at == cursor->argc) {
    ppi_tool_say("option '--%s' needs a value: %s", row->name, row->values);
    return PPI_EXIT_USAGE;
  }
  item->value = cursor->argv[cursor->at++];
  return PPI_EXIT_DONE;
}

static int take_long(struct cursor *cursor, const char *text,
                     struct item *item) {
  const char *equals = strchr(text, '=');
  size_t len = equals ? (size_t)(equals - text) : strlen(text);
  if (cursor->verb) item->row = find_row(text, len, cursor->verb->takes);
  if (!item->row) item->row = find_row(text, len, UINT64_MAX);
  if (!item->row) return refuse_option(text, len);
  return take_value(cursor, equals ? equals + 1 : NULL, item);
}

static int take_short(struct cursor *cursor, const char *text,
                      struct item *item) {
  for (size_t i = 0; i < NUM_ROWS && !item->row; i++)
    if (option_table[i].letter == text[0]) item->row = &option_table[i];
  if (!item->row) {
    ppi_tool_say("unknown option '-%c'; see pprof-report --help", text[0]);
    return PPI_EXIT_USAGE;
  }
  // "-f=json", too: a value that begins with '=' is written apart.
  const char *attached = text + 1 + (text[1] == '=');
  return take_value(cursor, text[1] ? attached : NULL, item);
}

// What follows a command is the command's, whatever it looks like.
static void take_operand(struct cursor *cursor, const char *text) {
  bool is_first = cursor->num_operands++ == 0;
  if (cursor->before_command) cursor->only_operands = true;
  if (is_first) cursor->verb = ppi_tool_find_verb(cursor->verbs, text);
  cursor->before_command =
      is_first && cursor->verb && cursor->verb->takes_command;
}

static int next_item(struct cursor *cursor, struct item *item) {
  const char *text = cursor->argv[cursor->at++];
  *item = (struct item){NULL, text};
  if (cursor->only_operands || text[0] != '-' || text[1] == '\0') {
    take_operand(cursor, text);
    return PPI_EXIT_DONE;
  }
  if (text[1] == '-' && text[2] == '\0') {
    cursor->only_operands = true;
    item->value = NULL;
    return PPI_EXIT_DONE;
  }
  return text[1] == '-' ? take_long(cursor, text + 2, item)
                        : take_short(cursor, text + 1, item);
}

// A first operand that is no verb is a log, unless it looks like a word and
// is no file.
static int find_verb(struct ppi_tool_options *out) {
  out->verb = out->verbs;
  if (out->num_inputs == 0) return PPI_EXIT_DONE;
  const char *first = out->inputs[0];
  const struct ppi_tool_verb *verb = ppi_tool_find_verb(out->verbs, first);
  if (verb) {
    out->verb = verb;
    out->verb_given = true;
    out->num_inputs--;
    memmove(out->inputs, out->inputs + 1,
            sizeof(*out->inputs) * (size_t)(out->num_inputs + 1));
    return PPI_EXIT_DONE;
  }
  if (strcmp(first, "-") == 0 || strpbrk(first, "./") ||
      access(first, F_OK) == 0)
    return PPI_EXIT_DONE;
  struct ppi_tool_guess guess = {.wrong = first, .wrong_len = strlen(first)};
  for (verb = out->verbs; verb->name; verb++)
    ppi_tool_guess_offer(&guess, verb->name, strlen(verb->name));
  if (guess.best)
    ppi_tool_say("'%s' is neither a verb nor a file (did you mean '%s'?)",
                 first, guess.best);
  else
    ppi_tool_say("'%s' is neither a verb nor a file; see pprof-report --help",
                 first);
  return PPI_EXIT_USAGE;
}

static int set_choice(const struct option_row *row, const char *value,
                      const char **field) {
  struct ppi_tool_guess guess = {.wrong = value, .wrong_len = strlen(value)};
  for (const char *at = row->values; at;) {
    const char *bar = strchr(at, '|');
    size_t len = bar ? (size_t)(bar - at) : strlen(at);
    if (len == guess.wrong_len && memcmp(at, value, len) == 0) {
      *field = value;
      return PPI_EXIT_DONE;
    }
    ppi_tool_guess_offer(&guess, at, len);
    at = bar ? bar + 1 : NULL;
  }
  if (guess.best)
    ppi_tool_say("'--%s %s' is not one of %s (did you mean '%.*s'?)", row->name,
                 value, row->values, (int)guess.best_len, guess.best);
  else
    ppi_tool_say("'--%s %s' is not one of %s", row->name, value, row->values);
  return PPI_EXIT_USAGE;
}

static int refuse_view(const char *name, size_t len) {
  struct ppi_tool_guess guess = {.wrong = name, .wrong_len = len};
  const ppi_view_kind *const *view = ppi_view_kinds();
  for (; *view; view++)
    ppi_tool_guess_offer(&guess, (*view)->name, strlen((*view)->name));
  if (guess.best)
    ppi_tool_say("there is no view '%.*s' (did you mean '%s'?)", (int)len, name,
                 guess.best);
  else
    ppi_tool_say("there is no view '%.*s'; see pprof-report help summary",
                 (int)len, name);
  return PPI_EXIT_USAGE;
}

static int set_views(const char *value, const char **field) {
  for (const char *at = value;; at++) {
    size_t len = strcspn(at, ",");
    const ppi_view_kind *const *view = ppi_view_kinds();
    while (*view && (strlen((*view)->name) != len ||
                     memcmp((*view)->name, at, len) != 0))
      view++;
    if (!*view) return refuse_view(at, len);
    at += len;
    if (*at == '\0') break;
  }
  *field = value;
  return PPI_EXIT_DONE;
}

static int set_number(const struct option_row *row, const char *value,
                      long *field) {
  char *end;
  errno = 0;
  long number = strtol(value, &end, 10);
  bool is_number = !errno && end != value && !*end;
  if (is_number && number >= 0) {
    *field = number;
    return PPI_EXIT_DONE;
  }
  ppi_tool_say("'--%s %s' is %s", row->name, value,
               is_number ? "not 0 or more" : "no whole number");
  return PPI_EXIT_USAGE;
}

static int add_text(const struct option_row *row, const char *value,
                    struct ppi_tool_list *list) {
  const int most = (int)(sizeof list->items / sizeof *list->items);
  if (list->num < most) {
    list->items[list->num++] = value;
    return PPI_EXIT_DONE;
  }
  ppi_tool_say("'--%s' comes more than %d times", row->name, most);
  return PPI_EXIT_USAGE;
}

static int set_option(const struct item *item, struct ppi_tool_options *out) {
  const char *name = item->row->name;
  const struct option_row *row = find_row(name, strlen(name), out->verb->takes);
  if (!row) {
    ppi_tool_say("'%s' has no option '--%s'; see pprof-report help %s",
                 out->verb->name, name, out->verb->name);
    return PPI_EXIT_USAGE;
  }
  void *field = (char *)out + row->offset;
  if (row->type == OPTION_FLAG) {
    *(bool *)field = true;
  } else if (row->type == OPTION_TEXT) {
    *(const char **)field = item->value;
  } else if (row->type == OPTION_TEXTS) {
    return add_text(row, item->value, field);
  } else if (row->type == OPTION_NUMBER) {
    return set_number(row, item->value, field);
  } else {
    return row->type == OPTION_VIEWS ? set_views(item->value, field)
                                     : set_choice(row, item->value, field);
  }
  return PPI_EXIT_DONE;
}

static void set_defaults(struct ppi_tool_options *out) {
  for (size_t i = 0; i < NUM_ROWS; i++) {
    const struct option_row *row = &option_table[i];
    if (row->fallback && (row->group & out->verb->takes))
      *(const char **)((char *)out + row->offset) = row->fallback;
  }
}

static int collect_operands(struct cursor cursor,
                            struct ppi_tool_options *out) {
  while (cursor.at < cursor.argc) {
    struct item item;
    int code = next_item(&cursor, &item);
    if (code != PPI_EXIT_DONE) return code;
    if (!item.row && item.value) out->inputs[out->num_inputs++] = item.value;
  }
  return find_verb(out);
}

int ppi_tool_parse(const struct ppi_tool_verb *verbs, int argc, char **argv,
                   struct ppi_tool_options *out) {
  struct cursor cursor = {.verbs = verbs, .argc = argc, .at = 1, .argv = argv};
  *out = (struct ppi_tool_options){
      .verbs = verbs,
      .inputs = calloc((size_t)argc + 1, sizeof(*out->inputs)),
      .tables.top = LONG_MIN,
      .warmup = LONG_MIN,
      .tables.depth = LONG_MIN,
      .cost.step = -1};
  if (!out->inputs) return PPI_EXIT_USAGE;
  // Which rows apply depends on the verb, which may come after options.
  int code = collect_operands(cursor, out);
  if (code != PPI_EXIT_DONE) return code;
  set_defaults(out);
  while (cursor.at < argc && code == PPI_EXIT_DONE) {
    struct item item;
    code = next_item(&cursor, &item);
    if (code == PPI_EXIT_DONE && item.row) code = set_option(&item, out);
  }
  if (code != PPI_EXIT_DONE || out->usage || out->help || out->version)
    return code;
  if (out->verb->needs_input && out->num_inputs == 0) {
    ppi_tool_say("'%s' needs %s; see pprof-report --help", out->verb->name,
                 out->verb->operands);
    return PPI_EXIT_USAGE;
  }
  return PPI_EXIT_DONE;
}
