// SPDX-License-Identifier: Apache-2.0
//
// Learns rules that some runs keep. One thread.
#pragma once

#include "expect/expect_run.h"
#include "file/text.h"

PPROF_BEGIN_C_

typedef struct ppi_expect_lesson ppi_expect_lesson;

ppi_expect_lesson *ppi_expect_lesson_create(void);
void ppi_expect_lesson_destroy(ppi_expect_lesson *lesson);
void ppi_expect_lesson_add(ppi_expect_lesson *lesson,
                           const ppi_expect_run *run);
// ppi_expect_lesson_put writes a file of rules.
void ppi_expect_lesson_put(const ppi_expect_lesson *lesson, ppi_page *out);

PPROF_END_C_
