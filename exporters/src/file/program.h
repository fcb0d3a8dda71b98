// SPDX-License-Identifier: Apache-2.0
//
// What people call a program.
#pragma once

#include "file/text.h"

PPROF_BEGIN_C_

// ppi_page_program writes the file name of the program of `command`, words with
// blanks between; of Python the script's, or "python3 -c" where it has none.
void ppi_page_program(ppi_page *page, const char *command);

PPROF_END_C_
