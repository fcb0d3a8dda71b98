// SPDX-License-Identifier: Apache-2.0
//
// Lookups in a report's tables; a lookup adds a missing row.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

#define PPI_FIGURES_TABLE(field, row) PPI_FIGURES_##field,
typedef enum ppi_figures_table {
  PPI_FIGURES_TABLES(PPI_FIGURES_TABLE) PPI_NUM_FIGURES_TABLES
} ppi_figures_table;

// ppi_figures_row finds or adds the row of `key`; NULL: no memory. It reads
// only the PPI_KEY and PPI_KEPT fields of `key`.
void *ppi_figures_row(ppi_figures *figures, ppi_figures_table table,
                      const void *key);
#define PPI_FIGURES_ROW(name, field, type)                                  \
  static inline type *ppi_figures_##name(ppi_figures *figures,              \
                                         const type *key) {                 \
    return PPROF_CAST_(type *,                                              \
                       ppi_figures_row(figures, PPI_FIGURES_##field, key)); \
  }
PPI_FIGURES_ROW(serving, serving, ppi_report_serving)
PPI_FIGURES_ROW(interference, interference, ppi_report_interference)
PPI_FIGURES_ROW(work, work, ppi_report_work)
PPI_FIGURES_ROW(thread_name, threads, ppi_report_thread_name)
PPI_FIGURES_ROW(part, parts, ppi_report_part)
PPI_FIGURES_ROW(memory, memory, ppi_report_memory)
PPI_FIGURES_ROW(category, categories, ppi_report_category)
PPI_FIGURES_ROW(device, devices, ppi_report_device)
PPI_FIGURES_ROW(place, places, ppi_report_place)
ppi_report_name *ppi_figures_name(ppi_figures *figures, uint32_t category,
                                  const char *category_name, const char *name);
void ppi_cpu_sums_merge(ppi_cpu_sums *into, const ppi_cpu_sums *from);
// ppi_name_is_wait: the name is a recorded wait. ppi_figures_have_waits: one of
// the names is.
bool ppi_name_is_wait(const ppi_report_name *name);
bool ppi_figures_have_waits(const ppi_figures *figures);
bool ppi_figures_note(ppi_figures *figures, const char *key, const char *text);
// ppi_figures_say adds a note of up to 319 bytes.
bool ppi_figures_say(ppi_figures *figures, const char *key, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));
// ppi_figures_add_row adds the figures of `row` to those of its key; an input
// is added even if another has its key. Texts may be NULL.
bool ppi_figures_add_row(ppi_figures *figures, ppi_figures_table table,
                         const void *row);
// ppi_figures_add_rows does so for many rows, which it sorts.
bool ppi_figures_add_rows(ppi_figures *figures, ppi_figures_table table,
                          void *rows, size_t num);
// ppi_figures_merge_table adds the rows that only `from` has in one pass, which
// moves each row once, then the figures.
bool ppi_figures_merge_table(ppi_figures *into, const ppi_figures *from,
                             ppi_figures_table table);
void ppi_figures_clear_table(ppi_figures *figures, ppi_figures_table table);
void ppi_figures_carry_table(ppi_carry *carry, ppi_figures *figures,
                             ppi_figures_table table);

// ---- memory ----

// ppi_figures_add_memory adds the places of `from` and their memory rows.
bool ppi_figures_add_memory(ppi_figures *into, const ppi_figures *from);

PPROF_END_C_
