// SPDX-License-Identifier: Apache-2.0
//
// The accounts of a run and of its steps, while ranges come. Ranges that a
// horizon has passed are accounted for and forgotten.
#pragma once

#include "base/jobs.h"
#include "report/answer/account.h"
#include "report/answer/lanes.h"

PPROF_BEGIN_C_

typedef struct ppi_step_account {
  uint64_t start_ns, end_ns;  // UINT64_MAX: still open
  uint32_t lane, site;
  bool is_cut;
  ppi_account *account;  // jobs add to it when they are retired
} ppi_step_account;

// All zero is the empty one.
typedef struct ppi_accounts {
  ppi_answer_lanes lanes;  // nested host ranges
  ppi_item *items;         // all others
  size_t num_items, items_capacity;
  ppi_step_account *steps;  // by begin, not folded yet
  size_t num_steps, steps_capacity;
  ppi_step_account *first_calls;  // cold ones are found last
  size_t num_first_calls, first_calls_capacity;
  ppi_account run;
  ppi_answer by_step;
  uint64_t first_ns, last_ns;  // of steps that are folded
  // From the begin of the first stage or device work to the end of the last.
  uint64_t begin_ns, end_ns;
  bool any;
  ppi_moment_room room;
  ppi_job_line line;  // walks; without jobs none
  uint64_t settled_ns, wanted_ns;
  long warmup;   // as in ppi_report_details
  bool one_way;  // tests: ppi_moments_walk alone
} ppi_accounts;

// A horizon promises: of the ranges that begin before it, only the open ones
// come later.
typedef struct ppi_accounts_horizon {
  uint64_t time_ns;
  const ppi_item *open;  // without an end: UINT64_MAX
  size_t num_open;
  const ppi_step_account *open_steps;
  size_t num_open_steps;
  const ppi_span *windows;  // may come a little after their edges
  size_t num_windows;
  const ppi_account_names *names;
  bool hands_over;  // as ppi_accounts_hands_over answered
} ppi_accounts_horizon;

static inline void ppi_accounts_reach(ppi_accounts *accounts, uint64_t start_ns,
                                      uint64_t end_ns) {
  if (!accounts->any) accounts->begin_ns = start_ns;
  accounts->any = true;
  accounts->begin_ns = PPI_MIN(accounts->begin_ns, start_ns);
  accounts->end_ns = PPI_MAX(accounts->end_ns, end_ns);
}

// ppi_accounts_take adds an item that is not in the lanes. ppi_accounts_reach
// widens the run's time to a range in the lanes.
bool ppi_accounts_take(ppi_accounts *accounts, const ppi_item *item);
bool ppi_accounts_step(ppi_accounts *accounts, const ppi_step_account *step);
// ppi_accounts_hands_over: ppi_accounts_settle only gives a job the horizon's
// walk. Else call ppi_line_end before.
bool ppi_accounts_hands_over(const ppi_accounts *accounts,
                             const ppi_accounts_horizon *horizon, bool is_much);
// ppi_accounts_settle settles one horizon behind, as windows may come late;
// UINT64_MAX, the last one, settles all. The lanes show their ranges.
bool ppi_accounts_settle(ppi_accounts *accounts,
                         const ppi_accounts_horizon *horizon);
// ppi_accounts_forget comes after ppi_accounts_settle: the lanes show no ranges
// any more.
bool ppi_accounts_forget(ppi_accounts *accounts);
// ppi_accounts_fill adds the run's units to `answers`, once all is settled: its
// steps, or else its windows.
bool ppi_accounts_fill(ppi_accounts *accounts, const ppi_accounts_horizon *end,
                       ppi_answer answers[PPI_NUM_BASES]);
void ppi_accounts_clear(ppi_accounts *accounts);

PPROF_END_C_
