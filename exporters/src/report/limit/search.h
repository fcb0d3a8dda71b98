// SPDX-License-Identifier: Apache-2.0
//
// The shared input of the rules: the model, the time of requests by reason, and
// the verdict. A rule answers true if it holds; the first such rule gives the
// verdict.
#pragma once

#include "report/figures/limit.h"
#include "report/limit/walk.h"

// The lock that threads wait for most.
enum { PPI_LOCK_HOLDERS = 4 };
typedef struct ppi_limit_held_lock {
  uint32_t name;    // PPI_NONE: nobody waits for a lock often enough
  double use;       // part of the window in which any thread waits
  double waiting;   // threads that wait, on average
  double lower;     // part of that for threads of a lower priority
  size_t num_rows;  // threads that ever wait
  double lost;      // part of these rows' time
  // The ranges that have it longest, and their parts of `use`.
  uint32_t holders[PPI_LOCK_HOLDERS];
  double held[PPI_LOCK_HOLDERS];
  size_t num_holders;
  uint32_t place;    // of a pool: the range that it lets in; PPI_NONE
  uint32_t places;   // at a time
  uint32_t through;  // a wait that its holder is in for half of that, or more
  uint32_t row;      // the thread that has it longest, and its part
  double held_by_row;
  bool is_relevant;  // a thread that matters waits
} ppi_limit_held_lock;

typedef struct ppi_limit_search {
  ppi_limit_model *model;
  ppi_blame blame;
  ppi_limit *out;
  bool failed;            // out of memory
  bool is_closed;         // requests begin when others end
  double under_way;       // the greatest number of requests at a time
  double full_part;       // part of the time with that number
  double congested_ns;    // of all requests: time that calls lose to each other
  uint32_t congested;     // the stage that loses most
  double congested_part;  // of its calls
  ppi_limit_held_lock lock;
  // Stations of the verdict's servers; PPI_NONE: the lock.
  uint32_t servers[PPI_LIMIT_SERVERS];
} ppi_limit_search;

typedef bool (*ppi_limit_rule)(ppi_limit_search *search);
