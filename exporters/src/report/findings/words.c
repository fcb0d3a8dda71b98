// SPDX-License-Identifier: Apache-2.0
//
// Writes figures with three digits and cuts names between letters.
#include "report/findings/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "event/event.h"

static bool is_inside_letter(char byte) {
  return ((unsigned char)byte & 0xc0) == 0x80;
}

static size_t letter_size(char byte) {
  unsigned char first = (unsigned char)byte;
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
}

static void put(char *to, size_t size, const char *format, va_list arguments) {
  int len = vsnprintf(to, size, format, arguments);
  if (len < 0) *to = 0;
  if (len < 0 || (size_t)len < size || size < 2) return;
  // The last letter may be cut.
  size_t last = size - 2;
  while (last && is_inside_letter(to[last])) last--;
  if (last + letter_size(to[last]) > size - 1) to[last] = 0;
}

void ppi_words_put(char *to, size_t size, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  put(to, size, format, arguments);
  va_end(arguments);
}

void ppi_words_add(char *to, size_t size, const char *format, ...) {
  size_t len = strlen(to);
  va_list arguments;
  va_start(arguments, format);
  put(to + len, size - len, format, arguments);
  va_end(arguments);
}

static void put_digits(char *to, size_t size, double value) {
  enum { MOST = 15 };
  double size_of = value < 0 ? -value : value;
  int decimals = size_of >= 99.95 ? 0 : size_of >= 9.995 ? 1 : 2;
  double at = size_of < 0.0995 ? 100 * size_of : 100;
  for (; at > 0 && at < 99.95 && decimals < MOST; at *= 10) decimals++;
  ppi_words_put(to, size, "%.*f", value == 0 ? 0 : decimals, value);
}

enum { NUM_UNITS = 4 };

typedef struct unit {
  double size;
  const char *name;
} unit;

// The greatest first.
static ppi_words in_units(const unit *units, double value) {
  size_t i = 0;
  ppi_words words, digits;
  while (i < NUM_UNITS - 1 && value < 0.9995 * units[i].size) i++;
  put_digits(digits.text, sizeof digits.text, value / units[i].size);
  PPI_SAY(words.text, "%.32s %s", digits.text, units[i].name);
  return words;
}

ppi_words ppi_words_time(double ns) {
  static const unit units[NUM_UNITS] = {
      {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  return in_units(units, ns);
}

ppi_words ppi_words_bytes(double bytes) {
  static const unit units[NUM_UNITS] = {
      {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}};
  return in_units(units, bytes);
}

ppi_words ppi_words_rate(double rate, const char *unit_name) {
  static const unit units[NUM_UNITS] = {
      {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  ppi_words words = in_units(units, rate);
  PPI_ADD(words.text, "%.16s", unit_name);
  return words;
}

ppi_words ppi_words_percent(double part, double whole) {
  ppi_words words;
  double percent = whole > 0 ? 100 * part / whole : 0;
  int decimals = percent >= 9.95 ? 0 : percent >= 0.995 ? 1 : 2;
  PPI_SAY(words.text, "%.*f %%", percent > 0 ? decimals : 0, percent);
  return words;
}

ppi_words ppi_words_number(double number) {
  ppi_words words;
  put_digits(words.text, sizeof words.text, number);
  return words;
}

ppi_words ppi_words_name(const char *name) {
  enum { MOST = 40, HEAD = 18, TAIL = 19 };
  ppi_words words;
  if (!*name) name = PPI_NO_NAME;
  // Sessions and PyTorch's traces use these names.
  if (strcmp(name, "ProfileStep") == 0 || strcmp(name, "ProfilerStep*") == 0)
    name = "the step";
  size_t len = strlen(name), head = HEAD, tail = TAIL;
  if (len <= MOST) {
    PPI_SAY(words.text, "%s", name);
    return words;
  }
  while (head && is_inside_letter(name[head])) head--;
  while (tail && is_inside_letter(name[len - tail])) tail--;
  PPI_SAY(words.text, "%.*s...%s", (int)head, name, name + len - tail);
  return words;
}
