// SPDX-License-Identifier: Apache-2.0
//
// The parts of the units' time that stages, devices and threads have, from the
// rows of the additive table.
#pragma once

#include "report/findings/search.h"

// The common properties of a part's rows; NULL: any.
typedef struct ppi_part {
  const char *name, *device;
  unsigned wheres;  // bits 1 << ppi_where
} ppi_part;

enum {
  PPI_PART_WORK = 1u << PPI_WHERE_DEVICE | 1u << PPI_WHERE_HOST,
  PPI_PART_QUEUE = 1u << PPI_WHERE_QUEUE,
  PPI_PART_WAITING = 1u << PPI_WHERE_WAITING
};

// ppi_part_has: `row` counts in `part`; rows of a child never do.
bool ppi_part_has(const ppi_part *part, const ppi_answer_row *row);
// ppi_part_sum is the time of all rows of `part`, of all units.
uint64_t ppi_part_sum(const ppi_answer *answer, const ppi_part *part);
// ppi_part_greatest is the row with the stage that has most of `part`; NULL:
// none has any.
const ppi_answer_row *ppi_part_greatest(const ppi_answer *answer,
                                        const ppi_part *part);
// The greatest work of the units: a stage, or the costliest part directly
// inside a stage that does little itself.
typedef struct ppi_costly {
  const ppi_answer_row *row;  // NULL: nothing works
  const char *name;
  const char *inside;  // the stage around it; NULL: it is a stage
  uint64_t sum_ns;     // of all units
} ppi_costly;
ppi_costly ppi_part_costly(const ppi_answer *answer);
// ppi_costly_name has "classify", or "classify, inside image,".
ppi_words ppi_costly_name(const ppi_costly *costly);
// ppi_part_on_host is the host time of all stages called `name`, and of parts
// with that name in other stages.
uint64_t ppi_part_on_host(const ppi_answer *answer, const char *name);
// ppi_part_mean turns `sum_ns` of all units into the mean of one unit.
double ppi_part_mean(const ppi_answer *answer, uint64_t sum_ns);
double ppi_part_share(const ppi_answer *answer, uint64_t sum_ns);
// ppi_part_of_all is the share of `ns` in the time of all units, including
// units outside the rows; at most 1.
double ppi_part_of_all(const ppi_search *search, double ns);
// ppi_part_of_unit words a part: "41 of 124 ms a request (33 %)".
ppi_words ppi_part_of_unit(const ppi_search *search, uint64_t sum_ns);
// ppi_part_has_outliers: few units, far from usual, have most of a row's time,
// so its mean fits no unit. ppi_part_of_usual words both: "1.50 us of a usual
// step, and up to 3.75 s in 1 of 101 (100 % of its time)". Without outliers it
// is ppi_part_of_unit of `sum_ns`.
bool ppi_part_has_outliers(const ppi_answer *answer, const ppi_answer_row *row);
ppi_words ppi_part_of_usual(const ppi_search *search, const ppi_answer_row *row,
                            uint64_t sum_ns);
// From this many units under way on, requests without work wait for one
// another.
#define PPI_SEVERAL 1.5
// ppi_part_in_flight is the mean number of units under way, by Little's law.
double ppi_part_in_flight(const ppi_answer *answer);

// From the first share on a stage computes; up to the second one it waits.
#define PPI_COMPUTES 0.8
#define PPI_WAITS 0.2
// The advice for a thread that is ready and gets no processor.
#define PPI_NEXT_PROCESSOR                                            \
  "use fewer threads, give the process more processors, or move its " \
  "neighbours away."

// ppi_processor_of sums the known CPU use of a stage's host calls, of all
// categories.
ppi_cpu_sums ppi_processor_of(const ppi_figures *figures, const char *name);
// ppi_processor_share is the share on a processor, over calls with known CPU
// use; < 0: too few.
double ppi_processor_share(const ppi_cpu_sums *sums);
// ppi_processor_queued is the share in which all processors were taken; 0:
// unknown for some of those calls.
double ppi_processor_queued(const ppi_cpu_sums *sums);
// ppi_processor_ready is the sum of the two; for the rest, the thread waited
// for something else. < 0: too few calls.
double ppi_processor_ready(const ppi_cpu_sums *sums);

// The time without any work for requests before each of their stages. Cold
// requests do not count.
typedef struct ppi_hops {
  const char *name;  // the stage with most of that time before it; NULL: none
  uint64_t hop_ns;   // that time
  uint64_t all_ns;   // of all requests
} ppi_hops;

pprof_status ppi_hops_of(const ppi_figures *figures, ppi_hops *out);

// The way down from a host stage. Each range has at least half of the time of
// the range around it, and a quarter of the stage's.
typedef struct ppi_deep {
  char way[128];     // "conv / gemm"; "": there is none
  const char *name;  // of the last one; NULL: there is none
  double share;      // part of the stage's time in the last one
} ppi_deep;

// ppi_deep_of needs figures with details.paths; without them the way is empty.
ppi_deep ppi_deep_of(const ppi_figures *figures, const ppi_costly *costly);
