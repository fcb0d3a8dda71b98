// SPDX-License-Identifier: Apache-2.0
//
// The parts of the page that grow with the log. Each part has a bound and loses
// detail until it fits.
#pragma once

#include <stdio.h>

#include "html/pack.h"

PPROF_BEGIN_C_

typedef struct ppi_part {
  const char *id;     // of its element
  size_t most_bytes;  // of the element's text
  // Appends the part; each further level has half the detail.
  pprof_status (*make)(ppi_pack *pack, const void *of, unsigned level);
} ppi_part;

// Errors of ppi_part_put: those of `make`; NO_MEMORY.
pprof_status ppi_part_put(const ppi_part *part, const void *of, FILE *out);

PPROF_END_C_
