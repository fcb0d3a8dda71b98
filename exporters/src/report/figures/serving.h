// SPDX-License-Identifier: Apache-2.0
//
// The serving of one class of requests: their times, input tokens and output
// tokens.
#pragma once

#include "report/figures/histogram.h"
#include "report/figures/iterations.h"

PPROF_BEGIN_C_

// docs/serving.md defines these times. Each is a row of the view.
// clang-format off
#define PPI_SERVING_TIMES(each) \
  each(E2E, "end to end") \
  each(BEFORE_QUEUE, "before the queue") \
  each(QUEUE, "queue") \
  each(PREFILL, "prefill") \
  each(TTFT, "TTFT") \
  each(DECODE, "decode") \
  each(ITL, "ITL") \
  each(ITL_MIXED, "ITL, prefill in") \
  each(TPOT, "TPOT") \
  each(ITERATION, "iteration") \
  each(ITERATION_MIXED, "iteration, prefill in")
// clang-format on
#define PPI_SERVING_TIME_VALUE(value, name) PPI_SERVING_##value,
typedef enum ppi_serving_time {
  PPI_SERVING_TIMES(PPI_SERVING_TIME_VALUE) PPI_NUM_SERVING_TIMES
} ppi_serving_time;
#undef PPI_SERVING_TIME_VALUE
const char *ppi_serving_time_name(ppi_serving_time time);

// The limits for a good request; 0: no limit.
typedef struct ppi_slo {
  uint64_t ttft_ns, itl_ns, tpot_ns, e2e_ns;
} ppi_slo;

// All zero is the empty one. A class of requests, or a range that serves them.
typedef struct ppi_serving {
  uint64_t num_whole;               // recorded from arrival to end
  uint64_t num_cut;                 // cut by an edge, or never ended
  uint64_t num_silent;              // whole ones without a token
  uint64_t num_good;                // whole ones that kept the SLO
  uint64_t num_unequal;             // whole ones with tokens after the end
  uint64_t num_undivided;           // all with an unknown queue time
  uint64_t tokens_in, tokens_out;   // of whole ones
  uint64_t waiting_ns, running_ns;  // of all
  // Recorded time from a run's first arrival to its last end, of any class. Sum
  // over the runs with requests of this class.
  uint64_t span_ns;
  ppi_iterations iterations;
  ppi_serving_slow *slow;  // by length; NULL: no whole request yet
  ppi_spread spreads[PPI_NUM_SERVING_TIMES];
  ppi_histogram times[PPI_NUM_SERVING_TIMES];
} ppi_serving;

// One served request. Its tokens are in the order of time.
typedef struct ppi_served_tokens {
  uint64_t time_ns, num;
  bool is_mixed;   // another request was scheduled in the gap before
  bool is_spread;  // tokens came one by one since the previous entry
} ppi_served_tokens;
typedef struct ppi_served_request {
  uint64_t arrival_ns, end_ns;
  uint64_t queued_ns;     // begin of the queue; UINT64_MAX: at arrival
  uint64_t scheduled_ns;  // UINT64_MAX: never
  bool is_undivided;      // queue time unknown, but it got tokens
  uint64_t tokens_in;
  bool is_cut;
  const ppi_served_tokens *tokens;
  size_t num_tokens;
} ppi_served_request;

pprof_status ppi_serving_add(ppi_serving *serving,
                             const ppi_served_request *request,
                             const ppi_slo *slo);
static inline bool ppi_serving_is_class(const ppi_serving *serving) {
  return serving->num_whole || serving->num_cut;
}
// ppi_serving_iterate adds a range that served `batch` requests.
pprof_status ppi_serving_iterate(ppi_serving *serving, uint64_t time_ns,
                                 uint64_t batch, uint64_t prefills);
// ppi_serving_slowest sums up the slowest hundredth of whole requests or a few
// more. Answers the shortest of their lengths; 0: there are none.
uint64_t ppi_serving_slowest(const ppi_serving *serving, ppi_serving_slow *out);
pprof_status ppi_serving_merge(ppi_serving *into, const ppi_serving *from);
void ppi_serving_clear(ppi_serving *serving);

PPROF_END_C_
