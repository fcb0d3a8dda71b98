// SPDX-License-Identifier: Apache-2.0
//
// A folder among the inputs stands for the logs in it.
#ifndef PPI_TOOL_FOLDER_H_
#define PPI_TOOL_FOLDER_H_

#include "cli/options.h"

// ppi_tool_folders_open puts the logs of each folder (*.pplog, by name) in its
// place; subfolders are left out. Answers PPI_EXIT_DONE, or PPI_EXIT_INPUT
// after a message: a folder cannot be read, or has none.
int ppi_tool_folders_open(struct ppi_tool_options *options);

#endif  // PPI_TOOL_FOLDER_H_
