// SPDX-License-Identifier: Apache-2.0
//
// Hooks: functions of Python packages that are marked from outside. The tool
// brings python/pprof/hooks.py and what it needs. Main thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/carried.h"
#include "cli/options.h"
#include "schema/schema.h"

// The files of python/pprof, and of its folder hook_files, by name.
extern const ppi_carried ppi_hook_modules[], ppi_hook_files[];

// ppi_tool_hooks_set is for before the command is run: what it starts installs
// the hooks that options and configuration name, or else, without a
// configuration's `run`, those for a program that marks nothing. False after a
// message.
bool ppi_tool_hooks_set(const struct ppi_run_options *options,
                        const ppi_config_run *run, const char *folder);
// ppi_tool_hooks_list writes the names of the files that the tool brings.
void ppi_tool_hooks_list(char *out, size_t size);
// ppi_tool_hooks_say says which were used by themselves, and what the packages
// lack; `any`: something was recorded.
void ppi_tool_hooks_say(const char *folder, bool any);
