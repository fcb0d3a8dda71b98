// SPDX-License-Identifier: Apache-2.0
//
// What ran, in one line: how many requests or steps, at which rate, how long.
#pragma once

#include "file/text.h"
#include "report/figures/ranks.h"
#include "report/report.h"

PPROF_BEGIN_C_

// What a unit of the base is called.
const char *ppi_answer_unit(ppi_base_kind base);
// With the date, unless `now_ns` is NULL; and from an hour on how long ago that
// is, by this real time; 0: it is not said.
void ppi_answer_put_line(ppi_page *page, const ppi_figures *figures,
                         ppi_base_kind base, const uint64_t *now_ns);

PPROF_END_C_
