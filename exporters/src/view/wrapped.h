// SPDX-License-Identifier: Apache-2.0
//
// Sentences, broken at the width of a page.
#pragma once

#include "file/text.h"

PPROF_BEGIN_C_

// ppi_page_wrapped writes `text`, visible, and a line's end. It breaks lines at
// blanks; all but the first, which is in column `indent` by now, begin there. A
// word that has no room in a line is broken, too.
void ppi_page_wrapped(ppi_page *page, const char *text, size_t indent);
// ppi_page_wrapped_lines does so with each line of `text` that is too long,
// together with the next lines of its sentence.
void ppi_page_wrapped_lines(ppi_page *page, const ppi_page *text);

PPROF_END_C_
