// SPDX-License-Identifier: Apache-2.0
//
// What `whatif` found, as a table; and what it cannot know, in words.
#ifndef PPI_WHATIF_PRINT_H_
#define PPI_WHATIF_PRINT_H_

#include "cli/options.h"
#include "whatif/whatif_replay.h"

// One replay: of the stage `stage` with `factor`, or of all that was asked for
// (0).
typedef struct ppi_whatif_answer {
  uint32_t stage;
  double factor;
  ppi_whatif_result result;
} ppi_whatif_answer;

typedef struct ppi_whatif_answers {
  const ppi_whatif_graph *graph;
  ppi_whatif_unit unit;
  size_t num_warm;
  ppi_whatif_result recorded;
  const ppi_whatif_answer *items;
  size_t num;
  bool is_ranking;
  size_t num_unranked;  // stages with less time than those
} ppi_whatif_answers;

// ppi_whatif_gain is by how many percent more gets through.
double ppi_whatif_gain(const ppi_whatif_answers *answers,
                       const ppi_whatif_result *result);
// Answers an exit status.
int ppi_whatif_print(const struct ppi_tool_options *options,
                     const ppi_whatif_answers *answers);

#endif  // PPI_WHATIF_PRINT_H_
