// SPDX-License-Identifier: Apache-2.0
//
// What waited for what, in a log that does not say so.
#ifndef PPI_WHATIF_CAUSES_H_
#define PPI_WHATIF_CAUSES_H_

#include "whatif/whatif_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_whatif_graph_make: the log is settled, and gets points. False: out of
// memory. The graph is to be cleared in any case.
bool ppi_whatif_graph_make(ppi_whatif_graph *graph, ppi_whatif_log *log);

#ifdef __cplusplus
}
#endif

#endif  // PPI_WHATIF_CAUSES_H_
