// SPDX-License-Identifier: Apache-2.0
//
// Writes the format `sqlite`: a file in our own schema or in that of nsys.
// SQLite writes the file under a temporary name, which it has until it is
// whole.
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "export/formats.h"
#include "export/sql.h"

typedef struct sqlite_file {
  ppi_export base;
  ppi_db db;
  ppi_export *inner;
} sqlite_file;

static pprof_status close_file(ppi_export *export, pprof_error *error) {
  sqlite_file *out = (sqlite_file *)export;
  pprof_status status = out->inner->close(out->inner, error);
  memcpy(export->left, out->inner->left, sizeof export->left);
  return status;
}

static void destroy_file(ppi_export *export) {
  sqlite_file *out = (sqlite_file *)export;
  if (out->inner) out->inner->destroy(out->inner);
  ppi_db_close(&out->db);
  free(out);
}

static pprof_status create_file(const ppi_export_target *target,
                                ppi_export **out, pprof_error *error) {
  if (!target->path)
    return ppi_fail(error, PPROF_STATUS_INVALID,
                    "SQLite writes to a file of its own: --output FILE");
  bool is_nsys = target->schema && strcmp(target->schema, "nsys") == 0;
  sqlite_file *made = calloc(1, sizeof *made);
  if (!made) return ppi_fail(error, PPROF_STATUS_NO_MEMORY, "out of memory");
  pprof_status status = ppi_db_open(&made->db, target->path, PPI_DB_NEW, error);
  if (status == PPROF_STATUS_OK)
    status = ppi_sql_create(&made->db, is_nsys, &made->inner, error);
  if (status != PPROF_STATUS_OK) {
    made->inner = NULL;
    destroy_file(&made->base);
    return status;
  }
  made->base = (ppi_export){
      .sink = made->inner->sink, .close = close_file, .destroy = destroy_file};
  *out = &made->base;
  return PPROF_STATUS_OK;
}

const ppi_export_format ppi_format_sqlite = {
    .name = "sqlite",
    .ending = ".sqlite",
    .holds = "all of the log, or with --schema nsys what nsys has",
    .opened_by = "sqlite3, Python, DuckDB, pandas; tools for nsys's files",
    .parts = PPI_PART_ALL - PPI_PART_NUMBERS,
    .nsys_parts = PPI_PART_MARKS | PPI_PART_LOOSE | PPI_PART_SUBMITS,
    .create = create_file,
};
