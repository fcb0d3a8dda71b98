// SPDX-License-Identifier: Apache-2.0
//
// Sentences on a page of its width.
#ifndef PPI_WRAPPED_H_
#define PPI_WRAPPED_H_

#include "file/text.h"

#ifdef __cplusplus
extern "C" {
#endif

// ppi_page_wrapped writes `text`, visible, and a line's end. It breaks lines at
// blanks; all but the first, which is in column `indent` by now, begin there.
void ppi_page_wrapped(ppi_page *page, const char *text, size_t indent);

#ifdef __cplusplus
}
#endif

#endif  // PPI_WRAPPED_H_
