// SPDX-License-Identifier: Apache-2.0
//
// Sets hooks, which mark functions of Python packages from outside. The tool
// brings python/pprof/hooks.py and the files that it needs. Main thread only.
#pragma once

#include "cli/carried.h"
#include "cli/options.h"
#include "schema/schema.h"

// The files of python/pprof, and of its folder hook_files, by name.
extern const ppi_carried ppi_hook_modules[], ppi_hook_files[];
// Python that the tool itself runs: that of search-batch.
extern const ppi_carried ppi_programs[];

// ppi_tool_hooks_set is called before the command runs. Its processes then
// install the hooks of options and configuration. Without these and without a
// configuration's `run`, they install the hooks for a program that marks
// nothing. False after a message.
bool ppi_tool_hooks_set(const struct ppi_run_options *options,
                        const ppi_config_run *run, const char *folder);
// ppi_tool_hooks_list writes the names of the files that the tool brings.
void ppi_tool_hooks_list(char *out, size_t size);
// ppi_tool_hooks_say names hooks that were used automatically, and functions
// that packages lack; `any`: something was recorded.
void ppi_tool_hooks_say(const char *folder, bool any);
