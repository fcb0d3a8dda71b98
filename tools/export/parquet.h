// SPDX-License-Identifier: Apache-2.0
//
// How a folder of Parquet is laid out: run=UUID/rank=N/TABLE.parquet.
#pragma once

#include "cli/carried.h"

// Each run has all of them, also where they have no row. Ends with NULL.
extern const char *const ppi_parquet_tables[];
// Those of them that folders of 0.1 may lack, each with what it is then: a
// SELECT without a row, for DuckDB and Spark alike.
extern const ppi_carried ppi_parquet_later[];
// Those of them that are made of the others: each a SELECT over the tables of
// one run and the ones before it, a file of parquet_views/.
extern const ppi_carried ppi_parquet_views[];

// How Hive calls what is not known.
#define PPI_PARQUET_NO_RANK "__HIVE_DEFAULT_PARTITION__"
// Begins the name of a run's folder until it is whole. Readers pass over what
// begins with a dot.
#define PPI_PARQUET_PART ".unfinished-run="
