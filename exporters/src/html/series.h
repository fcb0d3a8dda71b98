// SPDX-License-Identifier: Apache-2.0
//
// Sums over time. Each moment gets its part of every span, so a sum is exact in
// any order of spans.
#pragma once

#include "html/picture_state.h"

PPROF_BEGIN_C_

// A stretch of the page's time.
typedef struct ppi_stretch {
  uint64_t start_ns, end_ns;
} ppi_stretch;

// The subject of a series; UINT32_MAX: no device, or no stage.
typedef struct ppi_series_key {
  ppi_series_kind kind;
  uint32_t device, stage;
} ppi_series_key;

// ppi_series_add: NO_MEMORY. Series beyond the bound are left out.
pprof_status ppi_series_add(ppi_picture *picture, ppi_series_key key,
                            ppi_stretch stretch);
// ppi_series_add_part spreads `ns`, a part of the stretch, evenly over it.
// As ppi_series_add.
pprof_status ppi_series_add_part(ppi_picture *picture, ppi_series_key key,
                                 ppi_stretch stretch, uint64_t ns);
// ppi_series_at is the sum in moment `at`, divided by its length, in
// thousandths. Call it for all moments in order, with `*level` 0 at first.
uint64_t ppi_series_at(const ppi_picture *picture,
                       const ppi_picture_series *series, size_t at,
                       int64_t *level);
// ppi_series_count takes a value of a counter.
pprof_status ppi_series_count(ppi_picture *picture, const char *name,
                              uint64_t time_ns, double value);

PPROF_END_C_
