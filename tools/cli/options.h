// SPDX-License-Identifier: Apache-2.0
//
// The tool's verbs and options. One table of options drives parsing, defaults
// and help. main passes in the table of verbs with their functions. Main thread
// only.
#pragma once

#include "cli/say.h"

// Verbs that use the sums in a file beside a log.
#define PPI_TAKES_SUMS                                           \
  (PPI_TAKES(SUMMARY) | PPI_TAKES(WHATIF) | PPI_TAKES(COMPARE) | \
   PPI_TAKES(CHECK))

// Groups of options, one bit each. An option is in one group; a verb takes
// several groups. Shared groups come first, then each verb's own.
#define PPI_OPTION_GROUPS(X) \
  X(ALL)                     \
  X(TABLES)                  \
  X(REPORT)                  \
  X(FORMATS)                 \
  X(JSON)                    \
  X(OUTPUT)                  \
  X(STAGES)                  \
  X(PAGE)                    \
  X(LIBRARY)                 \
  X(TRACES)                  \
  X(SHAPES)                  \
  X(RAW)                     \
  X(STRICT)                  \
  X(JOBS)                    \
  X(DIMS)                    \
  X(SUMMARY)                 \
  X(TRACE)                   \
  X(HTML)                    \
  X(INFO)                    \
  X(RECOVER)                 \
  X(HELP)                    \
  X(RUN)                     \
  X(IMPORT)                  \
  X(MERGE)                   \
  X(CONFIG)                  \
  X(TRIGGER)                 \
  X(COMPARE)                 \
  X(TRY)                     \
  X(SEARCH_BATCH)            \
  X(CHECK)                   \
  X(EXPECT)                  \
  X(HISTORY)                 \
  X(STUCK)                   \
  X(TOP)                     \
  X(METRICS)                 \
  X(EXPORT)                  \
  X(SQL)                     \
  X(SQLITE)                  \
  X(FLEET)                   \
  X(COST)                    \
  X(WHATIF)
enum {
#define PPI_GROUP_ENUM_(name) PPI_GROUP_PLACE_##name,
  PPI_OPTION_GROUPS(PPI_GROUP_ENUM_)
#undef PPI_GROUP_ENUM_
      PPI_NUM_GROUPS
};
#define PPI_TAKES(name) ((uint64_t)1 << PPI_GROUP_PLACE_##name)

// The ways in which operands are prepared before a verb runs.
enum {
  PPI_READS_LOGS = 1,     // standard input and gzipped logs become files
  PPI_READS_FOLDERS = 2,  // a folder is its logs; else a folder is one input
  PPI_READS_JOINED = 4,   // segments of one run are put together
  PPI_READS_TOLD = 8,     // a message names unfinished logs beside the inputs
  PPI_READS_RUNS = 15
};

// Options of the tables and pictures of a log.
struct ppi_table_options {
  const char *view, *style, *sort, *distribution, *by, *filter;
  const char *peak, *columns, *kernel_names, *cost, *iteration;
  long top, depth;  // LONG_MIN: not given
  long name_width;  // 0: not given
  bool thread_sep, op_detail, tree, flat, open_kernels, verbose, compact;
  bool no_iterations;
};

// The values of an option that may be repeated.
struct ppi_tool_list {
  const char *items[32];
  int num;
};

struct ppi_run_options {
  const char *config, *preset, *library, *logs;
  struct ppi_tool_list hooks;
  bool kernels, waits, no_hooks;
};

struct ppi_search_options {
  const char *from, *to, *try_timeout, *latency, *batches, *plot;
  bool sequential;
};

struct ppi_trigger_options {
  const char *pid, *steps, *seconds, *kernels_for;
};

struct ppi_stuck_options {
  const char *least, *usual;
};

struct ppi_top_options {
  const char *every, *last;
  bool once, json;
};

struct ppi_serve_options {
  const char *listen, *stages;
};

struct ppi_try_options {
  const char *base, *until, *max_runs;
  struct ppi_tool_list programs;
};

struct ppi_compare_options {
  const char *fail_on, *metric, *history, *adjust;
  bool runs_differ;
};

struct ppi_export_options {
  const char *format;  // the first operand
  const char *schema;
  const char *query;  // of `sql`, the last operand
  const char *timeout;
  bool list;
};

struct ppi_fleet_options {
  const char *view;
  const char *print_sql;  // for which engine
};

struct ppi_whatif_options {
  struct ppi_tool_list scales;
};

struct ppi_cost_options {
  const char *dims, *by, *times;
  long step;  // -1: not given
};

// Options of several kinds of verbs, then options of one kind.
struct ppi_tool_options {
  const struct ppi_tool_verb *verbs;  // all of them
  const struct ppi_tool_verb *verb;
  const char *format, *output, *time_unit;  // NULL: not given
  const char *color, *threshold, *slo, *stage, *device_process, *group_by;
  const char *html;    // run, compare
  const char *expect;  // check
  bool learn;          // expect
  long warmup;         // LONG_MIN: not given
  long jobs;           // LONG_MIN: not given
  bool force, strict, keep, origin, raw, wide, help, version, no_sums;
  bool open, live;  // recover, info: open ranges only
  bool verb_given;
  const char **inputs;  // the operands after the verb
  int num_inputs;
  // Set by main, and by verbs for the verbs that they call.
  bool to_stderr;      // without `output`
  bool skip_useless;   // empty or unreadable ones of several logs
  bool of_folder;      // an operand was a folder
  bool keeps_sigpipe;  // the process was started with SIGPIPE ignored
  struct ppi_table_options tables;
  struct ppi_run_options run;
  struct ppi_search_options search;
  struct ppi_trigger_options trigger;
  struct ppi_compare_options compare;
  struct ppi_try_options tries;
  struct ppi_stuck_options stuck;
  struct ppi_top_options top;
  struct ppi_serve_options metrics;
  struct ppi_export_options to;
  struct ppi_fleet_options fleet;
  struct ppi_cost_options cost;
  struct ppi_whatif_options whatif;
};

struct ppi_tool_verb {
  const char *name;
  const char *operands;
  const char *summary;
  const char *details;  // further lines of its help
  uint64_t takes;       // PPI_TAKES(...): groups of options
  unsigned reads;       // PPI_READS_...
  bool needs_input;
  bool takes_command;  // its first operand ends the options
  int (*run)(const struct ppi_tool_options *options);
  // Removes operands that are no logs; NULL: all are logs.
  int (*take_operands)(struct ppi_tool_options *options);
  const char *task;  // its heading in the help
  const char *example;
};
