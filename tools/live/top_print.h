// SPDX-License-Identifier: Apache-2.0
//
// `top` as a screen of text, and as a line of JSON for each process.
#ifndef PPI_TOP_PRINT_H_
#define PPI_TOP_PRINT_H_

#include "file/text.h"
#include "live/top_rows.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ppi_top_screen {
  size_t width, height;  // 0: no limit
  bool has_colour, is_paused;
  const char *prompt;  // while a filter is typed; NULL: no
};

void ppi_top_print(const struct ppi_live_processes *all,
                   const struct ppi_top_choice *choice,
                   const struct ppi_top_screen *screen, ppi_page *page);
void ppi_top_print_json(const struct ppi_live_processes *all,
                        const struct ppi_top_choice *choice, ppi_page *page);

#ifdef __cplusplus
}
#endif

#endif  // PPI_TOP_PRINT_H_
