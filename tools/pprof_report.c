// SPDX-License-Identifier: Apache-2.0
//
// pprof-report: the verb table, and the way from the command line to a verb.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "pprof/base.h"
#include "verbs.h"

static int run_help(const struct ppi_tool_options *options) {
  const struct ppi_tool_verb *verb = NULL;
  if (options->num_inputs > 0) {
    verb = ppi_tool_find_verb(options->inputs[0]);
    if (!verb) {
      ppi_tool_say("no verb '%s'; see pprof-report --help", options->inputs[0]);
      return PPI_EXIT_USAGE;
    }
  }
  ppi_tool_help(verb, stdout);
  return PPI_EXIT_DONE;
}

const struct ppi_tool_verb ppi_tool_verbs[] = {
    {"summary", "LOG...", "print the tables of one or several logs",
     "Several logs (one per process or rank) make one report.\n"
     "An unfinished log (LOG.part) or a dead process's spool is read as far "
     "as it\ngoes.\n",
     PPI_VERB_SUMMARY, true, false, ppi_tool_summary},
    {"trace", "LOG", "write a Chrome trace (chrome://tracing, Perfetto)", "",
     PPI_VERB_TRACE, true, false, ppi_tool_trace},
    {"info", "LOG...", "say what a log is: its run, size and contents", "",
     PPI_VERB_INFO, true, false, ppi_tool_info},
    {"check", "LOG...", "check every block of a log",
     "Checksums, order and contents of all blocks; what is damaged, and what "
     "the\nrun itself lost.\n",
     PPI_VERB_CHECK, true, false, ppi_tool_check},
    {"recover", "[SPOOL|LOG.part]...", "make a whole log of a killed run",
     "Without an operand it lists the spools that killed runs left behind.\n",
     PPI_VERB_RECOVER, false, false, ppi_tool_recover},
    {"run", "[--] CMD [ARG...]", "run a command and print what it recorded",
     "The command and its children are profiled through NVTX, or through the "
     "SDK if\nthey use it; nothing in them needs to change. Input and output "
     "are "
     "theirs: the\ntables go to stderr. Exits as the command does (128 + n for "
     "signal n, 126 or\n127 when it cannot be run), or as below when it "
     "succeeds.\n",
     PPI_VERB_RUN, true, true, ppi_tool_run},
    {"help", "[VERB]", "print this, or the help of a verb", "", PPI_VERB_HELP,
     false, false, run_help},
    {NULL, NULL, NULL, NULL, 0, false, false, NULL}};

int main(int argc, char **argv) {
  struct ppi_tool_options options;
  // A reader that has seen enough (`| head`) is no failure of ours: writing
  // answers EPIPE instead.
  bool keeps_sigpipe = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  if (argc < 2) {
    ppi_tool_help(NULL, stderr);
    return PPI_EXIT_USAGE;
  }
  int code = ppi_tool_parse(argc, argv, &options);
  options.keeps_sigpipe = keeps_sigpipe;
  if (code == PPI_EXIT_DONE) {
    if (options.help)
      ppi_tool_help(options.verb_given ? options.verb : NULL, stdout);
    else if (options.version)
      printf("pprof-report %s\n", pprof_version());
    else
      code = options.verb->run(&options);
  }
  free(options.inputs);
  return code;
}
