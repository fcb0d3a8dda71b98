// SPDX-License-Identifier: Apache-2.0
//
// Turns the SQLite file of `nsys export --type sqlite` into the events of a
// trace: ranges, marks, runtime calls, kernels, copies and sets of the
// documented tables. The file is not trusted, and not changed. One thread.
#pragma once

#include "import/importer.h"

typedef struct ppi_nsys ppi_nsys;

// ppi_nsys_is_sqlite answers whether the head is a SQLite file's.
bool ppi_nsys_is_sqlite(const void *head, size_t len);
// Errors: IO; INVALID: no file of nsys; UNSUPPORTED: no SQLite here; NO_MEMORY.
pprof_status ppi_nsys_open(const char *path, ppi_nsys **out,
                           pprof_error *error);
// ppi_nsys_read takes all rows; after that ppi_nsys_failure states the error
// that ended it too soon, or NULL. Errors: NO_MEMORY, IO of the import.
void ppi_nsys_read(ppi_nsys *nsys, ppi_importer *importer);
const char *ppi_nsys_failure(const ppi_nsys *nsys);
// ppi_nsys_left_out counts the rows of unread tables of events, and lists these
// tables.
uint64_t ppi_nsys_left_out(ppi_nsys *nsys, char *text, size_t size);
// ppi_nsys_lacking does so for known tables that lack a column.
uint64_t ppi_nsys_lacking(ppi_nsys *nsys, char *text, size_t size);
void ppi_nsys_close(ppi_nsys *nsys);
