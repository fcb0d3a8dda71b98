// SPDX-License-Identifier: Apache-2.0
//
// Kernels for a while, in a session that runs without them. The requesting
// thread and the collector exchange state here.
#pragma once

#include "kernels/kernels.h"

PPROF_BEGIN_C_

// The requesting thread writes its words before ASKED, the collector before the
// later states.
typedef enum ppi_kernels_phase {
  PPI_KERNELS_FREE = 0,
  PPI_KERNELS_ASKED,
  PPI_KERNELS_TRACED,
  PPI_KERNELS_ENDING,  // calls are not looked at any more; work is awaited
  PPI_KERNELS_OVER     // until the next one
} ppi_kernels_phase;

typedef struct ppi_kernels_demand {
  uint32_t phase;   // atomic
  uint32_t is_cut;  // atomic
  uint64_t ns;
  uint64_t until;     // ticks
  uint64_t reported;  // pieces of work before
  pprof_status status;
  pprof_error why;  // not OK
} ppi_kernels_demand;

// ppi_kernels_ask has the collector's next round trace for `ns`; false while
// another demand is not over. One thread at a time, like the following three.
bool ppi_kernels_ask(ppi_kernels_demand *demand, uint64_t ns);
// ppi_kernels_take_back makes room again where no round has found it; false:
// one has.
bool ppi_kernels_take_back(ppi_kernels_demand *demand);
// ppi_kernels_cut ends it at the collector's next round, as its time does.
void ppi_kernels_cut(ppi_kernels_demand *demand);
// ppi_kernels_is_over answers whether the last one is. UNAVAILABLE: there was
// nothing to trace with, or nothing has come.
bool ppi_kernels_is_over(const ppi_kernels_demand *demand, pprof_status *out,
                         pprof_error *why);

// ppi_kernels_serve begins and ends what was asked for. The collector, before
// each ppi_kernels_poll.
void ppi_kernels_serve(ppi_kernels_demand *demand, ppi_kernels *kernels,
                       const ppi_kernel_source *source, ppi_drain *drain);
// ppi_kernels_stop is ppi_kernels_rest, for a demand that is not over, too.
void ppi_kernels_stop(ppi_kernels_demand *demand, ppi_kernels *kernels,
                      ppi_drain *drain);

PPROF_END_C_
