// SPDX-License-Identifier: Apache-2.0
//
// Configurations that the tool brings along, each for a server that can mark if
// it is told to: tools/launch/presets. Main thread only.
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "cli/carried.h"

// The files of presets/, by name.
extern const ppi_carried ppi_presets[];

// ppi_tool_preset_write makes NAME.yaml of the preset `name` in `folder` and
// answers its path. False after a message: there is none, or no room.
bool ppi_tool_preset_write(const char *name, const char *folder,
                           char out[PATH_MAX]);
// ppi_tool_preset_known says so where there is none of this name.
bool ppi_tool_preset_known(const char *name);
