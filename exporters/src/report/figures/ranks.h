// SPDX-License-Identifier: Apache-2.0
//
// The runs in added figures, each with its own answer.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

typedef struct ppi_rank {
  // "rank 3"; without ranks "pid 4711" or "worker-1:4711". With several
  // programs, the program stands in front: "VLLM::Worker_TP0 pid 4711".
  char name[80];
  const ppi_report_input *input;
  const ppi_answer *answer;
} ppi_rank;

// Runs with units of one base, sorted by rank, or else by host and process.
typedef struct ppi_ranks {
  ppi_rank *items;
  size_t num;
  bool are_reported;  // each run reported its rank, and no rank repeats
  bool of_hosts;      // the runs are of several hosts
  bool of_programs;   // of several programs
  // No ranks, and long gaps between the recordings: not of one job.
  bool are_apart;
} ppi_ranks;

// ppi_ranks_of lists the runs with units of `base`; PPI_NUM_BASES: all.
pprof_status ppi_ranks_of(const ppi_figures *figures, ppi_base_kind base,
                          ppi_ranks *out);
void ppi_ranks_clear(ppi_ranks *ranks);

// ppi_ranks_keep drops runs of other kinds. ppi_ranks_title names the others:
// the first one, "and 3 more".
void ppi_ranks_keep(ppi_ranks *ranks, uint32_t kind);
typedef struct ppi_ranks_name {
  char text[128];
} ppi_ranks_name;
ppi_ranks_name ppi_ranks_title(const ppi_ranks *ranks);

// ppi_ranks_part finds the kinds of processes of a finished sum; no run may be
// added after it.
bool ppi_ranks_part(ppi_figures *figures);

// ppi_ranks_left_out counts runs with stages but without a unit of `base`.
uint64_t ppi_ranks_left_out(const ppi_figures *figures, ppi_base_kind base);

PPROF_END_C_
