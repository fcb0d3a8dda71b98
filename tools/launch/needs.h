// SPDX-License-Identifier: Apache-2.0
//
// Packages of Python that a command needs once the switches of its
// configuration are set: without one, the switch may end the program. Main
// thread only.
#pragma once

#include <stdbool.h>

#include "cli/carried.h"
#include "schema/schema.h"

// Modules that the tool brings: stand_in/.
extern const ppi_carried ppi_stand_ins[];

// ppi_tool_needs_meet is for before a switch is set. Where the command's Python
// lacks a package that `run` names, and there is a stand-in for it, PYTHONPATH
// gets the folder ".python" in `folder`; also where that Python is not known,
// as the stand-in becomes the package where there is one. A package that a
// stand-in is for leaves `run`. False after a message: a package is to be
// installed.
bool ppi_tool_needs_meet(ppi_config_run *run, char *const *command,
                         const char *folder);
