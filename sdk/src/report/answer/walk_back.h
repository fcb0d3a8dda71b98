// SPDX-License-Identifier: Apache-2.0
//
// What ppi_moments_walk tells, where nothing is to be told of but host ranges
// that lie in one another on their lanes, and what devices did for them: back
// from the last end, so that each comes after those around it, without a list
// in the order of time.
#ifndef PPI_WALK_BACK_H_
#define PPI_WALK_BACK_H_

#include "report/answer/account.h"
#include "report/answer/lanes.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_walk_back {
  ppi_answer_lanes *lanes;  // not mixed
  ppi_item *items;          // in order; of all the device side alone counts
  size_t num_items;         // those that borrow get to know from whom
  const ppi_item *open;     // as ranges of the lanes that end at UINT64_MAX
  size_t num_open;
  const ppi_moment_unit *units;
  size_t num_units;
  uint64_t from_ns, to_ns;  // as in ppi_moments
  ppi_account *accounts;    // by unit
} ppi_walk_back;

// ppi_walk_back_run adds to the accounts. `*out_whole` is false where a range
// overlaps another one of its lane partly, is on a device before it is
// submitted, or what begins at one time leaves
// open what lies in what: then the accounts are to be thrown away.
pprof_status ppi_walk_back_run(const ppi_walk_back *walk, bool *out_whole);

#ifdef __cplusplus
}
#endif

#endif  // PPI_WALK_BACK_H_
