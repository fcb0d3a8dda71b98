// SPDX-License-Identifier: Apache-2.0
//
// What stands below all views: whose run it is, and how far to trust it.
#pragma once

#include "file/text.h"
#include "report/report.h"
#include "view/time_unit.h"

PPROF_BEGIN_C_

void ppi_trust_put(ppi_page *page, const ppi_figures *figures,
                   ppi_time_unit unit);
// ppi_trust_put_line says it in a newcomer's words: what is not as it should
// be, and nothing of what is.
void ppi_trust_put_line(ppi_page *page, const ppi_figures *figures,
                        ppi_time_unit unit);
void ppi_trust_put_json(ppi_page *page, const ppi_figures *figures);
void ppi_identity_put(ppi_page *page, const ppi_figures *figures,
                      ppi_time_unit unit);
void ppi_identity_put_json(ppi_page *page, const ppi_figures *figures);

PPROF_END_C_
