// SPDX-License-Identifier: Apache-2.0
//
// Opens the output of a verb: stdout, or a new file.
#pragma once

#include "cli/options.h"

// ppi_tool_output_check refuses, before anything is read, a `path` that exists
// without --force, or that is one of the inputs. "-" is always accepted.
int ppi_tool_output_check(const struct ppi_tool_options *options,
                          const char *path);
// The same for --output and for `second`, if it is given.
int ppi_tool_output_checks(const struct ppi_tool_options *options,
                           const char *second);
// The same for a log, which replaces a regular file only.
int ppi_tool_output_check_log(const struct ppi_tool_options *options,
                              const char *path);
// ppi_tool_output_is_folder: `path` is one, or ends in a slash.
bool ppi_tool_output_is_folder(const char *path);
// ppi_tool_output_folder makes the folder if it does not exist. Answers
// PPI_EXIT_DONE, or PPI_EXIT_USAGE after a message.
int ppi_tool_output_folder(const char *path);
void ppi_tool_remove_folder(const char *path);  // with all that is in it
// ppi_tool_output_name copies the options to `out`, with an output: without
// --output LOG.pplog becomes LOG and `ending`, any other name gets that, and
// *out_made is to be freed. Several logs need a name: PPI_EXIT_USAGE, after a
// message.
int ppi_tool_output_name(const struct ppi_tool_options *options,
                         const char *ending, struct ppi_tool_options *out,
                         char **out_made);
// Answers PPI_EXIT_DONE, or PPI_EXIT_USAGE after a message.
int ppi_tool_output_open(const struct ppi_tool_options *options, FILE **out);
// Closes, and answers `code`, or PPI_EXIT_USAGE if a write failed; `reason` is
// errno after the writing, cleared before it. A reader of stdout that went away
// is no error.
int ppi_tool_output_close(const struct ppi_tool_options *options, FILE *file,
                          int reason, int code);

// The library's files are their owner's alone. This gives a file that the user
// has named the umask's mode, as programs do; call it when the file is whole.
void ppi_tool_output_share(const struct ppi_tool_options *options);

// Opens, writes `page` (which it frees) and closes.
int ppi_tool_output_page(const struct ppi_tool_options *options, ppi_page *page,
                         int code);
// The same, with lines that fit into a terminal: ppi_tool_fit_lines.
int ppi_tool_output_lines(const struct ppi_tool_options *options,
                          ppi_page *page, int code);
