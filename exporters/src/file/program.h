// SPDX-License-Identifier: Apache-2.0
//
// The name of a program, for people.
#pragma once

#include "file/text.h"

PPROF_BEGIN_C_

// ppi_page_program writes the file name of the program in `command`, words with
// blanks between them. For Python it is the script's, or "python3 -c".
void ppi_page_program(ppi_page *page, const char *command);

PPROF_END_C_
