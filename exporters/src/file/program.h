// SPDX-License-Identifier: Apache-2.0
//
// What people call a program.
#ifndef PPI_PROGRAM_H_
#define PPI_PROGRAM_H_

#include "file/text.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_page_program writes the file name of the program of `command`, words with
// blanks between; of Python the script's, or "python3 -c" where it has none.
void ppi_page_program(ppi_page *page, const char *command);

#ifdef __cplusplus
}
#endif

#endif  // PPI_PROGRAM_H_
