// SPDX-License-Identifier: Apache-2.0
//
// Several sinks behind one. A sink that fails is detached; the others go on.
#ifndef PPI_TEE_H_
#define PPI_TEE_H_

#include "pprof/event.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PPI_MAX_SINKS 16u

typedef struct ppi_tee {
  pprof_sink base;
  pprof_sink *sinks[PPI_MAX_SINKS];
  bool detached[PPI_MAX_SINKS];
  pprof_status errors[PPI_MAX_SINKS];  // the first of each
  size_t num_sinks;
  size_t finishes_last;  // that sink + 1, for one whose finish waits long
  pprof_status first_error;
} ppi_tee;

void ppi_tee_init(ppi_tee *tee);
// BUSY when there is no room, INVALID when the sink's size says nothing.
pprof_status ppi_tee_add(ppi_tee *tee, pprof_sink *sink);
void ppi_tee_destroy_sinks(ppi_tee *tee);

#ifdef __cplusplus
}
#endif

#endif  // PPI_TEE_H_
