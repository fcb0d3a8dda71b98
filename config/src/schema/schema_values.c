// SPDX-License-Identifier: Apache-2.0
//
// Parses single values of a configuration: numbers with units, nearest names,
// the syntax of paths. Pure functions.
#include <string.h>
#include <time.h>

#include "schema/schema.h"

typedef struct unit {
  const char *name;
  uint64_t factor;
} unit;

static const unit size_units[] = {
    {"TiB", 1ull << 40}, {"GiB", 1ull << 30},   {"MiB", 1ull << 20},
    {"KiB", 1ull << 10}, {"TB", 1000000000000}, {"GB", 1000000000},
    {"MB", 1000000},     {"kB", 1000},          {"B", 1},
};

static const unit duration_units[] = {
    {"h", 3600000000}, {"min", 60000000}, {"s", 1000000},
    {"ms", 1000},      {"us", 1},
};

#define LEN(array) (sizeof(array) / sizeof *(array))

// Digits, then the text after them.
static const char *parse_digits(const char *text, uint64_t *out) {
  uint64_t value = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9'; at++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value))
      return NULL;
  *out = value;
  return at > text ? at : NULL;
}

bool ppi_parse_count(const char *text, uint64_t *out) {
  uint64_t value;
  const char *end = parse_digits(text, &value);
  if (!end || *end) return false;
  *out = value;
  return true;
}

bool ppi_parse_bool(const char *text, uint64_t *out) {
  static const char *const words[] = {"false", "true", "off",
                                      "on",    "no",   "yes"};
  for (size_t i = 0; i < LEN(words); i++) {
    if (strcmp(text, words[i]) != 0) continue;
    *out = i % 2;
    return true;
  }
  return false;
}

static bool parse_unit(const char *text, const unit *units, size_t num_units,
                       uint64_t *out) {
  uint64_t value;
  const char *end = parse_digits(text, &value);
  for (size_t i = 0; end && i < num_units; i++) {
    if (strcmp(end, units[i].name) != 0) continue;
    if (__builtin_mul_overflow(value, units[i].factor, &value)) return false;
    *out = value;
    return true;
  }
  return false;
}

bool ppi_parse_size(const char *text, uint64_t *out_bytes) {
  return parse_unit(text, size_units, LEN(size_units), out_bytes);
}

bool ppi_parse_duration(const char *text, uint64_t *out_us) {
  return parse_unit(text, duration_units, LEN(duration_units), out_us);
}

static void write_unit(uint64_t value, const unit *units, size_t num_units,
                       FILE *out) {
  size_t i = 0;
  while (i + 1 < num_units && (value == 0 || value % units[i].factor)) i++;
  fprintf(out, "%llu%s", (unsigned long long)(value / units[i].factor),
          units[i].name);
}

void ppi_write_number(ppi_key_type type, uint64_t value, FILE *out) {
  if (type == PPI_KEY_SIZE)
    write_unit(value, size_units, LEN(size_units), out);
  else if (type == PPI_KEY_DURATION)
    write_unit(value, duration_units, LEN(duration_units), out);
  else
    fprintf(out, "%llu", (unsigned long long)value);
}

void ppi_write_units(bool of_size, FILE *out) {
  const unit *units = of_size ? size_units : duration_units;
  size_t num = of_size ? LEN(size_units) : LEN(duration_units);
  for (size_t i = 0; i < num; i++)
    fprintf(out, "%s%s", i > 0 ? "|" : "", units[i].name);
}

// ".25" of a second; it may be absent.
static bool parse_fraction(const char **at, uint64_t *out_ns) {
  *out_ns = 0;
  if (**at != '.') return true;
  uint64_t weight = 100000000;
  for (++*at; **at >= '0' && **at <= '9'; ++*at, weight /= 10) {
    if (weight == 0) return false;
    *out_ns += (uint64_t)(**at - '0') * weight;
  }
  return weight < 100000000;
}

bool ppi_parse_time(const char *text, uint64_t *out_ns) {
  static const char format[] = "%Y-%m-%dT%H:%M:%S";
  struct tm parts = {0};
  char again[32];
  uint64_t fraction;
  const char *end = strptime(text, format, &parts);
  time_t seconds = end ? timegm(&parts) : 0;
  // A day that no month has, or another form, reads back otherwise. Nanoseconds
  // since 1970 fit in 63 bits until 2262.
  if (seconds <= 0 || parts.tm_year > 2261 - 1900) return false;
  size_t len = strftime(again, sizeof again, format, &parts);
  if (end != text + len || memcmp(text, again, len) != 0 ||
      !parse_fraction(&end, &fraction) || strcmp(end, "Z") != 0)
    return false;
  *out_ns = (uint64_t)seconds * 1000000000 + fraction;
  return true;
}

void ppi_write_time(uint64_t ns, FILE *out) {
  time_t seconds = (time_t)(ns / 1000000000);
  struct tm parts;
  char text[32] = "";
  if (gmtime_r(&seconds, &parts))
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  fputs(text, out);
  if (ns % 1000000000) fprintf(out, ".%09u", (unsigned)(ns % 1000000000));
  fputc('Z', out);
}

#define LONGEST_NAME 32

size_t ppi_edits(const char *a, size_t a_len, const char *b, size_t b_len) {
  if (a_len > LONGEST_NAME || b_len > LONGEST_NAME) return LONGEST_NAME;
  size_t rows[3][LONGEST_NAME + 1];
  for (size_t j = 0; j <= b_len; j++) rows[0][j] = j;
  for (size_t i = 1; i <= a_len; i++) {
    size_t *row = rows[i % 3], *above = rows[(i + 2) % 3];
    const size_t *two_above = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= b_len; j++) {
      size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
      if (above[j] + 1 < best) best = above[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
          two_above[j - 2] + 1 < best)
        best = two_above[j - 2] + 1;
      row[j] = best;
    }
  }
  return rows[a_len % 3][b_len];
}

const char *ppi_nearest(const char *text, const char *const *candidates,
                        size_t num) {
  const char *nearest = NULL;
  size_t len = strlen(text), least = len / 3 + 2;
  for (size_t i = 0; i < num; i++) {
    size_t other_len = strlen(candidates[i]);
    size_t edits = ppi_edits(text, len, candidates[i], other_len);
    if (edits >= least || edits >= other_len) continue;
    least = edits;
    nearest = candidates[i];
  }
  return nearest;
}

const char *ppi_check_template(const char *text, bool of_window) {
  for (const char *at = strchr(text, '%'); at; at = strchr(at, '%')) {
    at++;
    if (*at && (strchr("hprt%", *at) || (*at == 'w' && of_window))) {
      at++;
    } else if (at[0] == 'q' && at[1] == '{') {
      const char *end = strchr(at, '}');
      if (!end) return "%q{ without its }";
      if (end == at + 2) return "%q{} without a name";
      at = end + 1;
    } else if (of_window) {
      return "only %h, %p, %r, %t, %w, %q{NAME} and %% may follow a %";
    } else {
      return "only %h, %p, %r, %t, %q{NAME} and %% may follow a %";
    }
  }
  return *text ? NULL : "an empty path";
}
