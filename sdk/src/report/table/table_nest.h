// SPDX-License-Identifier: Apache-2.0
//
// Rows in their order, each with the range around it.
#ifndef PPI_TABLE_NEST_H_
#define PPI_TABLE_NEST_H_

#include "report/table/table_fill.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_table_nest hands the rows that begin before `until_ns` to the reader, as
// one table. `out_told` of them come first in `fill->rows` then.
pprof_status ppi_table_nest(ppi_table_fill *fill, uint64_t until_ns,
                            size_t *out_told);

#ifdef __cplusplus
}
#endif

#endif  // PPI_TABLE_NEST_H_
