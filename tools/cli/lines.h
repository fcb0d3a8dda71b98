// SPDX-License-Identifier: Apache-2.0
//
// Breaks lines of text for terminals.
#pragma once

#include "file/text.h"

// ppi_tool_put_line writes a visible text in lines of the page's width, from
// column `indent` on. Lines break at blanks, and later ones begin two columns
// further. A word longer than a line, such as a path, stays whole.
void ppi_tool_put_line(ppi_page *page, const char *text, size_t len,
                       size_t indent);
// ppi_tool_fit_lines makes the page's lines "HEAD: REST" fit into `width`
// columns. If one of several lines with one head is longer, the head is written
// once, above them.
void ppi_tool_fit_lines(ppi_page *page, size_t width);
