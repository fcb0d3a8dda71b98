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

void ppi_write_size(uint64_t bytes, FILE *out) {
  write_unit(bytes, size_units, LEN(size_units), out);
}

void ppi_write_duration(uint64_t us, FILE *out) {
  write_unit(us, duration_units, LEN(duration_units), out);
}

void ppi_write_units(bool of_size, FILE *out) {
  const unit *units = of_size ? size_units : duration_units;
  size_t num = of_size ? LEN(size_units) : LEN(duration_units);
  for (size_t i = 0; i < num; i++)
    fprintf(out, "%s%s", i > 0 ? "|" : "", units[i].name);
}

// `num` digits, no sign, no more.
static bool parse_field(const char **at, unsigned num, char end, int *out) {
  *out = 0;
  for (unsigned i = 0; i < num; i++, ++*at) {
    if (**at < '0' || **at > '9') return false;
    *out = *out * 10 + (**at - '0');
  }
  if (!end) return true;
  if (**at != end) return false;
  ++*at;
  return true;
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
  struct tm parts = {0};
  uint64_t fraction;
  bool good = parse_field(&text, 4, '-', &parts.tm_year) &&
              parse_field(&text, 2, '-', &parts.tm_mon) &&
              parse_field(&text, 2, 'T', &parts.tm_mday) &&
              parse_field(&text, 2, ':', &parts.tm_hour) &&
              parse_field(&text, 2, ':', &parts.tm_min) &&
              parse_field(&text, 2, 0, &parts.tm_sec) &&
              parse_fraction(&text, &fraction) && strcmp(text, "Z") == 0;
  // Nanoseconds since 1970 fit in 63 bits until 2262. The 31st of February
  // becomes another day, which reveals the mistake.
  if (!good || parts.tm_year < 1970 || parts.tm_year > 2261) return false;
  parts.tm_year -= 1900;
  parts.tm_mon--;
  struct tm asked = parts;
  time_t seconds = timegm(&parts);
  if (seconds <= 0 || parts.tm_mon != asked.tm_mon ||
      parts.tm_mday != asked.tm_mday || parts.tm_hour != asked.tm_hour ||
      parts.tm_min != asked.tm_min || parts.tm_sec != asked.tm_sec)
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
