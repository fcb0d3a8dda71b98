// SPDX-License-Identifier: Apache-2.0
//
// The layout of a folder of Parquet: run=UUID/rank=N/TABLE.parquet.
#pragma once

#include "cli/carried.h"

// Each run has all tables, even those without rows. Ends with NULL.
extern const char *const ppi_parquet_tables[];
// Tables that folders of 0.1 may lack, each with its replacement: a SELECT
// without rows, for DuckDB and Spark.
extern const ppi_carried ppi_parquet_later[];
// Tables made of other tables. Each is a SELECT over the tables of one run and
// earlier ones of these, in a file of parquet_views/.
extern const ppi_carried ppi_parquet_views[];

// Hive's name for an unknown value.
#define PPI_PARQUET_NO_RANK "__HIVE_DEFAULT_PARTITION__"
// The name of a run's folder begins so until it is whole. Readers skip names
// that begin with a dot.
#define PPI_PARQUET_PART ".unfinished-run="
