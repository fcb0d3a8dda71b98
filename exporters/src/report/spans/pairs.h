// SPDX-License-Identifier: Apache-2.0
//
// Nested paired device ranges: the time of each without those inside it.
#pragma once

#include "event/event.h"

PPROF_BEGIN_C_

// Inner paired ranges of one lane and stream whose outer one is still to come,
// by start. Where no range is left that might begin between two, they are one.
typedef struct ppi_run_pairs {
  uint32_t lane, stream;
  struct {
    uint64_t start_ns, sum_ns;
  } * items;
  size_t num, capacity;
} ppi_run_pairs;

// By lane, then stream. All zero is the empty one.
typedef struct ppi_pairs {
  ppi_run_pairs *items;
  size_t num, capacity;
} ppi_pairs;

// ppi_run_pair_time turns the device time of a timed paired range into what it
// adds to the host ranges around it: that without the paired ranges inside it,
// which add theirs. So any host range has the time of the outermost in it. The
// inner ones come first: they end first on their stream.
pprof_status ppi_run_pair_time(ppi_pairs *all, const pprof_event *event,
                               uint64_t *length_ns);
// ppi_run_settle_pairs forgets what no range still to come can hold.
pprof_status ppi_run_settle_pairs(ppi_pairs *all,
                                  const pprof_checkpoint *checkpoint);
void ppi_run_clear_pairs(ppi_pairs *all);

PPROF_END_C_
