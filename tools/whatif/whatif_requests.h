// SPDX-License-Identifier: Apache-2.0
//
// Requests: which ranges serve each, from where to where; and the thread that
// ends steps.
#ifndef PPI_WHATIF_REQUESTS_H_
#define PPI_WHATIF_REQUESTS_H_

#include "whatif/whatif_graph.h"

#ifdef __cplusplus
extern "C" {
#endif

// Both want ranges that are nested, and answer false when out of memory.
bool ppi_whatif_requests_find(ppi_whatif_graph *graph);
// ppi_whatif_steps_place makes a point of each end of a step, on the thread
// that ends them; what is in order is to be nested again.
bool ppi_whatif_steps_place(ppi_whatif_graph *graph);
// ppi_whatif_served_of finds a request among `served`; false: there is none. Of
// more than PPI_WHATIF_MOST_SERVED ranges it answers one more.
bool ppi_whatif_served_of(const ppi_whatif_graph *graph, uint64_t flow,
                          size_t *out_first, size_t *out_num);

#ifdef __cplusplus
}
#endif

#endif  // PPI_WHATIF_REQUESTS_H_
