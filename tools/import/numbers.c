// SPDX-License-Identifier: Apache-2.0
//
// Decimal arithmetic on digits: a double has no room for the nanoseconds of an
// epoch.
#include "import/numbers.h"

#include <string.h>

// More than any time has; further digits only move the exponent.
#define MAX_DIGITS 30

typedef struct decimal {
  bool is_negative;
  int num_digits;  // kept, without leading zeroes
  int exponent;    // of the last kept digit
  unsigned char digits[MAX_DIGITS];
} decimal;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static void take_digit(decimal *out, char c, bool is_fraction) {
  bool is_kept = out->num_digits < MAX_DIGITS;
  if (is_kept && (out->num_digits > 0 || c != '0'))
    out->digits[out->num_digits++] = (unsigned char)(c - '0');
  if (is_fraction && is_kept) out->exponent--;
  if (!is_fraction && !is_kept) out->exponent++;
}

// Answers how many bytes the number has; 0: none.
static size_t take_decimal(const char *text, size_t len, decimal *out) {
  size_t at = 0, num_digits = 0;
  *out = (decimal){0};
  if (at < len && (text[at] == '-' || text[at] == '+'))
    out->is_negative = text[at++] == '-';
  for (; at < len && is_digit(text[at]); num_digits++)
    take_digit(out, text[at++], false);
  if (at < len && text[at] == '.') {
    at++;
    for (; at < len && is_digit(text[at]); num_digits++)
      take_digit(out, text[at++], true);
  }
  if (num_digits == 0) return 0;
  if (at + 1 < len && (text[at] == 'e' || text[at] == 'E')) {
    size_t from = at + 1;
    bool is_negative = text[from] == '-';
    if (text[from] == '-' || text[from] == '+') from++;
    int exponent = 0;
    if (from < len && is_digit(text[from])) {
      for (; from < len && is_digit(text[from]); from++)
        if (exponent < 100000) exponent = exponent * 10 + (text[from] - '0');
      out->exponent += is_negative ? -exponent : exponent;
      at = from;
    }
  }
  return at;
}

// Microseconds as most are, and no more than 19 digits.
static bool plain_us(const char *text, size_t len, int64_t *out) {
  enum { MOST_DIGITS = 19, FRACTION = 3 };
  uint64_t value = 0;
  if (len <= FRACTION + 1 || len > MOST_DIGITS + 1) return false;
  size_t point = len - FRACTION - 1;
  if (text[point] != '.') return false;
  for (size_t at = 0; at < len; at += 1 + (at + 1 == point)) {
    if (!is_digit(text[at])) return false;
    value = value * 10 + (uint64_t)(text[at] - '0');
  }
  *out = (int64_t)value;
  return value <= (uint64_t)PPI_IMPORT_MAX_NS;
}

bool ppi_decimal_ns(const char *text, size_t len, int exponent, int64_t *out,
                    size_t *out_rest) {
  decimal number;
  if (exponent == 3 && !out_rest && plain_us(text, len, out)) return true;
  size_t used = take_decimal(text, len, &number);
  if (used == 0 || (!out_rest && used != len)) return false;
  if (out_rest) *out_rest = used;
  // Digit i stands for digits[i] * 10^(last + num - 1 - i) ns.
  int last = number.exponent + exponent;
  int64_t ns = 0;
  int at = 0;
  for (; at < number.num_digits && last + number.num_digits - 1 - at >= 0;
       at++) {
    if (ns > PPI_IMPORT_MAX_NS / 10) return false;
    ns = ns * 10 + number.digits[at];
  }
  for (; number.num_digits > 0 && last > 0; last--) {
    if (ns > PPI_IMPORT_MAX_NS / 10) return false;
    ns *= 10;
  }
  bool is_half = at < number.num_digits &&
                 last + number.num_digits - 1 - at == -1 &&
                 number.digits[at] >= 5;
  ns += is_half;
  if (ns > PPI_IMPORT_MAX_NS) return false;
  *out = number.is_negative ? -ns : ns;
  return true;
}

bool ppi_duration_ns(const char *text, size_t len, int64_t *out) {
  static const struct {
    const char *unit;
    int exponent;
  } units[] = {{"", 3}, {"us", 3}, {"ms", 6}, {"ns", 0}, {"s", 9}};
  decimal number;
  size_t at = take_decimal(text, len, &number);
  size_t digits = at;
  while (at < len && text[at] == ' ') at++;
  for (size_t i = 0; digits > 0 && i < sizeof units / sizeof *units; i++) {
    size_t unit_len = strlen(units[i].unit);
    if (len - at == unit_len && memcmp(text + at, units[i].unit, unit_len) == 0)
      return ppi_decimal_ns(text, digits, units[i].exponent, out, NULL);
  }
  return false;
}

bool ppi_integer(const char *text, size_t len, int64_t *out) {
  bool is_negative = len > 0 && text[0] == '-';
  size_t at = is_negative;
  uint64_t value = 0;
  if (at == len) return false;
  for (; at < len; at++) {
    if (!is_digit(text[at]) || value > (UINT64_C(1) << 63) / 10 - 1)
      return false;
    value = value * 10 + (uint64_t)(text[at] - '0');
  }
  *out = is_negative ? -(int64_t)value : (int64_t)value;
  return true;
}
