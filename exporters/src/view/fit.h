// SPDX-License-Identifier: Apache-2.0
//
// Texts in columns of a given width.
#pragma once

#include "file/text.h"

PPROF_BEGIN_C_

// ppi_page_fit writes `name`, visible, in `width` columns: blanks follow one
// that is shorter, and of a longer one the middle is left out, because names of
// one family begin and end alike.
void ppi_page_fit(ppi_page *page, const char *name, size_t width);
// ppi_page_fit_from leaves out what lies between the first few characters, up
// to `head`, and byte `from`, and what has no room at the end.
void ppi_page_fit_from(ppi_page *page, const char *name, size_t width,
                       size_t head, size_t from);
// ppi_fit_bytes is how many bytes of `text` have room in `width` columns.
size_t ppi_fit_bytes(const char *text, size_t len, size_t width);
// ppi_fit_shared is how many bytes two names begin with alike, `most` of them,
// up to a word's end.
size_t ppi_fit_shared(const char *left, const char *right, size_t most);
// ppi_page_fit_behind leaves out `prefix` bytes of a name that is too long.
void ppi_page_fit_behind(ppi_page *page, const char *name, size_t width,
                         size_t prefix);
// What a page has beyond the usual width is for names that need it; what it
// lacks is taken from names, down to the least that says something.
size_t ppi_fit_widen(size_t usual, size_t wanted, size_t *room);
size_t ppi_fit_shrink(size_t usual, size_t least, size_t *lack);
// ppi_page_right writes `text` after blanks, or whole where it is wider.
void ppi_page_right(ppi_page *page, const ppi_page *text, size_t width);

PPROF_END_C_
