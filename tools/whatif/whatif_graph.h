// SPDX-License-Identifier: Apache-2.0
//
// What a run depended on: each row's time in pieces, one behind the other, and
// for each piece the ends of pieces of other rows that it waited for.
#ifndef PPI_WHATIF_GRAPH_H_
#define PPI_WHATIF_GRAPH_H_

#include "whatif/whatif_log.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of one request: beyond, what its ranges wait for is not looked for, which
// goes with the square.
enum { PPI_WHATIF_MOST_SERVED = 256 };

// Ids count from 1, 0 is none.
typedef struct ppi_whatif_piece {
  uint64_t start_ns, end_ns;
  uint32_t owner;  // the innermost range there; 0: none, or nothing but points
  uint32_t row;
  uint32_t prev;    // the piece before it on its row
  uint32_t causes;  // the first one
} ppi_whatif_piece;

typedef struct ppi_whatif_cause {
  uint32_t piece;  // whose end it is
  uint32_t next;
  bool waits;         // what the waiting piece did before that end was to wait
  uint64_t early_ns;  // by so much that end was told too late: it is later than
                      // what waited for it, as clocks of devices are not exact
} ppi_whatif_cause;

// A request: the ranges that serve it and lie in no other one that does.
typedef struct ppi_whatif_request {
  uint64_t flow, start_ns, end_ns;
  size_t first, num;  // in `served`
} ppi_whatif_request;

typedef struct ppi_whatif_served {
  uint64_t flow, start_ns;
  uint32_t range;
} ppi_whatif_served;

typedef struct ppi_whatif_graph {
  ppi_whatif_log *log;
  uint32_t *sorted;  // ids of ranges by row, then by place on it
  ppi_whatif_piece *pieces;
  size_t num_pieces, pieces_capacity;
  ppi_whatif_cause *causes;
  size_t num_causes, causes_capacity;
  uint32_t *before, *last;  // by id of a range: the pieces that end where it
                            // begins and where it ends
  uint32_t *order;          // pieces, each behind what it depends on
  ppi_whatif_served *served;
  size_t num_served;
  ppi_whatif_request *requests;  // whole ones, in the order in which they begin
  size_t num_requests;
  uint32_t *step_points;  // ids of points, one for each step
  uint32_t in_flight;     // so many requests at most at a time; 0: not known
  bool *is_wait;          // by id of a stage: it waits for others
  size_t num_large;       // requests of too many ranges to tell what waits for
                          // what
} ppi_whatif_graph;

void ppi_whatif_graph_clear(ppi_whatif_graph *graph);
static inline ppi_whatif_piece *ppi_whatif_piece_at(
    const ppi_whatif_graph *graph, uint32_t id) {
  return &graph->pieces[id - 1];
}

#ifdef __cplusplus
}
#endif

#endif  // PPI_WHATIF_GRAPH_H_
