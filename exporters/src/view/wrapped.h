// SPDX-License-Identifier: Apache-2.0
//
// Sentences on a page of its width.
#pragma once

#include "file/text.h"

PPROF_BEGIN_C_

// ppi_page_wrapped writes `text`, visible, and a line's end. It breaks lines at
// blanks; all but the first, which is in column `indent` by now, begin there.
void ppi_page_wrapped(ppi_page *page, const char *text, size_t indent);

PPROF_END_C_
