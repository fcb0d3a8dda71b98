// SPDX-License-Identifier: Apache-2.0
//
// One station replayed, first come, first served, with arrivals as they were
// (Lindley 1952; Kiefer, Wolfowitz 1955): what its waiting comes from.
#pragma once

#include "report/limit/model.h"

PPROF_BEGIN_C_

typedef struct ppi_replay_job {
  uint64_t arrival_ns, start_ns, service_ns;
  uint32_t name, row;
} ppi_replay_job;

typedef struct ppi_replay {
  ppi_replay_job *jobs;  // by arrival
  size_t num, capacity;
  uint32_t servers;
  uint64_t *free_ns;  // by server
} ppi_replay;

// False: out of memory.
bool ppi_replay_prepare(const ppi_limit_model *model, uint32_t station,
                        ppi_replay *out);
// All waiting, each job's service as `service` answers it.
double ppi_replay_run(const ppi_replay *replay,
                      uint64_t (*service)(const void *context, size_t job),
                      const void *context);
double ppi_replay_waited(const ppi_replay *replay);  // as it was
void ppi_replay_clear(ppi_replay *replay);

PPROF_END_C_
