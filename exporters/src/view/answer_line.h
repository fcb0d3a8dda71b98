// SPDX-License-Identifier: Apache-2.0
//
// What ran, in one line: the number of requests or steps, their rate, their
// times.
#pragma once

#include "file/text.h"
#include "report/figures/ranks.h"
#include "report/report.h"

PPROF_BEGIN_C_

// The name of the base's unit.
const char *ppi_answer_unit(ppi_base_kind base);
// With the date, unless `now_ns` is NULL. From an hour on, the line also has
// the age of the run at real time `now_ns`; 0: no age.
void ppi_answer_put_line(ppi_page *page, const ppi_figures *figures,
                         ppi_base_kind base, const uint64_t *now_ns);

PPROF_END_C_
