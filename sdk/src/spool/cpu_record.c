// SPDX-License-Identifier: Apache-2.0
//
// Packs and unpacks the CPU use of a range as extension records.
#include "spool/cpu_record.h"

uint32_t ppi_cpu_pack(const ppi_cpu_use *use, ppi_record *out) {
  out[0] = (ppi_record){.kind = PPI_RECORD_EXT_CPU};
  if (!(use->known & PPROF_CPU_TIMES)) return 1;
  out[0].start = use->cpu_ns;
  out[0].end = use->user_ns;
  out[0].flow = use->run_queue_ns;
  out[0].site = use->minor_faults;
  out[0].flags = (uint8_t)use->known;
  out[1] = (ppi_record){.start = use->inner_ns,
                        .end = use->voluntary,
                        .flow = use->involuntary,
                        .site = use->major_faults,
                        .kind = PPI_RECORD_EXT_CPU_MORE};
  return 2;
}

void ppi_cpu_unpack(const ppi_record *record, ppi_cpu_use *use) {
  if (record->kind == PPI_RECORD_EXT_CPU) {
    *use = (ppi_cpu_use){.cpu_ns = record->start,
                         .user_ns = record->end,
                         .run_queue_ns = record->flow,
                         .minor_faults = record->site,
                         .known = record->flags};
    return;
  }
  use->inner_ns = record->start;
  use->voluntary = (uint32_t)record->end;
  use->involuntary = (uint32_t)record->flow;
  use->major_faults = record->site;
}
