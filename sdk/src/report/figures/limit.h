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

enum { PPI_LIMIT_NAMES = 4, PPI_LIMIT_MORE = 3, PPI_LIMIT_GAPS = 8 };

// What the thread that launched a device's next work did while the device was
// idle.
typedef enum ppi_gap_kind {
  PPI_GAP_LAUNCHING,   // in one stage, between two launches
  PPI_GAP_AFTER_WAIT,  // the same, behind a wait for the device
  PPI_GAP_STAGE,
  PPI_GAP_WAITING,     // for what another thread does
  PPI_GAP_STARTING,    // launched, and not begun
  PPI_GAP_NO_REQUEST,  // none had come
  PPI_GAP_NOTHING,     // nothing is recorded
  PPI_GAP_OTHERS,      // all that are not listed
  PPI_NUM_GAP_KINDS
} ppi_gap_kind;
const char *ppi_gap_kind_name(ppi_gap_kind kind);

typedef struct ppi_limit_gap {
  ppi_gap_kind kind;
  char name[96];  // of the stage; "": none
  double ns;      // for each unit
  double part;    // of the time
} ppi_limit_gap;

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
  // The device that is idle least, and by what; idle time is their sum.
  char idle_device[96];
  ppi_limit_gap gaps[PPI_LIMIT_GAPS];  // the greatest first, others last
  size_t num_gaps;
  double stops;  // a unit: waits for the device in which it ran empty
  double units;  // that were counted; verdicts of several runs go by it
} ppi_limit;

#ifdef __cplusplus
}
#endif

#endif  // PPI_LIMIT_H_
