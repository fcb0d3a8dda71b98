// SPDX-License-Identifier: Apache-2.0
//
// The parts of the page that grow with what was recorded. Each has a bound, and
// is made with less detail until it keeps it.
#pragma once

#include <stdio.h>

#include "html/pack.h"

PPROF_BEGIN_C_

typedef struct ppi_part {
  const char *id;     // of its element
  size_t most_bytes;  // of the element's text
  // Appends all of it, with half as much detail at each further level.
  pprof_status (*make)(ppi_pack *pack, const void *of, unsigned level);
} ppi_part;

// ppi_part_put: what `make` answers; NO_MEMORY.
pprof_status ppi_part_put(const ppi_part *part, const void *of, FILE *out);

PPROF_END_C_
