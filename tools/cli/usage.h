// SPDX-License-Identifier: Apache-2.0
//
// What `-h` and `--help` print. Main thread only.
#pragma once

#include <stdio.h>

#include "cli/option_table.h"
#include "cli/options.h"

struct ppi_option_text {
  char text[512];
  size_t len;
};
// What an option does: its verbs among `verbs` (NULL: none are named), help,
// values and default.
void ppi_tool_option_text(const struct ppi_tool_option *option,
                          const struct ppi_tool_verb *verbs,
                          struct ppi_option_text *out);

// Prints on one screen what `verb` is, with an example, or for NULL all verbs.
void ppi_tool_help(const struct ppi_tool_verb *verbs,
                   const struct ppi_tool_verb *verb, FILE *out);
// The same with all that each option does, and the exit status.
void ppi_tool_help_all(const struct ppi_tool_verb *verbs,
                       const struct ppi_tool_verb *verb, FILE *out);
