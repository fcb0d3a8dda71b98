// SPDX-License-Identifier: Apache-2.0
//
// What a log that may still be written has names for. Main thread only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef bool (*ppi_tool_name_fits)(const void *user, const char *name,
                                   uint32_t category);

// ppi_tool_has_name looks through the names of ranges, marks and counters, of a
// log that is being written those in its spool, too. What cannot be read has
// none.
bool ppi_tool_has_name(const char *log, ppi_tool_name_fits fits,
                       const void *user);
