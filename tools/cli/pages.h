// SPDX-License-Identifier: Apache-2.0
//
// Writes man pages and shell completions, from the tables that make `--help`.
// Main thread only.
#pragma once

#include "cli/options.h"

// Prints the page of `verb`; NULL: of the whole tool.
void ppi_tool_man(const struct ppi_tool_verb *verbs,
                  const struct ppi_tool_verb *verb, FILE *out);
// Prints the page of the configuration file, pprof.yaml(5).
void ppi_tool_man_yaml(FILE *out);
// completions.c: `shell` is bash, zsh or fish.
void ppi_tool_complete(const struct ppi_tool_verb *verbs, const char *shell,
                       FILE *out);
