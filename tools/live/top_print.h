// SPDX-License-Identifier: Apache-2.0
//
// Prints `top` as a screen of text, or as a line of JSON for each process.
#pragma once

#include "file/text.h"
#include "live/top_rows.h"

PPROF_BEGIN_C_

struct ppi_top_screen {
  size_t width, height;  // 0: no limit
  bool has_colour, is_paused;
  const char *prompt;     // while a filter is typed; NULL: no
  const ppi_page *waits;  // lines about waits; NULL: none
};

void ppi_top_print(const struct ppi_live_processes *all,
                   const struct ppi_top_choice *choice,
                   const struct ppi_top_screen *screen, ppi_page *page);
void ppi_top_print_json(const struct ppi_live_processes *all,
                        const struct ppi_top_choice *choice, ppi_page *page);

PPROF_END_C_
