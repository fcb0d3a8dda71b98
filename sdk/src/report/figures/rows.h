// SPDX-License-Identifier: Apache-2.0
//
// Lookups in a report's tables, which add the row that is missing.
#pragma once

#include "report/figures/figures.h"

PPROF_BEGIN_C_

// Lookups that add what is missing; NULL when out of memory. `key` may be NULL
// where a text is unknown.
ppi_report_name *ppi_figures_name(ppi_figures *figures, uint32_t category,
                                  const char *category_name, const char *name);
ppi_report_category *ppi_figures_category(ppi_figures *figures,
                                          uint32_t category, const char *name);
ppi_report_device *ppi_figures_device(ppi_figures *figures, const char *name);
ppi_report_serving *ppi_figures_serving(ppi_figures *figures,
                                        const ppi_report_serving *key);
ppi_report_queue *ppi_figures_queue(ppi_figures *figures,
                                    const ppi_report_queue *key);
ppi_report_interference *ppi_figures_interference(
    ppi_figures *figures, const ppi_report_interference *key);
ppi_report_work *ppi_figures_work(ppi_figures *figures,
                                  const ppi_report_work *key);
ppi_report_thread_name *ppi_figures_thread_name(
    ppi_figures *figures, const ppi_report_thread_name *key);
ppi_report_part *ppi_figures_part(ppi_figures *figures,
                                  const ppi_report_part *key);
ppi_report_shape *ppi_figures_shape(ppi_figures *figures,
                                    const ppi_report_shape *key);
ppi_report_memory *ppi_figures_memory(ppi_figures *figures,
                                      const ppi_report_memory *key);
ppi_report_place *ppi_figures_place(ppi_figures *figures, const char *name);
pprof_status ppi_figures_note(ppi_figures *figures, const char *key,
                              const char *text);
pprof_status ppi_figures_input(ppi_figures *figures,
                               const ppi_report_input *input);
// ppi_figures_join adds the rows that only `from` has, without their figures:
// one by one they would move the rest of their table each.
pprof_status ppi_figures_join(ppi_figures *into, const ppi_figures *from);

PPROF_END_C_
