// SPDX-License-Identifier: Apache-2.0
//
// A folder that `export parquet` has filled, by one rank or by thousands: which
// runs in it are whole, and SQL that has them as tables. Main thread only.
#pragma once

#include "cli/carried.h"
#include "file/text.h"

// A run's rank folder, below the fleet's.
typedef struct ppi_fleet_run {
  char *path;
  long rank;  // -1: not known
} ppi_fleet_run;

typedef struct ppi_fleet {
  const char *folder;
  ppi_fleet_run *runs;  // whole ones, by path
  size_t num_runs, capacity;
  long *ranks;  // of all folders, also those left out
  size_t num_ranks, ranks_capacity;
  size_t num_left_out;
} ppi_fleet;

// ppi_fleet_open reads the files' ends. stderr names runs that are left out: a
// file is damaged or missing, or there is no rank. It also names unfinished
// exports and missing ranks. Answers PPI_EXIT_DONE, PPI_EXIT_DAMAGED (something
// was left out), or PPI_EXIT_INPUT: there is no run. Clear in any case.
int ppi_fleet_open(ppi_fleet *fleet, const char *folder);
void ppi_fleet_clear(ppi_fleet *fleet);

typedef enum ppi_fleet_engine { PPI_ON_DUCKDB, PPI_ON_SPARK } ppi_fleet_engine;

// ppi_fleet_put_views puts statements, each with a semicolon and a new line
// behind it, that make the tables and views which `query` needs.
void ppi_fleet_put_views(ppi_page *page, const ppi_fleet *fleet,
                         ppi_fleet_engine engine, const char *query);
// The views, as SQL that DuckDB and Spark take alike: each a SELECT over tables
// and the views before it, a file of views/.
extern const ppi_carried ppi_fleet_views[];
// The SELECT of a view; NULL: there is none.
const char *ppi_fleet_query_of(const char *view);
