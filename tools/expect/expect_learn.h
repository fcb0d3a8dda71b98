// SPDX-License-Identifier: Apache-2.0
//
// Rules that some runs keep. One thread.
#ifndef PPI_EXPECT_LEARN_H_
#define PPI_EXPECT_LEARN_H_

#include "expect/expect_run.h"
#include "file/text.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ppi_expect_lesson ppi_expect_lesson;

// NULL when out of memory.
ppi_expect_lesson *ppi_expect_lesson_create(void);
void ppi_expect_lesson_destroy(ppi_expect_lesson *lesson);
// False when out of memory.
bool ppi_expect_lesson_add(ppi_expect_lesson *lesson,
                           const ppi_expect_run *run);
// ppi_expect_lesson_put writes a file of rules.
void ppi_expect_lesson_put(const ppi_expect_lesson *lesson, ppi_page *out);

#ifdef __cplusplus
}
#endif

#endif  // PPI_EXPECT_LEARN_H_
