// SPDX-License-Identifier: Apache-2.0
//
// Checks for Python packages that a command needs once its configuration's
// switches are set. A switch without its package may end the program. Main
// thread only.
#pragma once

#include "cli/carried.h"
#include "schema/schema.h"

// Modules that the tool brings: stand_in/.
extern const ppi_carried ppi_stand_ins[];

// ppi_tool_needs_meet is called before a switch is set. If the command's Python
// lacks a package of `run`, and there is a stand-in, PYTHONPATH gets the folder
// ".python" in `folder`. An unknown Python gets it, too: the stand-in becomes
// the package if that exists. A replaced package is removed from `run`. False
// after a message: the user must install a package.
bool ppi_tool_needs_meet(ppi_config_run *run, char *const *command,
                         const char *folder);
