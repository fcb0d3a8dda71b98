// SPDX-License-Identifier: Apache-2.0
//
// What a marker costs in this process.
#ifndef PPI_MARK_COST_H_
#define PPI_MARK_COST_H_

#include <stdint.h>

// ppi_mark_cost_x1000 runs the stack markers on a lane of its own and answers
// the median cost of one marker in ns x 1000. Records nothing.
uint64_t ppi_mark_cost_x1000(void);

#endif  // PPI_MARK_COST_H_
