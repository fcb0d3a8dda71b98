// SPDX-License-Identifier: Apache-2.0
//
// The line of a trigger's request, for both ends.
#pragma once

#include <limits.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// A line of the protocol with its end.
#define PPI_CONTROL_LINE_MAX (PATH_MAX + 512)

// The content of a trigger's request.
typedef struct ppi_trigger {
  uint64_t steps, ns;     // both 0: not given
  bool kernels;           // for `ns`
  char output[PATH_MAX];  // "": not given
} ppi_trigger;

// ppi_trigger_parse reads a request's line; false and a reason if it is
// invalid.
bool ppi_trigger_parse(const char *line, ppi_trigger *out, pprof_error *error);
// ppi_trigger_print writes the line, with its end.
void ppi_trigger_print(const ppi_trigger *trigger,
                       char out[PPI_CONTROL_LINE_MAX]);
// A decimal number of seconds, above 0 and at most 10 000 000.
bool ppi_trigger_seconds(const char *text, uint64_t *out_ns);

PPROF_END_C_
