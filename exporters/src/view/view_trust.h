// SPDX-License-Identifier: Apache-2.0
//
// The lines below all views: the accounting identity of devices, and the trust
// in the figures.
#pragma once

#include "file/text.h"
#include "report/report.h"
#include "view/time_unit.h"

PPROF_BEGIN_C_

void ppi_trust_put(ppi_page *page, const ppi_figures *figures,
                   ppi_time_unit unit);
// ppi_trust_put_line writes a line in a newcomer's words, which names only
// problems.
void ppi_trust_put_line(ppi_page *page, const ppi_figures *figures,
                        ppi_time_unit unit);
void ppi_trust_put_json(ppi_page *page, const ppi_figures *figures);
void ppi_identity_put(ppi_page *page, const ppi_figures *figures,
                      ppi_time_unit unit);
void ppi_identity_put_json(ppi_page *page, const ppi_figures *figures);

PPROF_END_C_
