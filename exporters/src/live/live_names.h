// SPDX-License-Identifier: Apache-2.0
//
// The names of ids, which the collector has to know before anybody watches.
#pragma once

#include "live/live_table.h"
#include "pprof/event.h"

// One definition: a site's category, a stream's device.
typedef struct ppi_live_name {
  char *text;  // NULL: not defined
  uint32_t parent;
} ppi_live_name;

enum { PPI_LIVE_NUM_KINDS = PPROF_DEFINITION_STREAM + 1 };

typedef struct ppi_live_names {
  ppi_live_name *items[PPI_LIVE_NUM_KINDS];
  size_t num[PPI_LIVE_NUM_KINDS], capacity[PPI_LIVE_NUM_KINDS];
  uint64_t start_realtime_ns;
  char host[64], version[32], uuid[40];
  bool is_recording;
} ppi_live_names;

pprof_status ppi_live_names_begin(ppi_live_names *names,
                                  const pprof_run_info *info);
// True: the id has got another name.
bool ppi_live_names_define(ppi_live_names *names,
                           const pprof_definition *definition);
void ppi_live_names_introduce(const ppi_live_names *names,
                              ppi_live_header *header);
void ppi_live_names_clear(ppi_live_names *names);
