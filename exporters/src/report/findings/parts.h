// SPDX-License-Identifier: Apache-2.0
//
// What of the units' time stages, devices and threads have, out of the rows of
// the additive table.
#pragma once

#include "report/findings/search.h"

PPROF_BEGIN_C_

// What a part's rows have in common; NULL: any.
typedef struct ppi_part {
  const char *name, *device;
  unsigned wheres;  // of 1 << ppi_where
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
// What most of the units' work is: a stage, or what costs most directly inside
// one that does little itself.
typedef struct ppi_costly {
  const ppi_answer_row *row;  // NULL: nothing works
  const char *name;
  const char *inside;  // the stage around it; NULL: it is one
  uint64_t sum_ns;     // of all units
} ppi_costly;
ppi_costly ppi_part_costly(const ppi_answer *answer);
// ppi_costly_name has "classify", or "classify, inside image,".
ppi_words ppi_costly_name(const ppi_costly *costly);
// ppi_part_on_host is the time on the host of all stages called `name`, and of
// parts of other stages called so.
uint64_t ppi_part_on_host(const ppi_answer *answer, const char *name);
// ppi_part_mean is `sum_ns` of all units, of an average one.
double ppi_part_mean(const ppi_answer *answer, uint64_t sum_ns);
double ppi_part_share(const ppi_answer *answer, uint64_t sum_ns);
// ppi_part_of_all is the share that `ns` has of the time of all units, with
// those that are not in the rows; at most 1.
double ppi_part_of_all(const ppi_search *search, double ns);
// ppi_part_of_unit has words for a part: "41 of 124 ms a request (33 %)".
ppi_words ppi_part_of_unit(const ppi_search *search, uint64_t sum_ns);
// ppi_part_has_outliers: few units, far from usual, have most of a row's time;
// its mean is then no unit's. ppi_part_of_usual has words for both: "1.50 us of
// a usual step, and up to 3.75 s in 1 of 101 (100 % of its time)"; of a row
// without outliers it is ppi_part_of_unit of `sum_ns`.
bool ppi_part_has_outliers(const ppi_answer *answer, const ppi_answer_row *row);
ppi_words ppi_part_of_usual(const ppi_search *search, const ppi_answer_row *row,
                            uint64_t sum_ns);
// From here on requests that nothing works for wait for one another.
#define PPI_SEVERAL 1.5
// ppi_part_in_flight is by Little's law how many units are under way at a time.
double ppi_part_in_flight(const ppi_answer *answer);

PPROF_END_C_
