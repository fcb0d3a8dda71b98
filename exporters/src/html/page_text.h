// SPDX-License-Identifier: Apache-2.0
//
// The page's styles and its script, made of exporters/html by embed.sh.
#ifndef PPI_PAGE_TEXT_H_
#define PPI_PAGE_TEXT_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const unsigned char ppi_page_style[];
extern const size_t ppi_page_style_len;
extern const unsigned char ppi_page_script[];
extern const size_t ppi_page_script_len;

#ifdef __cplusplus
}
#endif

#endif  // PPI_PAGE_TEXT_H_
