// SPDX-License-Identifier: Apache-2.0
//
// Prints the result of a search: as a table, in words, as a curve. Main thread
// only.
#pragma once

#include "batch/batch_run.h"
#include "file/text.h"

PPROF_BEGIN_C_

struct ppi_tool_options;

// Limits for a try that ended well; 0: no limit.
typedef struct ppi_batch_demand {
  uint64_t latency_ns;     // the p99 of a batch, at most
  uint64_t least_batches;  // at least
} ppi_batch_demand;

// ppi_batch_judge clears `survived` of a try that stopped early or is too slow,
// and puts the reason in its result. A command makes a fixed number of batches
// or a fixed number of items. The good tries in `before` show which. A try with
// fewer stopped early; one batch is allowed for rounding.
void ppi_batch_judge(const ppi_batch_try *before, size_t num,
                     const ppi_batch_demand *demand, ppi_batch_try *now);

// Picks among the tries that ended well; NULL: none.
typedef struct ppi_batch_curve {
  const ppi_batch_try *largest;
  const ppi_batch_try *fastest;  // most items a second
  // The smallest with PPI_BATCH_KNEE_PERCENT of the fastest's items a second.
  const ppi_batch_try *knee;
} ppi_batch_curve;
#define PPI_BATCH_KNEE_PERCENT 90
void ppi_batch_curve_of(const ppi_batch_try *tries, size_t num,
                        ppi_batch_curve *out);

// ppi_batch_limit_of is the default time limit of a try of `batch`: ten times
// the first try's time, scaled by the batch, and at least a minute.
uint64_t ppi_batch_limit_of(const ppi_batch_try *first, size_t batch);

// Begin with {.from = ..., .to = ..., .sequential = ...}.
typedef struct ppi_batch_search {
  size_t from, to;  // at least 1; both may be tried
  bool sequential;
  size_t survived, failed;  // the largest survivor, the smallest failure;
                            // 0: none yet
} ppi_batch_search;

// ppi_batch_next answers the batch to try, or 0 when the search is over.
size_t ppi_batch_next(const ppi_batch_search *search);
void ppi_batch_tell(ppi_batch_search *search, size_t batch, bool survived);

typedef struct ppi_batch_result {
  const struct ppi_tool_options *options;
  const ppi_batch_try *tries;  // smallest batch first
  size_t num_tries;
  size_t from;
  uint64_t latency_ns;       // 0: no limit
  bool interrupted, failed;  // by a signal; a try failed
} ppi_batch_result;

// Prints in --format; answers `code`, or the exit code of a failed print.
int ppi_batch_print(const ppi_batch_result *result, int code);
// The curve as one HTML file that needs nothing else.
void ppi_batch_plot(const ppi_batch_result *result, ppi_page *page);

PPROF_END_C_
