// SPDX-License-Identifier: Apache-2.0
//
// Writes times in units, reads the peaks of devices, and says what a call costs
// by a model.
#include "view/report_options.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "names/glob.h"

// ---- units of time ----

const char *ppi_time_unit_name(ppi_time_unit unit) {
  static const char *const names[] = {"ms", "ns", "us", "s"};
  return names[unit];
}

static const double scales[] = {[PPI_TIME_MS] = 1e6,
                                [PPI_TIME_NS] = 1,
                                [PPI_TIME_US] = 1e3,
                                [PPI_TIME_S] = 1e9};

double ppi_time_unit_ns(ppi_time_unit unit) {
  return scales[unit];
}

void ppi_page_time(ppi_page *page, double ns, ppi_time_unit unit) {
  ppi_page_fixed(page, ns / scales[unit], 2);
}

ppi_time_unit ppi_time_unit_of(double ns) {
  if (ns >= 1e9) return PPI_TIME_S;
  if (ns >= 1e6) return PPI_TIME_MS;
  return ns >= 1e3 ? PPI_TIME_US : PPI_TIME_NS;
}

void ppi_page_three(ppi_page *page, double value) {
  int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value > 0 ? 2 : 0;
  ppi_page_fixed(page, value, decimals);
}

void ppi_page_rate(ppi_page *page, double value) {
  if (value < 0.0995)
    ppi_page_fixed(page, value, value > 0 ? ppi_page_decimals(value, 2) : 0);
  else
    ppi_page_three(page, value);
}

void ppi_page_three_time(ppi_page *page, double ns, ppi_time_unit unit) {
  ppi_page_three(page, ns / scales[unit]);
}

void ppi_page_fitting_time(ppi_page *page, double ns) {
  ppi_time_unit unit = ppi_time_unit_of(ns);
  ppi_page_three_time(page, ns, unit);
  ppi_page_format(page, " %s", ppi_time_unit_name(unit));
}

// ---- peaks ----

static bool take_number(const char *text, size_t len, double *out) {
  static const char suffixes[] = "kMGTP";
  char digits[32];
  if (len == 0 || len >= sizeof digits || !isdigit((unsigned char)text[0]))
    return false;
  memcpy(digits, text, len);
  digits[len] = '\0';
  char *end;
  double value = strtod(digits, &end);
  const char *suffix = *end ? strchr(suffixes, *end) : NULL;
  if (suffix) {
    value *= pow(1000, (double)(suffix - suffixes + 1));
    end++;
  }
  *out = value;
  return *end == '\0' && isfinite(value) && value > 0;
}

static bool take_text(char *out, size_t size, const char *from, size_t len) {
  if (len == 0 || len >= size) return false;
  memcpy(out, from, len);
  out[len] = '\0';
  return true;
}

// TYPE=FLOPS[@STAGES]
static bool take_peak(const char *text, size_t len, ppi_peak *out) {
  const char *equals = memchr(text, '=', len);
  if (!equals) return false;
  const char *value = equals + 1, *end = text + len;
  const char *at = memchr(value, '@', (size_t)(end - value));
  const char *value_end = at ? at : end;
  *out = (ppi_peak){.glob = "*"};
  if (at &&
      !take_text(out->glob, sizeof out->glob, at + 1, (size_t)(end - at - 1)))
    return false;
  return take_text(out->type, sizeof out->type, text,
                   (size_t)(equals - text)) &&
         take_number(value, (size_t)(value_end - value), &out->flops);
}

pprof_status ppi_peaks_parse(const char *text, ppi_peaks *out,
                             pprof_error *error) {
  out->num = 0;
  for (;;) {
    size_t len = strcspn(text, ",");
    if (out->num == PPI_MAX_PEAKS)
      return ppi_fail(error, PPROF_STATUS_CONFIG, "more than %d peaks",
                      PPI_MAX_PEAKS);
    if (!take_peak(text, len, &out->items[out->num]))
      return ppi_fail(error, PPROF_STATUS_CONFIG,
                      "'%.*s' is no peak such as bf16=989T or bf16=989T@model*",
                      (int)PPI_MIN(len, 200u), text);
    out->num++;
    if (text[len] == '\0') return PPROF_STATUS_OK;
    text += len + 1;
  }
}

static const char of_memory[] = "bytes";

// Finds the peak of one type; `type` NULL: of any type but memory.
static const ppi_peak *find(const ppi_peaks *peaks, const char *name,
                            const char *type) {
  for (size_t i = 0; peaks && i < peaks->num; i++) {
    const ppi_peak *peak = &peaks->items[i];
    bool is_it = type ? strcmp(peak->type, type) == 0
                      : strcmp(peak->type, of_memory) != 0;
    if (is_it && ppi_glob_match(peak->glob, name)) return peak;
  }
  return NULL;
}

const ppi_peak *ppi_peaks_find(const ppi_peaks *peaks, const char *name,
                               const char *type) {
  const ppi_peak *peak = type && *type ? find(peaks, name, type) : NULL;
  return peak ? peak : find(peaks, name, NULL);
}

const ppi_peak *ppi_peaks_memory(const ppi_peaks *peaks, const char *name) {
  return find(peaks, name, of_memory);
}

double ppi_peak_bytes(const char *type) {
  const double usual = 4;
  const char *digits = type + strlen(type);
  while (digits > type && isdigit((unsigned char)digits[-1])) digits--;
  long bits = strtol(digits, NULL, 10);
  bool is_width = bits == 4 || bits == 8 || bits == 16 || bits == 32 ||
                  bits == 64 || bits == 128;
  return is_width ? (double)bits / 8 : usual;
}

// ---- costs by models ----

const ppi_stage_cost *ppi_stage_cost_find(const ppi_stage_costs *costs,
                                          const char *name) {
  for (size_t i = 0; costs && i < costs->num; i++)
    if (ppi_glob_match(costs->items[i].glob, name)) return &costs->items[i];
  return NULL;
}

// Peaks as the makers publish them: dense, in TFLOP/s; memory in TB/s. 0: not
// known here, which is better than wrong. A longer name stands before the names
// that it contains. Sources: docs/cost.md.
static const struct {
  const char *name;
  double f32, tf32, f16, fp8, int8, bytes;
} devices[] = {
    {"A100-SXM4-40GB", 19.5, 156, 312, 0, 624, 1.555},
    {"A100-PCIE-40GB", 19.5, 156, 312, 0, 624, 1.555},
    {"A100 80GB PCIe", 19.5, 156, 312, 0, 624, 1.935},
    {"A100-SXM4-80GB", 19.5, 156, 312, 0, 624, 2.039},
    {"H200 NVL", 0, 0, 0, 0, 0, 0},  // slower than the other
    {"H200", 67, 495, 989, 1979, 1979, 4.8},
    {"H100 80GB HBM3", 67, 495, 989, 1979, 1979, 3.35},
    {"L40S", 91.6, 183, 362, 733, 0, 0.864},
    {"GB200", 0, 0, 0, 0, 0, 0},  // faster than the other
    {"B200", 0, 0, 2250, 4500, 4500, 8},
    {"MI300X", 0, 0, 1307, 0, 0, 5.3},
};

ppi_roof ppi_roof_of(const char *device, const char *type) {
  ppi_roof roof = {0, 0};
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    if (!strstr(device, devices[i].name)) continue;
    double flops = strcmp(type, "f32") == 0    ? devices[i].f32
                   : strcmp(type, "tf32") == 0 ? devices[i].tf32
                   : strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0
                       ? devices[i].f16
                   : strcmp(type, "fp8") == 0  ? devices[i].fp8
                   : strcmp(type, "int8") == 0 ? devices[i].int8
                                               : 0;
    roof.flops = flops * 1e12;
    roof.bytes = devices[i].bytes * 1e12;
    break;
  }
  return roof;
}

static void put_number(ppi_page *page, double value, const char *unit) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  size_t i = 0;
  for (; value >= 999.5 && i + 1 < sizeof prefixes / sizeof *prefixes; i++)
    value /= 1000;
  ppi_page_three(page, value);
  ppi_page_format(page, " %s%s", prefixes[i], unit);
}

static void put_bound(ppi_page *page, const ppi_roofline_reported *reported) {
  bool by_memory = reported->intensity < reported->ridge;
  ppi_page_text(page, by_memory ? "  Memory-bound: " : "  Compute-bound: ");
  ppi_page_three(page, by_memory ? reported->ridge / reported->intensity
                                 : reported->intensity / reported->ridge);
  ppi_page_format(page, " times %s the ridge of ",
                  by_memory ? "below" : "above");
  ppi_page_three(page, reported->ridge);
  ppi_page_text(page, " FLOP/B; it reaches ");
  ppi_page_three(page, reported->reach);
  ppi_page_text(page, " % of what that allows.\n");
}

static void put_call(ppi_page *page, const ppi_stage_cost *cost,
                     const char *stage) {
  ppi_page_visible(page, stage);
  ppi_page_text(page, ", by ");
  ppi_page_visible(page, cost->model);
  ppi_page_text(page, cost->at_least ? ": at least " : ": ");
  put_number(page, cost->flops, "FLOP");
  ppi_page_format(page, " %s%sa call, ", cost->type, *cost->type ? " " : "");
  put_number(page, cost->bytes, "B");
  ppi_page_text(page, " if nothing is fused, ");
  ppi_page_three(page, cost->bytes > 0 ? cost->flops / cost->bytes : 0);
  ppi_page_text(page, " FLOP/B.\n");
}

void ppi_roofline_put(ppi_page *page, const ppi_stage_cost *cost,
                      const ppi_roofline *roofline) {
  const ppi_roofline_reported reported = ppi_roofline_tell(roofline);
  put_call(page, cost, roofline->stage);
  if (!(reported.rate > 0)) return;
  ppi_page_text(page, "  ");
  put_number(page, reported.rate, "FLOP/s of its own time");
  if (!(roofline->peak_flops > 0)) {
    ppi_page_text(page, "; no peak is known, --peak TYPE=FLOPS says it.\n");
    return;
  }
  ppi_page_text(page, ": MFU ");
  ppi_page_three(page, reported.mfu);
  ppi_page_text(page, " %, of the wall ");
  ppi_page_three(page, reported.wall_mfu);
  ppi_page_text(page, " %, of ");
  put_number(page, roofline->peak_flops, "FLOP/s.\n");
  if (reported.reach > 0)
    put_bound(page, &reported);
  else
    ppi_page_text(page,
                  "  Its roofline needs --peak bytes=B, bytes a second.\n");
}
