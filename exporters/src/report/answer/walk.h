// SPDX-License-Identifier: Apache-2.0
//
// What a walk back is to tell of.
#pragma once

#include "report/answer/account.h"
#include "report/answer/lanes.h"

PPROF_BEGIN_C_

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

PPROF_END_C_
