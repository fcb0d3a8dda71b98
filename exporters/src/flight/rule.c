// SPDX-License-Identifier: Apache-2.0
//
// Parses rules in one pass over the text. The first error is reported with its
// place.
#include "flight/rule.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct parser {
  const char *text, *at;
  const char *bad;  // the place of the error; NULL: none
  char *why;
  size_t size;
} parser;

static bool fail(parser *rule, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail(parser *rule, const char *at, const char *format, ...) {
  if (rule->bad) return false;
  rule->bad = at;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(rule->why, rule->size, format, arguments);
  va_end(arguments);
  return false;
}

static void skip_space(parser *rule) {
  while (*rule->at == ' ' || *rule->at == '\t') rule->at++;
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.';
}

// The length of the word here, as a message quotes it.
static int word_len(const parser *rule) {
  int len = 0;
  while (is_word(rule->at[len]) && len < 32) len++;
  return len;
}

static bool expect(parser *rule, char c, const char *where) {
  skip_space(rule);
  if (*rule->at != c)
    return fail(rule, rule->at, "'%c' is expected %s", c, where);
  rule->at++;
  return true;
}

static bool parse_name(parser *rule, char out[PPI_RULE_NAME_MAX]) {
  skip_space(rule);
  const char *begin = rule->at;
  if (*rule->at != '"')
    return fail(rule, begin, "a name in double quotes is expected here");
  size_t len = 0;
  for (rule->at++; *rule->at != '"'; rule->at++) {
    if (*rule->at == '\\' && (rule->at[1] == '"' || rule->at[1] == '\\'))
      rule->at++;
    if (!*rule->at) return fail(rule, begin, "the name's '\"' is not closed");
    if (len == PPI_RULE_NAME_MAX - 1)
      return fail(rule, begin, "the name has more than %d bytes",
                  PPI_RULE_NAME_MAX - 1);
    out[len++] = *rule->at;
  }
  rule->at++;
  if (len == 0) return fail(rule, begin, "the name is empty");
  return true;
}

// Reads digits and a fraction as a number in units of 1 / scale: 1.5 with scale
// 1000 is 1500. False when that overflows or a digit would be lost.
static bool parse_decimal(const char **at, uint64_t scale, uint64_t *out) {
  const char *from = *at;
  uint64_t value = 0;
  for (; isdigit((unsigned char)**at); ++*at)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, (uint64_t)(**at - '0'), &value))
      return false;
  if (*at == from || __builtin_mul_overflow(value, scale, &value)) return false;
  if (**at == '.') {
    from = ++*at;
    for (; isdigit((unsigned char)**at); ++*at) {
      if (scale % 10 != 0 && **at != '0') return false;
      scale /= 10;
      if (__builtin_add_overflow(value, (uint64_t)(**at - '0') * scale, &value))
        return false;
    }
    if (*at == from) return false;
  }
  *out = value;
  return true;
}

static const struct unit {
  const char *name;
  uint64_t ns;
} units[] = {{"ns", 1},         {"us", 1000},         {"ms", 1000000},
             {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000}};

static bool parse_duration(parser *rule, uint64_t *out) {
  skip_space(rule);
  const char *begin = rule->at, *unit = begin;
  while (isdigit((unsigned char)*unit) || *unit == '.') unit++;
  if (unit == begin || !isdigit((unsigned char)*begin))
    return fail(rule, begin, "a duration such as 40ms is expected here%s",
                *begin == '-' ? ", not a negative number" : "");
  rule->at = unit;
  int len = word_len(rule);
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    if (strlen(units[i].name) != (size_t)len ||
        memcmp(units[i].name, unit, (size_t)len) != 0)
      continue;
    rule->at = unit + len;
    const char *at = begin;
    if (!parse_decimal(&at, units[i].ns, out) || at != unit)
      return fail(rule, begin, "the duration is too large or too precise");
    if (*out == 0) return fail(rule, begin, "the duration is 0");
    return true;
  }
  if (len == 0)
    return fail(rule, unit, "a unit is missing: ns, us, ms, s, min or h");
  return fail(rule, unit, "'%.*s' is no unit: ns, us, ms, s, min or h", len,
              unit);
}

// "p99", "p99.9": a percentage.
static bool parse_quantile(parser *rule, int len, uint32_t *out) {
  const char *at = rule->at + 1;
  uint64_t ppm;
  if (!parse_decimal(&at, 10000, &ppm) || at != rule->at + len || ppm == 0 ||
      ppm >= 1000000)
    return fail(rule, rule->at, "'%.*s' is no quantile: p50, p99, p99.9", len,
                rule->at);
  *out = (uint32_t)ppm;
  rule->at += len;
  return true;
}

static bool parse_subject(parser *rule, ppi_rule *out) {
  skip_space(rule);
  int len = word_len(rule);
  if (len == 5 && memcmp(rule->at, "stage", 5) == 0) {
    out->kind = PPI_RULE_STAGE;
    rule->at += len;
    return parse_name(rule, out->name);
  }
  if (len == 7 && memcmp(rule->at, "request", 7) == 0) {
    out->kind = PPI_RULE_REQUEST;
    rule->at += len;
    return true;
  }
  if (len > 1 && *rule->at == 'p' && isdigit((unsigned char)rule->at[1])) {
    out->kind = PPI_RULE_QUANTILE;
    return parse_quantile(rule, len, &out->quantile_ppm) &&
           expect(rule, '(', "after the quantile") &&
           parse_name(rule, out->name) &&
           expect(rule, ',', "between name and duration") &&
           parse_duration(rule, &out->over_ns) &&
           expect(rule, ')', "after the duration");
  }
  if (len == 0)
    return fail(rule, rule->at,
                "stage \"NAME\", request or p99(\"NAME\", 10s) is expected");
  return fail(rule, rule->at,
              "'%.*s' is not known: stage \"NAME\", request or "
              "p99(\"NAME\", 10s)",
              len, rule->at);
}

static bool parse_rule(parser *rule, ppi_rule *out) {
  if (!parse_subject(rule, out) || !expect(rule, '>', "before the limit"))
    return false;
  out->or_equal = *rule->at == '=';
  if (out->or_equal) rule->at++;
  if (!parse_duration(rule, &out->limit_ns)) return false;
  skip_space(rule);
  if (*rule->at) return fail(rule, rule->at, "the rule has ended here");
  return true;
}

pprof_status ppi_rule_parse(const char *text, ppi_rule *out, size_t *out_column,
                            char *why, size_t size) {
  parser rule = {.text = text, .at = text, .why = why, .size = size};
  ppi_rule parsed = {.kind = PPI_RULE_STAGE};
  if (strlen(text) >= PPI_RULE_TEXT_MAX)
    fail(&rule, text, "the rule has more than %d bytes", PPI_RULE_TEXT_MAX - 1);
  else if (parse_rule(&rule, &parsed))
    memcpy(parsed.text, text, strlen(text) + 1);
  if (rule.bad) {
    *out_column = (size_t)(rule.bad - text) + 1;
    return PPROF_STATUS_INVALID;
  }
  *out = parsed;
  return PPROF_STATUS_OK;
}
