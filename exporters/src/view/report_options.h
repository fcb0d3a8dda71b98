// SPDX-License-Identifier: Apache-2.0
//
// The options of a report: units of time, peaks of devices, costs by models,
// the form and order of views.
#pragma once

#include "file/text.h"
#include "report/figures/use.h"

PPROF_BEGIN_C_

typedef enum ppi_time_unit {
  PPI_TIME_MS = 0,
  PPI_TIME_NS,
  PPI_TIME_US,
  PPI_TIME_S
} ppi_time_unit;

void ppi_page_time(ppi_page *page, double ns, ppi_time_unit unit);
const char *ppi_time_unit_name(ppi_time_unit unit);
double ppi_time_unit_ns(ppi_time_unit unit);
// ppi_time_unit_of is the largest one in which `ns` is 1 or more.
ppi_time_unit ppi_time_unit_of(double ns);
// ppi_page_three writes a value with three significant digits; 0 is "0".
void ppi_page_three(ppi_page *page, double value);
// ppi_page_rate writes a small one with three digits, too: 0.0000926.
void ppi_page_rate(ppi_page *page, double value);
void ppi_page_three_time(ppi_page *page, double ns, ppi_time_unit unit);
// The same with the unit that fits: "1.52 s".
void ppi_page_fitting_time(ppi_page *page, double ns);

#define PPI_MAX_PEAKS 16

typedef struct ppi_peak {
  char type[16];   // "bf16"
  char glob[256];  // of the stages that it is for; "*": all others
  double flops;    // a second
} ppi_peak;

typedef struct ppi_peaks {
  ppi_peak items[PPI_MAX_PEAKS];
  size_t num;
} ppi_peaks;

// ppi_peaks_parse reads "bf16=989T@model*,f32=67T": a data type, its peak in
// FLOP/s and the stages it is for. Suffixes k, M, G, T and P are each a
// thousand times the one before.
//
// Errors: CONFIG; `error` says what is wrong.
pprof_status ppi_peaks_parse(const char *text, ppi_peaks *out,
                             pprof_error *error);
// ppi_peaks_find answers the first peak for a stage of this name: of `type`
// (NULL: unknown), else of any type. NULL: none.
const ppi_peak *ppi_peaks_find(const ppi_peaks *peaks, const char *name,
                               const char *type);
// ppi_peaks_memory answers the peak of type "bytes": of memory, in bytes a
// second, which ppi_peaks_find leaves out. NULL: none.
const ppi_peak *ppi_peaks_memory(const ppi_peaks *peaks, const char *name);
// ppi_peak_bytes is the size of a value of a type, by the number of bits that
// its name ends in. Other names: 4.
double ppi_peak_bytes(const char *type);

#define PPI_MAX_COSTS 16

typedef struct ppi_stage_cost {
  char glob[256];               // of the stages that it is for
  char model[128];              // the file's name
  char type[16];                // data type, as in ppi_peak; "": several
  double flops, bytes, params;  // of one call
  bool at_least;                // not all of it is known
} ppi_stage_cost;

typedef struct ppi_stage_costs {
  ppi_stage_cost items[PPI_MAX_COSTS];
  size_t num;
} ppi_stage_costs;

// The first cost for a stage of this name; NULL: none.
const ppi_stage_cost *ppi_stage_cost_find(const ppi_stage_costs *costs,
                                          const char *name);

// A device's peaks: dense, of a data type, and of its memory; 0: unknown.
typedef struct ppi_roof {
  double flops, bytes;  // a second
} ppi_roof;
// ppi_roof_of answers the published peaks of a device of this name.
ppi_roof ppi_roof_of(const char *device, const char *type);

// ppi_roofline_put writes a few lines on a stage under the roof; `cost` is that
// of a call. The lines have the MFU of the stage's own time and of the wall,
// the bound, and the distance to it.
void ppi_roofline_put(ppi_page *page, const ppi_stage_cost *cost,
                      const ppi_roofline *roofline);

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
