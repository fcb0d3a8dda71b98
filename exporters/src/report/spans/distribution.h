// SPDX-License-Identifier: Apache-2.0
//
// How communication and computation of one run share its time. The unions of
// each and of both give the overlap. One thread at a time.
#pragma once

#include "report/figures/figures.h"
#include "report/spans/union.h"

PPROF_BEGIN_C_

typedef struct ppi_communication {
  ppi_union own;
  ppi_union either;  // with computation, from the first range on
  bool is_any;
} ppi_communication;

// All zero is the empty one. Which device ranges compute depends on kernels:
// the run's first kernel discards all computation before it.
typedef struct ppi_distribution {
  ppi_communication sides[2];  // [1]: on devices alone
  ppi_union computation;
  uint64_t host_calls, device_calls, computation_calls;
  uint64_t horizon_ns;
  bool has_kernels;
} ppi_distribution;

// ppi_distribution_take takes any host range and any timed device range.
// Projected ranges, and ranges without communication or computation, add
// nothing.
bool ppi_distribution_take(ppi_distribution *distribution,
                           const pprof_event *event, uint32_t category);
// ppi_distribution_open takes a host range that a checkpoint lists as open,
// before ppi_distribution_settle is called for that checkpoint.
bool ppi_distribution_open(ppi_distribution *distribution,
                           const pprof_event *event, uint32_t category);
// ppi_distribution_settle promises: of all ranges that begin before
// `horizon_ns`, only the ranges listed as open come later.
void ppi_distribution_settle(ppi_distribution *distribution,
                             uint64_t horizon_ns);
void ppi_distribution_fill(ppi_distribution *distribution,
                           ppi_report_distribution *out);
void ppi_distribution_clear(ppi_distribution *distribution);

// Paddle's definition: names decide which ranges communicate, and a launch
// inside such a range does, too. With it, these functions replace take and
// open; a horizon also waits for kernels that have not come yet.

// ppi_paddle_communicates: a host range of this category and name communicates.
bool ppi_paddle_communicates(uint32_t category, const char *name);
// ppi_paddle_is_collective: a kernel of this name is a collective.
bool ppi_paddle_is_collective(const char *name);

// A timed kernel, and the ranges of its thread around its launch, without
// ranges of category Runtime.
typedef struct ppi_paddle_kernel {
  uint64_t start_ns, end_ns;
  bool is_collective;           // ppi_paddle_is_collective of its name
  bool any_communicates;        // ppi_paddle_communicates of any of them
  bool innermost_communicates;  // of the innermost; false: there is none
} ppi_paddle_kernel;

// ppi_paddle_host takes a host range that ppi_paddle_communicates. With
// `is_open` a checkpoint lists it as open; it comes again at its end.
bool ppi_paddle_host(ppi_distribution *distribution, const pprof_event *event,
                     bool is_open);
bool ppi_paddle_take(ppi_distribution *distribution,
                     const ppi_paddle_kernel *kernel);

PPROF_END_C_
