// SPDX-License-Identifier: Apache-2.0
//
// The offsets of the clocks of a job's hosts. A collective ends everywhere at
// about the same moment: its ends differ, in each host's time of day, by the
// clocks' offset. The view `clocks` of `fleet` has it. Runs that do not overlap
// in the time of day are of different jobs, with no collective in common. One
// thread.
#pragma once

#include "pprof/event.h"

typedef struct ppi_clocks_host {
  char *name;
  // Collectives of its runs that other hosts took part in, directly or by
  // hosts between them compared with most hosts; 0: its clock is not known.
  size_t num_pairs;
  int64_t offset_ns;  // by how much its clock is ahead
  uint64_t error_ns;  // what 99 in 100 of the pairs are within
} ppi_clocks_host;

typedef struct ppi_clocks ppi_clocks;

ppi_clocks *ppi_clocks_create(void);
void ppi_clocks_destroy(ppi_clocks *clocks);
// Takes runs, one behind the other, and none of what they have but collectives
// and steps.
pprof_sink *ppi_clocks_sink(ppi_clocks *clocks);
// The hosts of the runs so far. A run that does not say its host, or when it
// began, is of none.
size_t ppi_clocks_num_hosts(const ppi_clocks *clocks);
size_t ppi_clocks_num_runs(const ppi_clocks *clocks);
// ppi_clocks_compare is to be called once, behind the last run.
void ppi_clocks_compare(ppi_clocks *clocks);
const ppi_clocks_host *ppi_clocks_at(const ppi_clocks *clocks, size_t host);
// The host of a run, in the order of their begins; NULL: none.
const ppi_clocks_host *ppi_clocks_of(const ppi_clocks *clocks, size_t run);
