// SPDX-License-Identifier: Apache-2.0
//
// The serving of one class of requests: their times, input and output tokens,
// the iterations that serve them, and the parts of slow requests.
#pragma once

#include "report/figures/histogram.h"

PPROF_BEGIN_C_

// ---- iterations and slow requests ----

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
  uint64_t most;  // the largest batch
  uint64_t n, batch, prefills;
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

// `*slow` is a table of all lengths, or NULL if empty; ppi_free it. False: out
// of memory.
bool ppi_serving_slow_add(ppi_serving_slow **slow, uint64_t e2e_ns,
                          const ppi_serving_slow *parts);
bool ppi_serving_slow_merge(ppi_serving_slow **into,
                            const ppi_serving_slow *from);
void ppi_serving_slow_carry(ppi_carry *carry, ppi_serving_slow **slow);
// ppi_serving_slow_sum sums up the longest requests, `num` of them or a few
// more. Answers the shortest of their lengths; 0: there are fewer.
uint64_t ppi_serving_slow_sum(const ppi_serving_slow *slow, uint64_t num,
                              ppi_serving_slow *out);

// ---- requests of a class ----

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
  // When the first token was where the request arrived, if another process made
  // the tokens; else 0.
  uint64_t received_ns;
  bool is_undivided;  // queue time unknown, but it got tokens
  uint64_t tokens_in;
  bool is_cut;
  const ppi_served_tokens *tokens;
  size_t num_tokens;
} ppi_served_request;

// Served requests of a run, for a join with those of other runs. A class is a
// site until the run is filled.
typedef struct ppi_kept_request {
  uint64_t flow;
  ppi_served_request served;
  size_t first;        // its tokens, of the run's
  uint32_t of_class;   // UINT32_MAX: marks without a range of the request
  uint64_t num_marks;  // these
} ppi_kept_request;
typedef struct ppi_kept_class {
  uint32_t site;
  char *name, *category_name;
} ppi_kept_class;
typedef struct ppi_kept_run {
  int num_owners;
  char *uuid, *host, *pid;
  ppi_kept_request *requests;
  ppi_served_tokens *tokens;
  ppi_kept_class *classes;
  size_t num, capacity, num_tokens, tokens_capacity, num_classes;
  uint64_t num_unmatched;  // marks without a range of their request
  bool is_full;            // some requests are missing
} ppi_kept_run;
// ppi_kept_run_take adds a copy of `served`, up to a bound.
bool ppi_kept_run_take(ppi_kept_run *run, uint64_t flow, uint32_t of_class,
                       const ppi_served_request *served);
void ppi_kept_run_release(ppi_kept_run *run);
// A read makes the run, with one owner.
void ppi_kept_run_carry(ppi_carry *carry, ppi_kept_run **run);

bool ppi_serving_add(ppi_serving *serving, const ppi_served_request *request,
                     const ppi_slo *slo);
static inline bool ppi_serving_is_class(const ppi_serving *serving) {
  return serving->num_whole || serving->num_cut;
}
// ppi_serving_iterate adds a range that served `batch` requests.
bool ppi_serving_iterate(ppi_serving *serving, uint64_t time_ns, uint64_t batch,
                         uint64_t prefills);
// ppi_serving_slowest sums up the slowest hundredth of whole requests or a few
// more. Answers the shortest of their lengths; 0: there are none.
uint64_t ppi_serving_slowest(const ppi_serving *serving, ppi_serving_slow *out);
void ppi_serving_clear(ppi_serving *serving);

PPROF_END_C_
