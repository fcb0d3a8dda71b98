// SPDX-License-Identifier: Apache-2.0
//
// Prints the output of `-h` and `--help`. Main thread only.
#pragma once

#include "cli/option_table.h"
#include "cli/options.h"

struct ppi_option_text {
  char text[512];
  size_t len;
};
// The text of an option: its verbs among `verbs` (NULL: none), help, values and
// default.
void ppi_tool_option_text(const struct ppi_tool_option *option,
                          const struct ppi_tool_verb *verbs,
                          struct ppi_option_text *out);

// Prints `verb` on one screen, with an example; NULL: all verbs.
void ppi_tool_help(const struct ppi_tool_verb *verbs,
                   const struct ppi_tool_verb *verb, FILE *out);
// The same with all details of each option, and the exit status.
void ppi_tool_help_all(const struct ppi_tool_verb *verbs,
                       const struct ppi_tool_verb *verb, FILE *out);
