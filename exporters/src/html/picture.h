// SPDX-License-Identifier: Apache-2.0
//
// The pictures of logs. Each log is read twice: into the survey and, after the
// report has finished, into the detail. Memory is bounded (tens of megabytes),
// however long a log is.
#pragma once

#include "report/report.h"

PPROF_BEGIN_C_

typedef struct ppi_picture ppi_picture;

// ppi_picture_create: NO_MEMORY.
pprof_status ppi_picture_create(ppi_picture **out);
void ppi_picture_destroy(ppi_picture *picture);
// The sink of the first reading of all logs, one after the other.
pprof_sink *ppi_picture_survey(ppi_picture *picture);
// Call ppi_picture_plan between the two readings; it borrows `figures`.
pprof_status ppi_picture_plan(ppi_picture *picture, const ppi_figures *figures);
// The sink of the second reading: the same logs in the same order.
pprof_sink *ppi_picture_detail(ppi_picture *picture);

PPROF_END_C_
