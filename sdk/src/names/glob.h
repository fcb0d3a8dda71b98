// SPDX-License-Identifier: Apache-2.0
//
// Ways to choose names and requests: globs and hashes.
#pragma once

#include "pprof/base.h"

PPROF_BEGIN_C_

bool ppi_glob_match(const char *glob, const char *text);

// ppi_name_hash writes "#" and the first 12 hexadecimal digits of the name's
// SHA-256.
#define PPI_NAME_HASH ((size_t)14)
void ppi_name_hash(const char *name, char out[PPI_NAME_HASH]);

// ppi_request_is_kept: of all requests, one in `every` (0, 1: all), the same
// ones in every process.
bool ppi_request_is_kept(uint64_t flow, uint64_t every);

PPROF_END_C_
