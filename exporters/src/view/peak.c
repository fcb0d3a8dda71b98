// SPDX-License-Identifier: Apache-2.0
//
// Parses the peaks of the option, and finds the peak of a stage.
#include "view/peak.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "names/glob.h"

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
