// SPDX-License-Identifier: Apache-2.0
//
// Searches the names of a log that may still be written. Main thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef bool (*ppi_tool_name_fits)(const void *user, const char *name,
                                   uint32_t category);

// ppi_tool_has_name searches the names of ranges, marks and counters, in the
// log and in the spool of a running process. An unreadable log has no names.
bool ppi_tool_has_name(const char *log, ppi_tool_name_fits fits,
                       const void *user);
