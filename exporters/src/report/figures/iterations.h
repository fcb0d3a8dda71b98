// SPDX-License-Identifier: Apache-2.0
//
// Ranges that serve requests, and the parts of slow requests' time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pprof/base.h"

PPROF_BEGIN_C_

// The parts of a request's time. A request with an unknown schedule has the
// time to its first token as one part. Decode has two parts: gaps beside
// another request's prefill, and other gaps. Gaps of tokens without times are
// one part.
// clang-format off
#define PPI_SERVING_PARTS(each) \
  each(BEFORE, "before the queue") \
  each(QUEUED, "queue") \
  each(PREFILLED, "prefill") \
  each(TO_FIRST, "to the first token") \
  each(DECODED, "decode") \
  each(MIXED, "beside prefills") \
  each(TO_LAST, "first to last token") \
  each(REST, "rest")
// clang-format on
#define PPI_SERVING_PART_VALUE(value, name) PPI_SERVING_##value,
typedef enum ppi_serving_part {
  PPI_SERVING_PARTS(PPI_SERVING_PART_VALUE) PPI_NUM_SERVING_PARTS
} ppi_serving_part;
#undef PPI_SERVING_PART_VALUE
const char *ppi_serving_part_name(ppi_serving_part part);

// Whole requests of about one length; each power of two has four lengths.
typedef struct ppi_serving_slow {
  uint64_t n, parts_ns[PPI_NUM_SERVING_PARTS];
} ppi_serving_slow;
// ppi_serving_part_is_known answers whether a part is known, even as 0. It is
// unknown if only its sum with others is known.
bool ppi_serving_part_is_known(const ppi_serving_slow *slow,
                               ppi_serving_part part);

// Ranges that served requests, with the number of requests (batch) and of new
// ones among these (prefills). The sums of products fit a line to ranges
// without a prefill.
typedef struct ppi_iterations {
  uint64_t n, most;  // the largest batch
  uint64_t batch, prefills;
  uint64_t alone, alone_batch;  // of ranges without a prefill
  unsigned __int128 time_ns, alone_ns, alone_batch_2, alone_batch_ns;
} ppi_iterations;
// base_ns and request_ns fit the time of ranges without a prefill, by least
// squares. prefill_ns is the mean extra time of a prefill. False: the batch
// sizes are too similar.
typedef struct ppi_iteration_fit {
  double base_ns, request_ns, prefill_ns;
} ppi_iteration_fit;
bool ppi_iterations_fit(const ppi_iterations *iterations,
                        ppi_iteration_fit *out);

void ppi_iterations_add(ppi_iterations *iterations, uint64_t time_ns,
                        uint64_t batch, uint64_t prefills);
void ppi_iterations_merge(ppi_iterations *into, const ppi_iterations *from);

// `*slow` is a table of all lengths, or NULL if empty; ppi_free it. False: out
// of memory.
bool ppi_serving_slow_add(ppi_serving_slow **slow, uint64_t e2e_ns,
                          const ppi_serving_slow *parts);
bool ppi_serving_slow_merge(ppi_serving_slow **into,
                            const ppi_serving_slow *from);
// ppi_serving_slow_sum sums up the longest requests, `num` of them or a few
// more. Answers the shortest of their lengths; 0: there are fewer.
uint64_t ppi_serving_slow_sum(const ppi_serving_slow *slow, uint64_t num,
                              ppi_serving_slow *out);

PPROF_END_C_
