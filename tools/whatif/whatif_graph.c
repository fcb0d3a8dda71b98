// SPDX-License-Identifier: Apache-2.0
#include "whatif/whatif_graph.h"

#include "base/mem.h"

void ppi_whatif_graph_clear(ppi_whatif_graph *graph) {
  ppi_free(graph->sorted);
  ppi_free(graph->pieces);
  ppi_free(graph->causes);
  ppi_free(graph->before);
  ppi_free(graph->last);
  ppi_free(graph->order);
  ppi_free(graph->served);
  ppi_free(graph->requests);
  ppi_free(graph->step_points);
  ppi_free(graph->is_wait);
  *graph = (ppi_whatif_graph){0};
}
