// SPDX-License-Identifier: Apache-2.0
//
// Replaces a folder among the inputs by the logs in it.
#pragma once

#include "cli/options.h"

// ppi_tool_folders_open puts the logs of each folder (*.pplog, by name) in its
// place; subfolders are left out. Answers PPI_EXIT_DONE, or PPI_EXIT_INPUT
// after a message: a folder cannot be read, or has no logs.
int ppi_tool_folders_open(struct ppi_tool_options *options);

typedef struct ppi_tool_paths {
  char **items;
  size_t num, capacity;
} ppi_tool_paths;
// ppi_tool_folder_list adds the logs in a folder, by name, and its subfolders;
// either may be NULL. Answers PPI_EXIT_DONE, or PPI_EXIT_INPUT after a message.
int ppi_tool_folder_list(const char *folder, ppi_tool_paths *logs,
                         ppi_tool_paths *folders);
void ppi_tool_paths_clear(ppi_tool_paths *paths);
bool ppi_tool_is_folder(const char *path);
