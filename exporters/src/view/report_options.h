// SPDX-License-Identifier: Apache-2.0
//
// What a reader asks of a report: which views, how they look, their order.
#ifndef PPI_REPORT_OPTIONS_H_
#define PPI_REPORT_OPTIONS_H_

#include <stdbool.h>

#include "view/peak.h"
#include "view/time_unit.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ppi_report_style {
  PPI_STYLE_PADDLE = 0,
  PPI_STYLE_TORCH,  // the table of torch.profiler
  PPI_STYLE_NSYS    // nvtx_sum of nsys stats
} ppi_report_style;

typedef struct ppi_report_options {
  const char *views;        // "overview,model"; NULL: all
  ppi_time_unit time_unit;  // of tables and Markdown
  bool has_time_unit;       // false: the style's own choice
  ppi_report_style style;
  const char *sort;  // a key of ppi_sort_is_known; NULL: the view's own order
  long top;          // rows of each named kind; 0, -1: all, LONG_MIN: the
                     // style's own choice
  const ppi_peaks *peaks;  // what utilisation is of; NULL: nothing
  bool is_raw;             // CSV without the guard against formulas
} ppi_report_options;

#ifdef __cplusplus
}
#endif

#endif  // PPI_REPORT_OPTIONS_H_
