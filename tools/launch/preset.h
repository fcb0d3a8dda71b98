// SPDX-License-Identifier: Apache-2.0
//
// Writes presets: configurations of the tool, each for a server that marks if a
// switch is set (tools/launch/presets). Main thread only.
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "cli/carried.h"

// The files of presets/, by name.
extern const ppi_carried ppi_presets[];

// ppi_tool_preset_write makes NAME.yaml of the preset `name` in `folder` and
// answers its path. False after a message: no such preset, or no room.
bool ppi_tool_preset_write(const char *name, const char *folder,
                           char out[PATH_MAX]);
// ppi_tool_preset_known prints a message if there is no such preset.
bool ppi_tool_preset_known(const char *name);
