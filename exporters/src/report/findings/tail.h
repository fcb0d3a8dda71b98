// SPDX-License-Identifier: Apache-2.0
//
// The parts that are longer in the slowest requests than in usual ones.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

typedef enum ppi_tail_part {
  PPI_TAIL_STAGE = 0,  // a stage's work
  PPI_TAIL_CONTENDED,  // the same, while its device also served others
  PPI_TAIL_HOP,        // nothing went on before the stage
  PPI_TAIL_QUEUE       // queueing for devices
} ppi_tail_part;

// All zero: no requests.
typedef struct ppi_tail {
  uint64_t num, num_slow;    // warm requests; the slowest hundredth
  uint64_t slow_from_ns;     // the shortest of these
  double usual_ns, slow_ns;  // means: of the middle half, of the slow ones
  ppi_tail_part part;        // the part that explains most of the difference
  const char *stage;         // the part's stage; NULL: none
  double part_ns,
      error_ns;  // that part of the difference; half its interval of 95 %
} ppi_tail;

pprof_status ppi_tail_of(const ppi_figures *figures, ppi_tail *out);

PPROF_END_C_
