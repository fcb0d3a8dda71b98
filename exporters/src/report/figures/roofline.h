// SPDX-License-Identifier: Apache-2.0
//
// A stage under the roof of its device: what it computed, in what time, and
// what of that was possible (Williams, Waterman, Patterson 2009).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

typedef struct ppi_roofline {
  const char *stage;
  const char *model;           // whose count it is; NULL: the program stated it
  const char *type;            // of the peak; "": not known
  bool at_least;               // not all FLOPs are known
  bool on_device;              // its own time is its device ranges'
  double calls, flops, bytes;  // of all steady calls; 0: unknown
  double own_s, wall_s;        // their own time; of the windows
  double peak_flops, peak_bytes;  // a second; 0: unknown
} ppi_roofline;

// Each 0 where it is not known.
typedef struct ppi_roofline_reported {
  double rate;           // FLOPs a second of its own time
  double mfu, wall_mfu;  // %, of the peak
  double intensity;      // FLOPs a byte
  double ridge;          // the intensity from which arithmetic bounds
  double reach;          // %, of what the roof allows at this intensity
} ppi_roofline_reported;

ppi_roofline_reported ppi_roofline_tell(const ppi_roofline *roofline);

PPROF_END_C_
