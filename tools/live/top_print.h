// SPDX-License-Identifier: Apache-2.0
//
// Prints `top` as a screen of text, or as a line of JSON for each process.
#pragma once

#include "file/text.h"
#include "live/live_process.h"

enum ppi_top_sort {
  PPI_TOP_BY_TIME,
  PPI_TOP_BY_RATE,
  PPI_TOP_BY_P50,
  PPI_TOP_BY_P99,
  PPI_TOP_BY_NAME,
  PPI_TOP_NUM_SORTS
};
extern const char *const ppi_top_sort_names[PPI_TOP_NUM_SORTS];

struct ppi_top_choice {
  enum ppi_top_sort sort;
  const char *filter;  // a part of the wanted names; "": all
  uint64_t window_ns;
  uint64_t realtime_ns;  // now, by the wall clock
};

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
