// SPDX-License-Identifier: Apache-2.0
//
// The collector's counts, and how they get into the table.
#pragma once

#include "live/live_table.h"
#include "pprof/session.h"

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

// A stretch of a device's work after the latest checkpoint.
typedef struct ppi_live_stretch {
  uint64_t start_ns, end_ns;
  uint32_t device;
} ppi_live_stretch;

typedef struct ppi_live_counts {
  ppi_live_table *table;  // NULL: nobody watches
  // By site: place + 1 of the row with its host times, and of that with its
  // device times.
  uint16_t *rows[2];
  size_t num_sites[2], capacity[2];
  ppi_live_stretch *stretches;
  size_t num_stretches, capacity_stretches;
  uint64_t busy_until_ns[PPI_LIVE_MAX_DEVICES];
  uint64_t cpu_begun_ns;  // of the collector's thread; 0: not read yet
} ppi_live_counts;

// The counts own `table` and unmap it at the end.
bool ppi_live_counts_begin(ppi_live_counts *counts, ppi_live_table *table,
                           const uint64_t *bounds_ns, size_t num_bounds);
void ppi_live_counts_end(ppi_live_counts *counts);
// Drops the rows of an id that has got another name.
void ppi_live_counts_forget(ppi_live_counts *counts,
                            const pprof_definition *definition);
void ppi_live_count(ppi_live_counts *counts, const ppi_live_names *names,
                    const pprof_event *event);
// `stats` may be NULL.
void ppi_live_count_checkpoint(ppi_live_counts *counts,
                               const ppi_live_names *names,
                               const pprof_checkpoint *checkpoint,
                               const pprof_stats *stats);
