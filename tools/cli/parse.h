// SPDX-License-Identifier: Apache-2.0
//
// Reads the command line by the table of options. Main thread only.
#pragma once

#include "cli/options.h"

// ppi_tool_parse reads the command line. `verbs` ends with a row without a
// name; its first row runs when no verb is given. `out->inputs` is the caller's
// to free. Answers PPI_EXIT_DONE, or PPI_EXIT_USAGE after a message on stderr.
int ppi_tool_parse(const struct ppi_tool_verb *verbs, int argc, char **argv,
                   struct ppi_tool_options *out);
// ppi_tool_parse_time reads "10min" of option `name` as ns; false after a
// message.
bool ppi_tool_parse_time(const char *name, const char *text, uint64_t *out_ns);
// NULL: there is none.
const struct ppi_tool_verb *ppi_tool_find_verb(
    const struct ppi_tool_verb *verbs, const char *name);
