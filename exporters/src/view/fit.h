// SPDX-License-Identifier: Apache-2.0
//
// Texts in columns of a given width, sentences in lines, and short names of
// kernels.
#pragma once

#include "file/text.h"

PPROF_BEGIN_C_

// ppi_page_fit writes `name`, visible, in `width` columns. Blanks follow a
// shorter name. A longer one loses its middle, because names of one family
// begin and end alike.
void ppi_page_fit(ppi_page *page, const char *name, size_t width);
// ppi_page_fit_from keeps the first `head` columns, and the text from byte
// `from` on, as far as there is room.
void ppi_page_fit_from(ppi_page *page, const char *name, size_t width,
                       size_t head, size_t from);
// ppi_fit_bytes is how many bytes of `text` have room in `width` columns.
size_t ppi_fit_bytes(const char *text, size_t len, size_t width);
// ppi_fit_shared is the length in bytes of the common prefix of two names, up
// to a word's end and `most`.
size_t ppi_fit_shared(const char *left, const char *right, size_t most);
// ppi_page_fit_behind leaves out `prefix` bytes of a name that is too long.
void ppi_page_fit_behind(ppi_page *page, const char *name, size_t width,
                         size_t prefix);
// Names get the room that a page has beyond the usual width. They give up the
// room that it lacks, down to a readable minimum.
size_t ppi_fit_widen(size_t usual, size_t wanted, size_t *room);
size_t ppi_fit_shrink(size_t usual, size_t least, size_t *lack);

// ppi_page_wrapped writes `text`, visible, and a line's end. It breaks lines at
// blanks; all but the first, which is in column `indent` by now, begin there. A
// word that has no room in a line is broken, too.
void ppi_page_wrapped(ppi_page *page, const char *text, size_t indent);
// ppi_page_wrapped_lines does so with each line of `text` that is too long,
// together with the next lines of its sentence.
void ppi_page_wrapped_lines(ppi_page *page, const ppi_page *text);

// ppi_kernel_name_short appends a short name that identifies the kernel:
// without result type, namespaces and parameters. In <> it has the innermost of
// the template's first arguments that is a name itself.
void ppi_kernel_name_short(ppi_page *page, const char *name);

PPROF_END_C_
