// SPDX-License-Identifier: Apache-2.0
//
// The options of a report: its views, their form, their order.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "view/peak.h"
#include "view/time_unit.h"

PPROF_BEGIN_C_

typedef enum ppi_report_style {
  PPI_STYLE_PADDLE = 0,
  PPI_STYLE_TORCH,   // the table of torch.profiler
  PPI_STYLE_NSYS,    // nvtx_sum of nsys stats
  PPI_STYLE_ANSWER,  // what ran, where its time went, findings
  PPI_STYLE_TREE     // ranges by the ranges around them
} ppi_report_style;

// The units that the answer divides.
typedef enum ppi_report_by {
  PPI_BY_USUAL = 0,  // an average request, or else step, or else the run
  PPI_BY_REQUEST,
  PPI_BY_STEP,
  PPI_BY_RANK,   // the usual, for each rank
  PPI_BY_THREAD  // each thread, while it was recorded
} ppi_report_by;

struct ppi_findings_options;

typedef struct ppi_report_options {
  const char *views;  // "overview,model"; NULL: all
  ppi_report_by by;
  ppi_time_unit time_unit;  // of tables and Markdown
  bool has_time_unit;       // false: the style's own choice
  ppi_report_style style;
  const char *sort;  // a key of ppi_sort_is_known; NULL: the view's own order
  long top;          // rows of each named kind; 0, -1: all, LONG_MIN: the
                     // style's own choice
  long name_width;   // torch's table: of names; 0 or less: 55, as torch has it
  const ppi_peaks *peaks;  // for utilisation; NULL: none
  // Costs by models, for stages that state no work; NULL: none.
  const struct ppi_stage_costs *costs;
  // Thresholds of the rules; NULL: their own.
  const struct ppi_findings_options *findings;
  const char *iteration;  // as in ppi_report_details
  bool no_iterations;
  bool is_compact;  // JSON: the answer and the main findings, in 8 kB
  bool is_raw;      // CSV without the guard against formulas
  bool is_verbose;  // the answer: with all lines on trust
  size_t width;     // of a page for people; 0: PPI_PAGE_WIDTH
  uint64_t now_ns;  // real time, for the age of a log; 0: no age
  bool is_wide;     // names and columns are whole, lines however long
  bool is_ascii;    // our own words have ASCII only
  bool has_colour;
  bool is_flat;        // the tree: each name once
  long depth;          // the tree: levels; 0 or less: all
  const char *filter;  // the tree: a pattern of names; ranges around and inside
                       // stay; NULL: all
  const char *columns;  // the tree: "calls,self"; NULL: those that fit
  bool has_kernels;     // the tree: the launches in each; `top` counts them
  bool has_full_names;  // of kernels
  // Removes rows of a ppi_view that has been built; NULL: all stay.
  void (*trim)(void *view, void *trim_of);
  void *trim_of;
} ppi_report_options;

PPROF_END_C_
