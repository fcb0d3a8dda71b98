// SPDX-License-Identifier: Apache-2.0
//
// Writes numbers without printf: a trace is mostly numbers, and printf would
// cost more than everything else together.
#include "file/digits.h"

#include <endian.h>
#include <string.h>

// The digits of a number below 10^8 as bytes, the first one lowest. It divides
// halves, then quarters, side by side. 10486 / 2^20 is close enough to a
// hundredth for four digits, 103 / 2^10 to a tenth for two.
static inline uint64_t eight_digits(uint32_t value) {
  uint64_t halves = value / 10000 | (uint64_t)(value % 10000) << 32;
  uint64_t hundreds = (halves * 10486 >> 20) & 0x0000007f0000007f;
  uint64_t quarters = hundreds | (halves - 100 * hundreds) << 16;
  uint64_t tens = (quarters * 103 >> 10) & 0x000f000f000f000f;
  return tens | (quarters - 10 * tens) << 8;
}

enum { TEN_TO_8 = 100000000 };
#define ASCII_ZEROES 0x3030303030303030u

static inline char *eight_at(char *at, uint32_t value) {
  uint64_t text = htole64(eight_digits(value) + ASCII_ZEROES);
  memcpy(at, &text, sizeof text);
  return at + sizeof text;
}

// Without the zeroes in front; it may overwrite eight bytes.
static inline char *short_at(char *at, uint32_t value) {
  uint64_t digits = eight_digits(value);
  // The last digit is there even if it is a zero.
  unsigned num_zeroes =
      (unsigned)__builtin_ctzll(digits | (uint64_t)1 << 56) / 8;
  uint64_t text = htole64((digits + ASCII_ZEROES) >> 8 * num_zeroes);
  memcpy(at, &text, sizeof text);
  return at + (sizeof text - num_zeroes);
}

static inline char *u64_at(char *at, uint64_t value) {
  if (value < TEN_TO_8) return short_at(at, (uint32_t)value);
  uint64_t high = value / TEN_TO_8;
  if (high < TEN_TO_8) {
    at = short_at(at, (uint32_t)high);
  } else {
    at = short_at(at, (uint32_t)(high / TEN_TO_8));
    at = eight_at(at, (uint32_t)(high % TEN_TO_8));
  }
  return eight_at(at, (uint32_t)(value % TEN_TO_8));
}

char *ppi_digits_u64(char *at, uint64_t value) {
  return u64_at(at, value);
}

// Eight digits without leading zeroes, with a point before the last three. At
// least one digit stands before the point.
static inline char *us_text_at(char *at, uint64_t digits, unsigned most) {
  unsigned num_zeroes =
      (unsigned)__builtin_ctzll(digits | (uint64_t)1 << 8 * most) / 8;
  uint64_t text = digits + ASCII_ZEROES;
  uint64_t whole = htole64(text >> 8 * num_zeroes);
  uint32_t fraction = htole32((uint32_t)(text >> 40));
  memcpy(at, &whole, sizeof whole);
  at += 5 - num_zeroes;
  at[0] = '.';
  memcpy(at + 1, &fraction, sizeof fraction);
  return at + 4;
}

char *ppi_digits_us(char *at, uint64_t ns) {
  uint64_t high = ns / TEN_TO_8;
  uint64_t digits = eight_digits((uint32_t)(ns - high * TEN_TO_8));
  if (high == 0) return us_text_at(at, digits, 4);
  return us_text_at(u64_at(at, high), digits, 0);
}
