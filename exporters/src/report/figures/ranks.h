// SPDX-License-Identifier: Apache-2.0
//
// The runs whose figures were added up, each with its own answer.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

typedef struct ppi_rank {
  // "rank 3"; "pid 4711", "worker-1:4711" where none was told, with the program
  // in front where there are several: "VLLM::Worker_TP0 pid 4711".
  char name[80];
  const ppi_report_input *input;
  const ppi_answer *answer;
} ppi_rank;

// Those that have units of one base, by rank, or else by host and process.
typedef struct ppi_ranks {
  ppi_rank *items;
  size_t num;
  bool are_reported;  // each was told its rank, and no two the same
  bool of_hosts;      // of more than one
  bool of_programs;
  // Without ranks, and recorded at times far apart: not of one job.
  bool are_apart;
} ppi_ranks;

// Those with units of `base`; PPI_NUM_BASES: all.
pprof_status ppi_ranks_of(const ppi_figures *figures, ppi_base_kind base,
                          ppi_ranks *out);
void ppi_ranks_clear(ppi_ranks *ranks);

// ppi_ranks_keep drops those of other kinds. ppi_ranks_title names those that
// are left: the first one, "and 3 more".
void ppi_ranks_keep(ppi_ranks *ranks, uint32_t kind);
typedef struct ppi_ranks_name {
  char text[128];
} ppi_ranks_name;
ppi_ranks_name ppi_ranks_title(const ppi_ranks *ranks);

// ppi_ranks_part finds the kinds of processes of a finished sum, to which no
// run is added any more.
pprof_status ppi_ranks_part(ppi_figures *figures);

// ppi_ranks_left_out answers how many runs have stages and no unit of `base`.
uint64_t ppi_ranks_left_out(const ppi_figures *figures, ppi_base_kind base);

PPROF_END_C_
