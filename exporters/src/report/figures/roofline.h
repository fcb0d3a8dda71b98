// SPDX-License-Identifier: Apache-2.0
//
// A stage's place under its device's roofline (Williams, Waterman, Patterson
// 2009): its FLOPs, time and part of the possible rate.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_roofline {
  const char *stage;
  const char *model;           // file with the count; NULL: the program's count
  const char *type;            // number type of the peak; "": unknown
  bool at_least;               // some FLOPs are unknown
  bool on_device;              // own_s is the time of its device ranges
  double calls, flops, bytes;  // of steady calls; 0: unknown
  double own_s, wall_s;        // own time of steady calls; time of the windows
  double peak_flops, peak_bytes;  // a second; 0: unknown
} ppi_roofline;

// A field is 0 if it is unknown.
typedef struct ppi_roofline_reported {
  double rate;           // FLOPs / second of own time
  double mfu, wall_mfu;  // %, of the peak
  double intensity;      // FLOPs a byte
  double ridge;          // from this intensity on, arithmetic is the bound
  double reach;          // %, of the roof at this intensity
} ppi_roofline_reported;

ppi_roofline_reported ppi_roofline_tell(const ppi_roofline *roofline);

PPROF_END_C_
