// SPDX-License-Identifier: Apache-2.0
//
// The cost of a stage's call by a model, and the peaks of devices.
#pragma once

#include "file/text.h"
#include "report/figures/use.h"
#include "view/peak.h"

PPROF_BEGIN_C_

#define PPI_MAX_COSTS 16

typedef struct ppi_stage_cost {
  char glob[256];               // of the stages that it is for
  char model[128];              // the file's name
  char type[16];                // data type, as in ppi_peak; "": several
  double flops, bytes, params;  // of one call
  bool at_least;                // not all of it is known
} ppi_stage_cost;

typedef struct ppi_stage_costs {
  ppi_stage_cost items[PPI_MAX_COSTS];
  size_t num;
} ppi_stage_costs;

// The first cost for a stage of this name; NULL: none.
const ppi_stage_cost *ppi_stage_cost_find(const ppi_stage_costs *costs,
                                          const char *name);

// A device's peaks: dense, of a data type, and of its memory; 0: unknown.
typedef struct ppi_roof {
  double flops, bytes;  // a second
} ppi_roof;
// ppi_roof_of answers the published peaks of a device of this name.
ppi_roof ppi_roof_of(const char *device, const char *type);

// ppi_roofline_put writes a few lines on a stage under the roof; `cost` is that
// of a call. The lines have the MFU of the stage's own time and of the wall,
// the bound, and the distance to it.
void ppi_roofline_put(ppi_page *page, const ppi_stage_cost *cost,
                      const ppi_roofline *roofline);

PPROF_END_C_
