// SPDX-License-Identifier: Apache-2.0
//
// What limits a run, as one verdict in words and numbers.
#ifndef PPI_LIMIT_H_
#define PPI_LIMIT_H_

#include "pprof/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// What the verdict says of the names in it.
typedef enum ppi_limit_claim {
  PPI_CLAIM_NONE,        // too few units, or nothing to say
  PPI_CLAIM_LIMIT,       // they set the rate
  PPI_CLAIM_BALANCED,    // several set it alike
  PPI_CLAIM_KEEPS_UP,    // arrivals set it
  PPI_CLAIM_UNRECORDED,  // something there that is not recorded does
  PPI_CLAIM_PART,        // they take the greatest part
  PPI_NUM_CLAIMS
} ppi_limit_claim;
const char *ppi_limit_claim_name(ppi_limit_claim claim);

enum { PPI_LIMIT_NAMES = 4, PPI_LIMIT_MORE = 3 };

typedef struct ppi_limit {
  ppi_limit_claim claim;
  const char *verdict;  // static: "limit", "bursts", ...; NULL: none
  // Stages first, then where they are.
  char names[PPI_LIMIT_NAMES][96];
  size_t num_names;
  double utilization;   // of the busiest server, or of the one that is named
  double demand_ns;     // of the stage for each unit
  double bound;         // half of the stage: the rate times 1 + this at most
  char next_limit[96];  // what limits then
  char sentence[512];
  char next[256];
  char more[PPI_LIMIT_MORE][256];  // sentences beside it
  size_t num_more;
  double units;  // that were counted; verdicts of several runs go by it
} ppi_limit;

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_H_
