// SPDX-License-Identifier: Apache-2.0
//
// The input of a walk back, and the accounts that it fills.
#pragma once

#include "report/answer/account.h"
#include "report/answer/lanes.h"

typedef struct ppi_walk_back {
  ppi_answer_lanes *lanes;  // not mixed
  ppi_item *items;          // in order; only their device sides count
  size_t num_items;         // a walk sets stages of borrowing items
  const ppi_item *open;     // ranges of the lanes that end at UINT64_MAX
  size_t num_open;
  const ppi_moment_unit *units;
  size_t num_units;
  const ppi_lane_stretch *path;  // in order; the lanes know its lanes
  size_t num_path;
  uint64_t from_ns, to_ns;         // as in ppi_moments
  const ppi_account_names *names;  // as there
  ppi_account *accounts;           // by unit
} ppi_walk_back;
