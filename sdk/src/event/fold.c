// SPDX-License-Identifier: Apache-2.0
//
// Finds the shape of a name: the name without its numbers.
#include "event/fold.h"

#include <string.h>

#include "base/base.h"

#define MIN_HEX 8u
#define MAX_NESTING 8u

enum {
  DIGIT = 1,
  LETTER = 2,
  HEX = 4,    // a to f, A to F
  LIST = 8,   // what may stand in a bracketed list, digits aside
  HEAD = 16,  // what ends the head of a name
  WORD = DIGIT | LETTER
};

// Bytes of UTF-8 are letters.
static const unsigned char kinds[256] = {
    ['0' ... '9'] = DIGIT | HEAD,
    ['['] = HEAD,
    [0] = HEAD,
    ['a' ... 'f'] = LETTER | HEX,
    ['g' ... 'z'] = LETTER,
    ['A' ... 'F'] = LETTER | HEX,
    ['G' ... 'Z'] = LETTER,
    [0x80 ... 0xff] = LETTER,
    [' '] = LIST,
    [','] = LIST,
    ['.'] = LIST,
    ['-'] = LIST,
    [':'] = LIST,
    ['*'] = LIST,
    ['('] = LIST,
    [')'] = LIST,
    [';'] = LIST,
};

static bool is(const char *at, int kind) {
  return (kinds[(unsigned char)*at] & kind) != 0;
}

static size_t run_of(const char *at, const char *end, int kind) {
  const char *from = at;
  while (at < end && is(at, kind)) at++;
  return (size_t)(at - from);
}

// ---- numbers ----

static inline void begin_numbers(pprof_numbers *numbers) {
  numbers->size = sizeof *numbers;
  numbers->num = 0;
  numbers->full_name = PPROF_NAME_IN_FULL;
}

// `is_plain`: a `{}` of its own, and written as numbers are.
static inline void add_number(pprof_numbers *numbers, uint64_t value,
                              bool is_plain) {
  bool fits = numbers->num < PPROF_MOST_NUMBERS;
  if (!fits || !is_plain || value == UINT64_MAX)
    numbers->full_name = PPROF_NAME_TOO_MUCH;
  if (fits) numbers->values[numbers->num++] = value;
}

static uint64_t long_decimal(const char *digits, size_t num) {
  uint64_t value = 0;
  for (size_t i = 0; i < num; i++) {
    unsigned digit = (unsigned)(digits[i] - '0');
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, digit, &value))
      return UINT64_MAX;
  }
  return value;
}

static inline uint64_t decimal(const char *digits, size_t num) {
  uint64_t value = 0;
  if (PPI_UNLIKELY(num > 19)) return long_decimal(digits, num);
  for (size_t i = 0; i < num; i++)
    value = value * 10 + (uint64_t)(digits[i] - '0');
  return value;
}

static inline void add_decimal(pprof_numbers *numbers, const char *digits,
                               size_t num) {
  add_number(numbers, decimal(digits, num), num == 1 || *digits != '0');
}

static void add_list(pprof_numbers *numbers, const char *at, size_t len) {
  numbers->full_name = PPROF_NAME_TOO_MUCH;
  for (const char *end = at + len; at < end; at++) {
    size_t digits = run_of(at, end, DIGIT);
    if (digits) add_decimal(numbers, at, digits);
    at += digits ? digits - 1 : 0;
  }
}

static void add_hex(pprof_numbers *numbers, const char *digits, size_t num) {
  uint64_t value = num > 16 ? UINT64_MAX : 0;
  for (size_t i = 0; i < num && num <= 16; i++) {
    unsigned char digit = (unsigned char)digits[i];
    value =
        value << 4 | (digit <= '9' ? digit - (unsigned)'0' : (digit & 7u) + 9u);
  }
  add_number(numbers, value, false);
}

// ---- shapes ----

static bool put(ppi_fold *fold, const char *text, size_t len) {
  if (len >= PPI_FOLD_TEXT - fold->len) return false;
  memcpy(fold->text + fold->len, text, len);
  fold->len += len;
  return true;
}

static bool put_hole(ppi_fold *fold) {
  fold->has_free = true;
  return put(fold, "{}", 2);
}

// 8-4-4-4-12 hexadecimal digits that are no part of a word.
static size_t uuid_at(const char *at, const char *end) {
  static const unsigned char groups[] = {8, 4, 4, 4, 12};
  const char *from = at;
  for (size_t i = 0; i < sizeof groups; i++) {
    if (run_of(at, end, DIGIT | HEX) != groups[i] ||
        run_of(at, end, WORD) != groups[i])
      return 0;
    at += groups[i];
    if (i + 1 == sizeof groups) break;
    if (at == end || *at++ != '-') return 0;
  }
  return (size_t)(at - from);
}

// How many digits at the end of a word are its hexadecimal number; 0: it is
// none.
static size_t hex_at(const char *at, size_t word) {
  if (word > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') &&
      run_of(at + 2, at + word, DIGIT | HEX) == word - 2)
    return word - 2;
  size_t digits = 0;
  if (word < MIN_HEX || run_of(at, at + word, DIGIT | HEX) != word) return 0;
  for (size_t i = 0; i < word; i++) digits += is(at + i, DIGIT);
  return digits && digits < word ? word : 0;
}

// A bracketed list of numbers, its brackets included; 0: it is none.
static size_t list_at(const char *at, const char *end) {
  const char *from = at;
  size_t nesting = 0, digits = 0;
  for (; at < end; at++) {
    digits += is(at, DIGIT);
    if (*at == '[' && ++nesting > MAX_NESTING) return 0;
    if (*at == ']' && --nesting == 0)
      return digits ? (size_t)(at + 1 - from) : 0;
    if (*at != '[' && *at != ']' && !is(at, DIGIT | LIST)) return 0;
  }
  return 0;
}

// Letters and digits in turn.
static bool put_mixed(ppi_fold *fold, const char *at, size_t word,
                      ppi_fold_width width) {
  for (const char *end = at + word; at < end;) {
    size_t digits = run_of(at, end, DIGIT), letters = 0;
    if (digits) fold->has_glued = true;
    if (digits && width == PPI_FOLD_ALL) {
      add_decimal(&fold->numbers, at, digits);
      if (!put(fold, "{}", 2)) return false;
    } else if (digits && !put(fold, at, digits)) {
      return false;
    }
    at += digits;
    letters = run_of(at, end, LETTER);
    if (!put(fold, at, letters)) return false;
    at += letters;
  }
  return true;
}

// The part that begins at a letter or digit; *at moves past it.
static bool put_word(ppi_fold *fold, const char **at, const char *end,
                     ppi_fold_width width) {
  const char *from = *at;
  size_t word = run_of(from, end, WORD), digits = run_of(from, end, DIGIT);
  size_t uuid = word == 8 ? uuid_at(from, end) : 0;
  size_t hex = digits == word ? 0 : hex_at(from, word);
  *at += uuid ? uuid : word;
  if (uuid)
    add_number(&fold->numbers, UINT64_MAX, false);
  else if (digits == word)
    add_decimal(&fold->numbers, from, digits);
  else if (hex)
    add_hex(&fold->numbers, from + (word - hex), hex);
  else
    return put_mixed(fold, from, word, width);
  return put_hole(fold);
}

// The begin of XLA's values: "NAME:#module=jit_f,program_id=1988#"; the end if
// there are none.
static const char *values_of(const char *name, const char *end) {
  const char *tail = memchr(name, '#', (size_t)(end - name));
  bool has_values = tail && end - tail > 1 && end[-1] == '#' &&
                    memchr(tail, '=', (size_t)(end - tail));
  return has_values ? tail : end;
}

// The length of a value with words; 0: no value, or a number alone, which is
// free.
static size_t value_at(const char *at, const char *values, const char *end) {
  size_t len = 0;
  if (at <= values || at[-1] != '=' || list_at(at, end)) return 0;
  while (at + len < end && at[len] != ',' && at[len] != '#') len++;
  return run_of(at, at + len, DIGIT) == len ? 0 : len;
}

bool ppi_fold_name(const char *name, size_t len, ppi_fold_width width,
                   ppi_fold *out) {
  const char *at = name, *end = name + len, *values = values_of(name, end);
  out->has_free = out->has_glued = false;
  out->len = 0;
  begin_numbers(&out->numbers);
  while (at < end) {
    size_t list = 0, value = value_at(at, values, end);
    bool fits;
    out->has_glued |= value != 0;
    if (value && width == PPI_FOLD_ALL) {
      add_number(&out->numbers, UINT64_MAX, false);
      fits = put(out, "{}", 2);
      at += value;
    } else if (is(at, WORD)) {
      fits = put_word(out, &at, end, width);
    } else if (*at == '[' && (list = list_at(at, end)) != 0) {
      add_list(&out->numbers, at, list);
      fits = put_hole(out);
      at += list;
    } else if (*at == '{' && end - at > 1 && at[1] == '}') {
      add_number(&out->numbers, UINT64_MAX, false);
      fits = put(out, at, 2);
      at += 2;
    } else {
      fits = put(out, at++, 1);
    }
    if (!fits) return false;
  }
  out->text[out->len] = 0;
  return out->has_free || (width == PPI_FOLD_ALL && out->has_glued);
}

// ---- a quick look ----

size_t ppi_fold_head(const char *name) {
  const char *at = name;
  while (!is(at, HEAD)) at++;
  return (size_t)(at - name);
}

// Beside a letter a number would belong to a word, beside a `-` to a UUID.
static bool is_bound(char beside) {
  return is(&beside, WORD) || beside == '-';
}

bool ppi_fold_split(const char *shape, ppi_fold_pieces *out) {
  const char *at = shape, *end = shape + strlen(shape);
  *out = (ppi_fold_pieces){.num = 0};
  if (memchr(shape, '[', (size_t)(end - shape))) return false;
  for (;; at += 2) {
    const char *hole = strstr(at, "{}");
    const char *until = hole ? hole : end;
    if (out->num == PPI_FOLD_PIECES) return false;
    // Neighbouring `{}` are beyond the quick comparison.
    if (hole && out->num && hole == at) return false;
    if (hole && ((hole > shape && is_bound(hole[-1])) || is_bound(hole[2])))
      out->lists |= 1u << out->num;
    out->len[out->num++] = (uint16_t)(until - at);
    if (!hole) return true;
    at = hole;
  }
}

static uint64_t load(const char *at, size_t size) {
  uint64_t word = 0;
  memcpy(&word, at, size);
  return word;
}

// No call: pieces are short.
static bool are_same(const char *a, const char *b, size_t len) {
  for (; len > 8; a += 8, b += 8, len -= 8)
    if (load(a, 8) != load(b, 8)) return false;
  if (len == 8) return load(a, 8) == load(b, 8);
  if (len >= 4)
    return load(a, 4) == load(b, 4) &&
           load(a + len - 4, 4) == load(b + len - 4, 4);
  for (; len; a++, b++, len--)
    if (*a != *b) return false;
  return true;
}

static inline size_t take_hole(const char *at, const char *end, bool is_list,
                               pprof_numbers *numbers) {
  if (at < end && *at == '[') {
    size_t len = list_at(at, end);
    add_list(numbers, at, len);
    return len;
  }
  size_t digits = is_list ? 0 : run_of(at, end, DIGIT);
  if (digits) add_decimal(numbers, at, digits);
  return digits;
}

bool ppi_fold_fits(const char *shape, const ppi_fold_pieces *pieces,
                   const char *name, size_t len, pprof_numbers *out) {
  const char *at = name, *end = name + len;
  begin_numbers(out);
  for (uint32_t i = 0; i < pieces->num; i++) {
    size_t piece = pieces->len[i];
    if ((size_t)(end - at) < piece || !are_same(at, shape, piece)) return false;
    at += piece;
    shape += piece + 2;
    if (i + 1 == pieces->num) break;
    size_t hole = take_hole(at, end, pieces->lists >> i & 1, out);
    if (!hole) return false;
    at += hole;
  }
  return at == end;
}
