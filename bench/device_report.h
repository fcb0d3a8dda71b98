// SPDX-License-Identifier: Apache-2.0
//
// The rows of the device benchmark: a figure, its control, its bound; printed
// as a table, written as JSON (schema pprof.bench.device/1).
#ifndef BENCH_DEVICE_REPORT_H_
#define BENCH_DEVICE_REPORT_H_

#include <stdio.h>

#include "device_stats.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  BENCH_MAX_ROWS = 64,
  BENCH_MAX_FIGURES = 24,
  BENCH_MAX_SERIES = 8,
  BENCH_MAX_FACTS = 16
};

typedef enum bench_verdict {
  BENCH_NO_BOUND = 0,
  BENCH_MET,
  BENCH_MISSED
} bench_verdict;

typedef struct bench_figure {
  char name[40];
  double value;
} bench_figure;

// bench_row is one measurement. The bound limits `figure`; if that is a ratio,
// it was made of `value` and `control`. A figure that does not apply is NAN.
typedef struct bench_row {
  char part[16], id[32], what[96];
  char bound[80];         // in words; "" = none
  const char *unit;       // of control and value
  double control, value;  // medians
  const char *figure_unit;
  double figure,
      spread;  // `spread`: the same figure of control against control
  bench_verdict verdict;
  bench_figure figures[BENCH_MAX_FIGURES];
  size_t num_figures;
  bench_series series[BENCH_MAX_SERIES];
  size_t num_series;
} bench_row;

typedef struct bench_fact {
  char key[24], text[160];
} bench_fact;

typedef struct bench_report {
  bench_fact facts[BENCH_MAX_FACTS];  // of the machine and the run
  size_t num_facts;
  bench_row rows[BENCH_MAX_ROWS];
  size_t num_rows;
} bench_report;

void bench_fact_add(bench_report *report, const char *key, const char *text);
// The row's strings are copied, units must be static. Ends the program when
// there are too many rows, figures or series.
bench_row *bench_row_add(bench_report *report, const char *part, const char *id,
                         const char *what);
void bench_row_figure(bench_row *row, const char *name, double value);
void bench_row_series(bench_row *row, const char *name, const char *unit,
                      const bench_values *values);
// The bound in words, and whether it was met.
void bench_row_judge(bench_row *row, const char *bound, bool met);

void bench_report_print(const bench_report *report, FILE *out);
// False when `out` cannot be written.
bool bench_report_write_json(const bench_report *report, FILE *out);
void bench_report_clear(bench_report *report);

#ifdef __cplusplus
}
#endif

#endif  // BENCH_DEVICE_REPORT_H_
