// SPDX-License-Identifier: Apache-2.0
//
// The tool's verbs and options. One table of options drives parsing, defaults
// and help; one table of verbs names what runs them. Main thread only.
#ifndef PPI_TOOL_OPTIONS_H_
#define PPI_TOOL_OPTIONS_H_

#include <stdbool.h>
#include <stdio.h>

// What the process exits with; the highest that applies.
#define PPI_EXIT_LIST(X)                                                 \
  X(DONE, 0, "done")                                                     \
  X(CHECK, 1, "a check failed: the identity, --strict or --fail-on")     \
  X(USAGE, 2, "wrong usage or configuration, or an output not writable") \
  X(INPUT, 3, "an input cannot be read or is not ours")                  \
  X(DAMAGED, 4, "an input is damaged; what could be read is reported")   \
  X(INCOMPARABLE, 5, "the inputs cannot be compared or merged")
enum ppi_tool_exit {
#define PPI_EXIT_ENUM_(name, value, text) PPI_EXIT_##name = value,
  PPI_EXIT_LIST(PPI_EXIT_ENUM_)
#undef PPI_EXIT_ENUM_
};

struct ppi_tool_options {
  const struct ppi_tool_verb *verb;
  const char *format, *output, *view, *time_unit;  // NULL: not given
  const char *config, *library, *logs;
  const char *style, *sort, *distribution;
  const char *peak;
  const char *threshold, *fail_on, *stage, *metric, *from, *to;
  const char *pid, *steps, *seconds;
  const char *device_process;
  long top, warmup;  // LONG_MIN: not given
  bool thread_sep, op_detail;
  bool sequential;
  bool force, strict, keep, origin, raw, help, version;
  bool open, live;  // recover, info: what is open, nothing else
  bool verb_given;
  const char **inputs;  // the operands after the verb
  int num_inputs;
  // Set by verbs for what they call, and by main.
  bool to_stderr;      // without `output`
  bool skip_useless;   // of several logs those empty or unreadable
  bool keeps_sigpipe;  // the process was started with SIGPIPE ignored
};

struct ppi_tool_verb {
  const char *name;
  const char *operands;
  const char *summary;
  const char *details;  // further lines of its help
  unsigned bit;         // of the option table's masks
  bool needs_input;
  bool takes_command;  // its first operand ends the options
  int (*run)(const struct ppi_tool_options *options);
};
// Ends with a row without a name; the first row runs when no verb is given.
extern const struct ppi_tool_verb ppi_tool_verbs[];

// ppi_tool_parse reads the command line. `out->inputs` is the caller's to
// free. Answers PPI_EXIT_DONE, or PPI_EXIT_USAGE after a message on stderr.
int ppi_tool_parse(int argc, char **argv, struct ppi_tool_options *out);

// Prints the help of `verb`, or of the whole tool for NULL.
void ppi_tool_help(const struct ppi_tool_verb *verb, FILE *out);
const struct ppi_tool_verb *ppi_tool_find_verb(const char *name);

// ppi_tool_show prints a line: a path, as it may be seen on a terminal.
void ppi_tool_show(FILE *out, const char *path);
// ppi_tool_say prints "pprof-report: ..." on stderr, too.
void ppi_tool_say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif  // PPI_TOOL_OPTIONS_H_
