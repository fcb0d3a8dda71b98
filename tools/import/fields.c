// SPDX-License-Identifier: Apache-2.0
//
// Takes an event's members: short ones whole, the name cut, args one by one.
#include "import/fields.h"

#include <stdio.h>

#include "base/base.h"
#include "json/hash.h"

enum { NAME = PPI_FIELD_NAME, ARGS = PPI_FIELD_ARGS, ID2 = PPI_FIELD_ID2 };

static const struct key {
  const char *text;
  uint8_t len;
} field_keys[PPI_NUM_KEYS] =
    {
#define KEY_(name, key) {key, sizeof key - 1},
        PPI_FIELD_LIST(KEY_)
#undef KEY_
            [NAME] = {"name", 4},
        [ARGS] = {"args", 4}, [ID2] = {"id2", 3}},
  arg_keys[] = {
#define KEY_(name, key, is_kept) {key, sizeof key - 1},
      PPI_ARG_LIST(KEY_)
#undef KEY_
};
static const bool arg_is_kept[] = {
#define KEPT_(name, key, is_kept) is_kept,
    PPI_ARG_LIST(KEPT_)
#undef KEPT_
};

// Kept members of args are written as JSON again.

static void put_escaped(ppi_fields *fields, const char *text, size_t len) {
  size_t from = 0;
  for (size_t i = 0; i < len && fields->keeps_arg; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    char escaped[8];
    int used = c == '"' || c == '\\'
                   ? snprintf(escaped, sizeof escaped, "\\%c", c)
                   : snprintf(escaped, sizeof escaped, "\\u%04x", c);
    ppi_attributes_put(fields, text + from, i - from);
    if (fields->keeps_arg) ppi_attributes_put(fields, escaped, (size_t)used);
    from = i + 1;
  }
  if (fields->keeps_arg) ppi_attributes_put(fields, text + from, len - from);
}

static void put_comma(ppi_fields *fields) {
  size_t len = fields->attributes_len;
  char last = len > 0 ? fields->attributes[len - 1] : '{';
  if (len == 0 || last == '[' || last == '{' || last == ':') return;
  ppi_attributes_put(fields, ",", 1);
}

// `is_open_text`: a part of this text is already written.
static void put_text(ppi_fields *fields, const ppi_json_token *token) {
  if (!fields->is_open_text) {
    put_comma(fields);
    if (fields->keeps_arg) ppi_attributes_put(fields, "\"", 1);
  }
  put_escaped(fields, token->text, token->len);
  fields->is_open_text = token->kind == PPI_JSON_STRING_PART;
  if (!fields->is_open_text && fields->keeps_arg)
    ppi_attributes_put(fields, "\"", 1);
}

static void take_attribute(ppi_fields *fields, const ppi_json_token *token) {
  static const char *const words[] = {
      [PPI_JSON_OBJECT] = "{",  [PPI_JSON_OBJECT_END] = "}",
      [PPI_JSON_ARRAY] = "[",   [PPI_JSON_ARRAY_END] = "]",
      [PPI_JSON_TRUE] = "true", [PPI_JSON_FALSE] = "false",
      [PPI_JSON_NULL] = "null"};
  switch (token->kind) {
    case PPI_JSON_STRING_PART:
    case PPI_JSON_STRING:
      put_text(fields, token);
      return;
    case PPI_JSON_KEY:
      fields->is_open_text = false;
      put_text(fields,
               &(ppi_json_token){PPI_JSON_STRING, token->text, token->len, 0});
      if (fields->keeps_arg) ppi_attributes_put(fields, ":", 1);
      return;
    case PPI_JSON_OBJECT_END:
    case PPI_JSON_ARRAY_END:
      ppi_attributes_put(fields, words[token->kind], 1);
      return;
    default:
      put_comma(fields);
  }
  if (!fields->keeps_arg) return;
  if (token->kind == PPI_JSON_NUMBER)
    ppi_attributes_put(fields, token->text, token->len);
  else
    ppi_attributes_put(fields, words[token->kind], strlen(words[token->kind]));
}

void ppi_attributes_add(ppi_fields *fields, const char *key, const char *text,
                        size_t len) {
  fields->keeps_arg = true;
  fields->member_at = fields->attributes_len;
  take_attribute(fields, &(ppi_json_token){PPI_JSON_KEY, key, strlen(key), 0});
  if (fields->keeps_arg)
    take_attribute(fields, &(ppi_json_token){PPI_JSON_STRING, text, len, 0});
}

static size_t bucket_of(const char *text, size_t len) {
  size_t hash = len * 37 + (unsigned char)text[0] * 11 +
                (unsigned char)text[len / 2] * 5 + (unsigned char)text[len - 1];
  return hash % PPI_ARG_BUCKETS;
}

static void fill_buckets(uint8_t *buckets, const struct key *keys, int num) {
  for (int i = 0; i < num; i++) {
    size_t at = bucket_of(keys[i].text, keys[i].len);
    while (buckets[at]) at = (at + 1) % PPI_ARG_BUCKETS;
    buckets[at] = (uint8_t)(i + 1);
  }
}

void ppi_fields_init(ppi_fields *fields) {
  PPI_STATIC_ASSERT(PPI_NUM_ARGS <= 64, "a bit each, and room in the buckets");
  fill_buckets(fields->key_buckets, field_keys, PPI_NUM_KEYS);
  fill_buckets(fields->arg_buckets, arg_keys, PPI_NUM_ARGS);
}

static int find_in(const uint8_t *buckets, const struct key *keys,
                   const char *text, size_t len) {
  if (len == 0) return -1;
  size_t at = bucket_of(text, len);
  for (; buckets[at]; at = (at + 1) % PPI_ARG_BUCKETS) {
    const struct key *key = &keys[buckets[at] - 1];
    if (key->len == len && memcmp(key->text, text, len) == 0)
      return buckets[at] - 1;
  }
  return -1;
}

static bool is_of_id2(int field) {
  return field == PPI_FIELD_ID2_LOCAL || field == PPI_FIELD_ID2_GLOBAL;
}

int ppi_fields_find(const ppi_fields *fields, bool in_args, const char *key,
                    size_t len) {
  if (in_args) return find_in(fields->arg_buckets, arg_keys, key, len);
  int found = find_in(fields->key_buckets, field_keys, key, len);
  return is_of_id2(found) ? -1 : found;
}

bool ppi_fields_keeps(const ppi_fields *fields, int arg) {
  return !fields->is_own && (arg < 0 || arg_is_kept[arg]);
}

size_t ppi_utf8_cut(const char *text, size_t len) {
  size_t at = len;
  while (at > 0 && len - at < 3 && ((unsigned char)text[at] & 0xc0) == 0x80)
    at--;
  return ((unsigned char)text[at] & 0xc0) == 0x80 ? len : at;
}

void ppi_fields_begin(ppi_fields *fields) {
  fields->name_len = 0;
  fields->has_name = fields->name_cut = false;
  fields->is_empty = true;
  for (int i = 0; i < PPI_NUM_FIELDS; i++) {
    fields->fields[i].kind = PPI_SCALAR_NONE;
    fields->fields[i].len = 0;
  }
  fields->args_set = 0;
  fields->num_numbers = fields->num_numbers_cut = fields->num_flows = 0;
  fields->numbers_of_name.num = 0;
  fields->num_nulls = fields->num_other = 0;
  fields->attributes_len = 0;
  fields->attributes_cut = false;
  fields->depth = 1;
  fields->field = fields->arg = -1;
  fields->is_in_args = fields->is_in_id2 = false;
}

// ---- numbers ----

typedef struct decimal {
  bool is_negative;
  int exponent;
  unsigned __int128 digits;
} decimal;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Takes digits into a number of 30; further ones only move the exponent.
static size_t take_digits(const char *text, size_t len, bool is_fraction,
                          decimal *out) {
  const unsigned __int128 most =
      (unsigned __int128)1000000000000000 * 1000000000000000;  // 10^30
  size_t at = 0;
  for (; at < len && is_digit(text[at]); at++) {
    bool is_kept = out->digits < most / 10;
    if (is_kept) out->digits = out->digits * 10 + (unsigned)(text[at] - '0');
    out->exponent += !is_kept - is_fraction;
  }
  return at;
}

// Answers how many bytes the number has; 0: none.
static size_t take_decimal(const char *text, size_t len, decimal *out) {
  *out = (decimal){.is_negative = len > 0 && text[0] == '-'};
  size_t at = len > 0 && (text[0] == '-' || text[0] == '+');
  size_t num = take_digits(text + at, len - at, false, out);
  at += num;
  if (at < len && text[at] == '.') {
    size_t more = take_digits(text + at + 1, len - at - 1, true, out);
    at += 1 + more;
    num += more;
  }
  if (num == 0) return 0;
  if (at + 1 >= len || (text[at] != 'e' && text[at] != 'E')) return at;
  size_t from = at + 1 + (text[at + 1] == '-' || text[at + 1] == '+');
  int exponent = 0;
  if (from == len || !is_digit(text[from])) return at;
  for (at = from; at < len && is_digit(text[at]); at++)
    if (exponent < 100000) exponent = exponent * 10 + (text[at] - '0');
  out->exponent += text[from - 1] == '-' ? -exponent : exponent;
  return at;
}

// The common form of microseconds: three decimals, at most 19 digits.
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
  bool is_half = false;
  for (exponent += number.exponent; exponent < 0; exponent++) {
    is_half = number.digits % 10 >= 5;
    number.digits /= 10;
    if (!number.digits && !is_half) break;
  }
  number.digits += is_half;
  for (; exponent > 0 && number.digits; exponent--)
    if ((number.digits *= 10) > PPI_IMPORT_MAX_NS) return false;
  if (number.digits > PPI_IMPORT_MAX_NS) return false;
  *out = (int64_t)number.digits;
  if (number.is_negative) *out = -*out;
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

// Reads decimal digits and nothing else, up to 2^64 - 1.
static bool read_digits(const char *text, size_t len, uint64_t *out) {
  *out = 0;
  for (size_t i = 0; i < len; i++)
    if (!is_digit(text[i]) || __builtin_mul_overflow(*out, 10u, out) ||
        __builtin_add_overflow(*out, (uint64_t)(text[i] - '0'), out))
      return false;
  return len > 0;
}

bool ppi_integer(const char *text, size_t len, int64_t *out) {
  bool is_negative = len > 0 && text[0] == '-';
  uint64_t value;
  if (!read_digits(text + is_negative, len - is_negative, &value) ||
      value > INT64_MAX)
    return false;
  *out = is_negative ? -(int64_t)value : (int64_t)value;
  return true;
}

// ---- values ----

static void add_text(ppi_scalar *scalar, const ppi_json_token *token) {
  size_t room = PPI_MAX_SCALAR - scalar->len;
  size_t len = token->len < room ? token->len : room;
  memcpy(scalar->text + scalar->len, token->text, len);
  scalar->len = (uint16_t)(scalar->len + len);
  scalar->text[scalar->len] = '\0';
}

static void set_scalar(ppi_scalar *scalar, const ppi_json_token *token) {
  if (token->kind == PPI_JSON_STRING || token->kind == PPI_JSON_STRING_PART) {
    // Appends a part to the parts before it. The second text of a repeated key
    // is appended, too; no value is the right one then.
    if (scalar->kind != PPI_SCALAR_TEXT) scalar->len = 0;
    scalar->kind = PPI_SCALAR_TEXT;
    add_text(scalar, token);
    return;
  }
  scalar->len = 0;
  scalar->text[0] = '\0';
  scalar->kind = PPI_SCALAR_OTHER;
  if (token->kind != PPI_JSON_NUMBER) return;
  scalar->kind = PPI_SCALAR_NUMBER;
  scalar->number = token->number;
  add_text(scalar, token);
}

// A zero would end the name for later readers.
static void add_name(ppi_fields *fields, const ppi_json_token *token) {
  if (token->kind != PPI_JSON_STRING && token->kind != PPI_JSON_STRING_PART &&
      token->kind != PPI_JSON_NUMBER)
    return;
  fields->has_name = true;
  if (fields->name_cut) return;
  size_t room = PPI_IMPORT_MAX_NAME - fields->name_len;
  size_t len = token->len;
  bool is_cut = len > room;
  char *at = fields->name + fields->name_len;
  if (is_cut) len = room;
  memcpy(at, token->text, len);
  for (char *zero; (zero = memchr(at, '\0', len)) != NULL;) *zero = ' ';
  fields->name_len += len;
  if (!is_cut) return;
  fields->name_cut = true;
  // The byte behind the limit decides whether the cut splits a character.
  fields->name[PPI_IMPORT_MAX_NAME] = token->text[len];
  fields->name_len = ppi_utf8_cut(fields->name, PPI_IMPORT_MAX_NAME);
}

static void add_number(ppi_fields *fields, const ppi_json_token *token) {
  if (fields->num_numbers == PPI_MAX_NUMBERS) {
    fields->num_numbers_cut++;
    return;
  }
  ppi_number *number = &fields->numbers[fields->num_numbers];
  number->key = fields->number_keys[fields->num_numbers++];
  number->own = 0;
  number->value = token->kind == PPI_JSON_TRUE ? 1 : token->number;
}

static void add_flow(ppi_fields *fields, const ppi_json_token *token) {
  uint64_t flow;
  bool is_text = token->kind == PPI_JSON_STRING;
  if ((token->kind != PPI_JSON_NUMBER && !is_text) ||
      fields->num_flows == PPI_MAX_EVENT_FLOWS)
    return;
  if (!read_digits(token->text, token->len, &flow))
    flow = ppi_hash_bytes(3, token->text, token->len);
  if (flow) fields->flows[fields->num_flows++] = flow;
}

static void add_number_of_name(ppi_fields *fields,
                               const ppi_json_token *token) {
  pprof_numbers *numbers = &fields->numbers_of_name;
  int64_t number;
  if (numbers->num == PPROF_MOST_NUMBERS) return;
  bool fits = token->kind == PPI_JSON_NUMBER &&
              ppi_integer(token->text, token->len, &number) && number >= 0;
  numbers->values[numbers->num++] = fits ? (uint64_t)number : UINT64_MAX;
}

void ppi_fields_element(ppi_fields *fields, const ppi_json_token *token) {
  if (fields->arg == PPI_ARG_FLOWS)
    add_flow(fields, token);
  else
    add_number_of_name(fields, token);
}

// ---- args ----

static void begin_arg(ppi_fields *fields, const ppi_json_token *token) {
  fields->arg = ppi_fields_find(fields, true, token->text, token->len);
  fields->keeps_arg = ppi_fields_keeps(fields, fields->arg);
  if (fields->num_numbers < PPI_MAX_NUMBERS) {
    char *key = fields->number_keys[fields->num_numbers];
    size_t len = token->len < 63 ? token->len : 63;
    memcpy(key, token->text, len);
    key[len] = '\0';
  }
  // A repeated key drops the value before it.
  if (fields->arg >= 0) {
    fields->args[fields->arg].kind = PPI_SCALAR_NONE;
    fields->args[fields->arg].len = 0;
    fields->args_set |= UINT64_C(1) << fields->arg;
  }
  fields->member_at = fields->attributes_len;
  if (fields->keeps_arg) take_attribute(fields, token);
}

static bool opens(ppi_json_kind kind) {
  return kind == PPI_JSON_OBJECT || kind == PPI_JSON_ARRAY;
}

static bool closes(ppi_json_kind kind) {
  return kind == PPI_JSON_OBJECT_END || kind == PPI_JSON_ARRAY_END;
}

// The args object has depth 2.
static void take_in_args(ppi_fields *fields, const ppi_json_token *token) {
  if (closes(token->kind) && fields->depth == 1) {
    fields->is_in_args = false;
    return;
  }
  if (token->kind == PPI_JSON_KEY && fields->depth == 2) {
    begin_arg(fields, token);
    return;
  }
  bool is_direct = fields->depth == 2 && !closes(token->kind);
  if (is_direct && (token->kind == PPI_JSON_NUMBER ||
                    (fields->is_own && token->kind == PPI_JSON_TRUE)))
    add_number(fields, token);
  fields->num_nulls += is_direct && token->kind == PPI_JSON_NULL;
  fields->num_other += is_direct && token->kind != PPI_JSON_NUMBER &&
                       token->kind != PPI_JSON_NULL &&
                       token->kind != PPI_JSON_STRING_PART;
  if (is_direct && fields->arg >= 0)
    set_scalar(&fields->args[fields->arg], token);
  bool is_list = fields->arg == PPI_ARG_FLOWS ||
                 (fields->arg == PPI_ARG_NUMBERS && fields->is_own);
  if (is_list && fields->depth == 3 && !opens(token->kind))
    ppi_fields_element(fields, token);
  if (fields->keeps_arg) take_attribute(fields, token);
}

// ---- the event ----

static void take_key(ppi_fields *fields, const ppi_json_token *token) {
  int found = ppi_fields_find(fields, false, token->text, token->len);
  fields->is_empty = false;
  fields->field = found;
  if (fields->field == NAME) {
    fields->name_len = 0;
    fields->has_name = fields->name_cut = false;
  } else if (fields->field >= 0 && fields->field < NAME) {
    fields->fields[found].kind = PPI_SCALAR_NONE;
    fields->fields[found].len = 0;
  }
}

static void take_direct(ppi_fields *fields, const ppi_json_token *token) {
  if (token->kind == PPI_JSON_KEY)
    take_key(fields, token);
  else if (fields->field == NAME)
    add_name(fields, token);
  else if (fields->field >= 0 && fields->field < NAME)
    set_scalar(&fields->fields[fields->field], token);
}

void ppi_fields_put(ppi_fields *fields, int key, const ppi_json_token *value) {
  int arg = key - PPI_NUM_KEYS;
  fields->is_empty = false;
  fields->field = key;
  if (arg < 0) {
    take_direct(fields, value);
    return;
  }
  fields->args_set |= UINT64_C(1) << arg;
  fields->args[arg].kind = PPI_SCALAR_NONE;
  set_scalar(&fields->args[arg], value);
}

static void take_id2(ppi_fields *fields, const ppi_json_token *token) {
  if (closes(token->kind)) {
    fields->is_in_id2 = fields->depth > 1;
  } else if (token->kind == PPI_JSON_KEY) {
    int found =
        find_in(fields->key_buckets, field_keys, token->text, token->len);
    fields->field = is_of_id2(found) ? found : -1;
  } else if (fields->depth == 2 && is_of_id2(fields->field)) {
    set_scalar(&fields->fields[fields->field], token);
  }
}

bool ppi_fields_take(ppi_fields *fields, const ppi_json_token *token) {
  if (closes(token->kind)) fields->depth--;
  if (fields->depth == 0) return false;
  if (fields->is_in_args) {
    take_in_args(fields, token);
  } else if (fields->is_in_id2) {
    take_id2(fields, token);
  } else if (fields->depth == 1 && !closes(token->kind)) {
    bool is_object = token->kind == PPI_JSON_OBJECT;
    fields->is_in_args = is_object && fields->field == ARGS;
    fields->is_in_id2 = is_object && fields->field == ID2;
    if (!fields->is_in_args && !fields->is_in_id2) take_direct(fields, token);
  }
  if (opens(token->kind)) fields->depth++;
  return true;
}
