// SPDX-License-Identifier: Apache-2.0
//
// The line above all views: what ran. The lines below them: the accounting
// identity of devices, and the trust in the figures.
#pragma once

#include "report/figures/ranks.h"
#include "report/report.h"
#include "view/report_options.h"

// The name of the base's unit.
const char *ppi_answer_unit(ppi_base_kind base);
// With the date, unless `now_ns` is NULL. From an hour on, the line also has
// the age of the run at real time `now_ns`; 0: no age.
void ppi_answer_put_line(ppi_page *page, const ppi_figures *figures,
                         ppi_base_kind base, const uint64_t *now_ns);

void ppi_trust_put(ppi_page *page, const ppi_figures *figures,
                   ppi_time_unit unit);
// ppi_trust_put_line writes a line in a newcomer's words, which names only
// problems.
void ppi_trust_put_line(ppi_page *page, const ppi_figures *figures,
                        ppi_time_unit unit);
// ppi_trust_put_json writes the first notes, by `put`. Unless these are all,
// SIZE_MAX, counts of 0 are left out, too, but the most important ones.
void ppi_trust_put_json(ppi_page *page, const ppi_figures *figures,
                        size_t most_notes,
                        void (*put)(ppi_page *page, const char *text));
void ppi_identity_put(ppi_page *page, const ppi_figures *figures,
                      ppi_time_unit unit);
void ppi_identity_put_json(ppi_page *page, const ppi_figures *figures);
