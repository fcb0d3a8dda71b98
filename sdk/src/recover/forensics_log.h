// SPDX-License-Identifier: Apache-2.0
//
// The log to which a spool's records go.
#pragma once

#include "pprof/base.h"

// ppi_forensics_log finds the unfinished log that is written beside the spool
// at `path`; false: there is none, or it is no spool.
bool ppi_forensics_log(const char *path, char *out, size_t size);
