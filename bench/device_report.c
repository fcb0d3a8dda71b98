// SPDX-License-Identifier: Apache-2.0
//
// Keeps rows of results and prints their table and their JSON.
#include "device_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static void require(bool fits) {
  if (fits) return;
  fprintf(stderr, "device: more results than there is room for\n");
  exit(1);
}

void bench_fact_add(bench_report *report, const char *key, const char *text) {
  require(report->num_facts < BENCH_MAX_FACTS);
  bench_fact *fact = &report->facts[report->num_facts++];
  snprintf(fact->key, sizeof fact->key, "%s", key);
  snprintf(fact->text, sizeof fact->text, "%s", text);
}

bench_row *bench_row_add(bench_report *report, const char *part, const char *id,
                         const char *what) {
  require(report->num_rows < BENCH_MAX_ROWS);
  bench_row *row = &report->rows[report->num_rows++];
  *row = (bench_row){.unit = "",
                     .control = NAN,
                     .value = NAN,
                     .figure_unit = "",
                     .figure = NAN,
                     .spread = NAN};
  snprintf(row->part, sizeof row->part, "%s", part);
  snprintf(row->id, sizeof row->id, "%s", id);
  snprintf(row->what, sizeof row->what, "%s", what);
  return row;
}

void bench_row_figure(bench_row *row, const char *name, double value) {
  require(row->num_figures < BENCH_MAX_FIGURES);
  bench_figure *figure = &row->figures[row->num_figures++];
  snprintf(figure->name, sizeof figure->name, "%s", name);
  figure->value = value;
}

void bench_row_series(bench_row *row, const char *name, const char *unit,
                      const bench_values *values) {
  require(row->num_series < BENCH_MAX_SERIES);
  bench_series_make(&row->series[row->num_series++], name, unit, values->at,
                    values->num);
}

void bench_row_judge(bench_row *row, const char *bound, bool met) {
  snprintf(row->bound, sizeof row->bound, "%s", bound);
  row->verdict = met ? BENCH_MET : BENCH_MISSED;
}

static const char *verdict_text(bench_verdict verdict) {
  static const char *const texts[] = {"", "met", "NOT MET"};
  return texts[verdict];
}

static void print_cell(FILE *out, int width, double value, const char *unit) {
  char text[48];
  if (isnan(value))
    snprintf(text, sizeof text, "-");
  else
    snprintf(text, sizeof text, "%.4g%s%s", value, *unit ? " " : "", unit);
  fprintf(out, " %*s", width, text);
}

void bench_report_print(const bench_report *report, FILE *out) {
  for (size_t i = 0; i < report->num_facts; i++)
    fprintf(out, "%s: %s\n", report->facts[i].key, report->facts[i].text);
  fprintf(out, "\n%-46s %12s %12s %12s %10s  %-34s %s\n", "", "control",
          "pprof", "figure", "A/A", "bound", "");
  for (size_t i = 0; i < report->num_rows; i++) {
    const bench_row *row = &report->rows[i];
    fprintf(out, "%-46s", row->what);
    print_cell(out, 12, row->control, row->unit);
    print_cell(out, 12, row->value, row->unit);
    print_cell(out, 12, row->figure, row->figure_unit);
    print_cell(out, 10, row->spread, "");
    fprintf(out, "  %-34s %s\n", row->bound, verdict_text(row->verdict));
    for (size_t k = 0; k < row->num_figures; k++)
      fprintf(out, "    %-40s %.6g\n", row->figures[k].name,
              row->figures[k].value);
  }
}

static void write_text(FILE *out, const char *text) {
  fputc('"', out);
  for (const char *at = text; *at; at++) {
    if (*at == '"' || *at == '\\')
      fprintf(out, "\\%c", *at);
    else if ((unsigned char)*at < 0x20)
      fprintf(out, "\\u%04x", (unsigned char)*at);
    else
      fputc(*at, out);
  }
  fputc('"', out);
}

static void write_key(FILE *out, const char *before, const char *key) {
  fputs(before, out);
  write_text(out, key);
  fputs(": ", out);
}

// JSON knows neither infinity nor NAN.
static void write_number(FILE *out, double value, int digits) {
  if (isfinite(value))
    fprintf(out, "%.*g", digits, value);
  else
    fputs("null", out);
}

static void write_numbers(FILE *out, const double *values, size_t num) {
  fputc('[', out);
  for (size_t i = 0; i < num; i++) {
    if (i) fputc(i % 16 ? ',' : '\n', out);
    write_number(out, values[i], 5);
    if (i % 16 == 15 && i + 1 < num) fputc(',', out);
  }
  fputc(']', out);
}

static void write_histogram(FILE *out, const bench_series *series) {
  write_key(out, ", ", "quantiles");
  fputc('{', out);
  for (size_t i = 0; i < BENCH_QUANTILES; i++) {
    char name[16];
    snprintf(name, sizeof name, "%g", bench_quantiles[i]);
    write_key(out, i ? ", " : "", name);
    write_number(out, series->quantiles[i], 6);
  }
  write_key(out, "}, ", "lowest");
  write_number(out, series->lowest, 6);
  write_key(out, ", ", "highest");
  write_number(out, series->highest, 6);
  fprintf(out, ", \"below\": %" PRIu64 ", \"above\": %" PRIu64 ", \"bins\": [",
          series->below, series->above);
  for (size_t i = 0; i < BENCH_BINS; i++)
    fprintf(out, "%s%" PRIu64, i ? "," : "", series->bins[i]);
  fputc(']', out);
}

static void write_series(FILE *out, const bench_series *series) {
  write_key(out, "{", "name");
  write_text(out, series->name);
  write_key(out, ", ", "unit");
  write_text(out, series->unit);
  fprintf(out, ", \"num\": %zu", series->num);
  if (series->samples) {
    write_key(out, ", ", "samples");
    write_numbers(out, series->samples, series->num);
  } else {
    write_histogram(out, series);
  }
  fputc('}', out);
}

static void write_row_numbers(FILE *out, const bench_row *row) {
  const struct {
    const char *key;
    double value;
  } numbers[] = {{"control", row->control},
                 {"value", row->value},
                 {"figure", row->figure},
                 {"spread", row->spread}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    write_key(out, ", ", numbers[i].key);
    write_number(out, numbers[i].value, 8);
  }
}

static void write_row(FILE *out, const bench_row *row) {
  static const char *const verdicts[] = {"none", "met", "not met"};
  const struct {
    const char *key, *text;
  } texts[] = {{"part", row->part},
               {"id", row->id},
               {"what", row->what},
               {"bound", row->bound},
               {"verdict", verdicts[row->verdict]},
               {"unit", row->unit},
               {"figure_unit", row->figure_unit}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    write_key(out, i ? ", " : "{", texts[i].key);
    write_text(out, texts[i].text);
  }
  write_row_numbers(out, row);
  write_key(out, ",\n  ", "figures");
  fputc('{', out);
  for (size_t i = 0; i < row->num_figures; i++) {
    write_key(out, i ? ", " : "", row->figures[i].name);
    write_number(out, row->figures[i].value, 8);
  }
  write_key(out, "},\n  ", "series");
  fputc('[', out);
  for (size_t i = 0; i < row->num_series; i++) {
    if (i) fputs(",\n    ", out);
    write_series(out, &row->series[i]);
  }
  fputs("]}", out);
}

bool bench_report_write_json(const bench_report *report, FILE *out) {
  fputs("{\"schema\": \"pprof.bench.device/1\"", out);
  for (size_t i = 0; i < report->num_facts; i++) {
    write_key(out, ",\n", report->facts[i].key);
    write_text(out, report->facts[i].text);
  }
  write_key(out, ",\n", "rows");
  fputc('[', out);
  for (size_t i = 0; i < report->num_rows; i++) {
    fputs(i ? ",\n" : "\n", out);
    write_row(out, &report->rows[i]);
  }
  fputs("]}\n", out);
  return fflush(out) == 0 && !ferror(out);
}

void bench_report_clear(bench_report *report) {
  for (size_t i = 0; i < report->num_rows; i++)
    for (size_t k = 0; k < report->rows[i].num_series; k++)
      bench_series_clear(&report->rows[i].series[k]);
  *report = (bench_report){0};
}
