// SPDX-License-Identifier: Apache-2.0
//
// What a model says that a call of a stage computes, and what devices could do.
#pragma once

#include "file/text.h"
#include "report/figures/roofline.h"
#include "view/peak.h"

PPROF_BEGIN_C_

#define PPI_MAX_COSTS 16

typedef struct ppi_stage_cost {
  char glob[256];   // of the stages that it is for
  char model[128];  // the file's name
  char type[16];    // what it computes with, as in ppi_peak; "": several
  double flops, bytes, params;  // of one call
  bool at_least;                // not all of it is known
} ppi_stage_cost;

typedef struct ppi_stage_costs {
  ppi_stage_cost items[PPI_MAX_COSTS];
  size_t num;
} ppi_stage_costs;

// The first one for a stage of this name; NULL: none.
const ppi_stage_cost *ppi_stage_cost_find(const ppi_stage_costs *costs,
                                          const char *name);

// What a device does at most: of a type, dense, and of its memory; 0: unknown.
typedef struct ppi_roof {
  double flops, bytes;  // a second
} ppi_roof;
// ppi_roof_of answers what is published of a device of this name.
ppi_roof ppi_roof_of(const char *device, const char *type);

// ppi_roofline_put says in one or two lines where a stage stands under the roof
// whose cost of a call this is: MFU of its own time and of the wall, what
// bounds it, and how far from that it is.
void ppi_roofline_put(ppi_page *page, const ppi_stage_cost *cost,
                      const ppi_roofline *roofline);

PPROF_END_C_
