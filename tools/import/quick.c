// SPDX-License-Identifier: Apache-2.0
//
// Reads events with the usual layout from the text in place. A writer repeats
// the same bytes between two values: a key, its quotes, colon and blanks. Such
// glue is parsed once, and then compared as a whole. Anything unusual is left
// to the parser.
#include "import/quick.h"

#include "base/base.h"
#include "base/mem.h"
#include "cli/say.h"
#include "import/convert.h"
#include "import/own_take.h"

enum {
  MOST_GLUE = 120,
  MOST_NODES = 1024,
  MOST_NESTED = 60,
  MOST_NUMBER = 63,
  SHORT = 32,  // bytes copied at once
  LAST_WORD = MOST_GLUE / 8
};

// The text between two values. Glue forms a tree: children follow the value
// behind their parent.
typedef struct glue {
  uint64_t words[LAST_WORD];  // its text
  uint64_t last_mask;         // bytes of the last word that are its own
  uint8_t len, num_words;
  uint16_t first, next;  // first child, next sibling; 0: none
  bool is_end;           // of the event: no value follows
  bool is_in_args, has_key, is_kept;
  uint8_t own;                 // ppi_own_key of a number
  int16_t key;                 // of an event, or of args; -1: unknown
  char number[64];             // the key as counters have it
  char member[MOST_GLUE + 4];  // the key in attributes, with its comma
  uint8_t member_len;
} glue;

struct ppi_quick {
  size_t num;  // the first is before all keys
  glue nodes[MOST_NODES];
};

static uint64_t word_at(const char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

static bool is_space(char c) {
  return (unsigned char)c <= ' ' &&
         (c == ' ' || c == '\n' || c == '\r' || c == '\t');
}

static const char *skip_space(const char *at) {
  while (is_space(*at)) at++;
  return at;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// ---- values ----

// The end of the string that begins at `at`; NULL: it has characters that are
// escaped, or should be.
static const char *find_quote(const char *at) {
  const uint64_t ones = 0x0101010101010101, highs = ones << 7;
  for (;; at += sizeof ones) {
    uint64_t word = word_at(at);
    uint64_t quotes = word ^ ones * '"', escapes = word ^ ones * '\\';
    uint64_t found =
        (((quotes - ones) & ~quotes) | ((escapes - ones) & ~escapes) |
         ((word - ones * 0x20) & ~word)) &
        highs;
    if (!found) continue;
    at += __builtin_ctzll(found) / 8;
    return *at == '"' ? at : NULL;
  }
}

// The number of leading digits in eight bytes; `value` gets their value.
static inline unsigned take_digits(const char *at, uint64_t *value) {
  const uint64_t ones = 0x0101010101010101, pairs = 0x000000ff000000ff;
  uint64_t digits = word_at(at) ^ ones * '0';
  uint64_t others = (digits | (digits + ones * 0x76)) & ones << 7;
  unsigned num = others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
  if (num == 0) return 0;
  digits <<= 64 - 8 * num;
  digits = digits * 10 + (digits >> 8);
  *value = ((digits & pairs) * 0x000f424000000064 +
            (digits >> 16 & pairs) * 0x0000271000000001) >>
           32;
  return num;
}

static const char *skip_digits(const char *at) {
  while (is_digit(*at)) at++;
  return at;
}

// The end of a number; NULL: no number. *out is NaN unless it is a whole number
// of up to 16 digits.
static const char *take_number(const char *from, double *out) {
  bool is_negative = *from == '-';
  const char *at = from + is_negative;
  uint64_t value = 0, more = 0;
  unsigned num = take_digits(at, &value);
  if (num == 0 || (num > 1 && *at == '0')) return NULL;
  at += num;
  if (num == 8 && (num = take_digits(at, &more)) > 0) {
    static const uint64_t powers[] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    value = value * powers[num] + more;
    at += num;
  }
  *out = (double)(is_negative ? -(int64_t)value : (int64_t)value);
  if (num == 8 && is_digit(*at)) {
    at = skip_digits(at);
    *out = (double)NAN;
  }
  if (*at == '.') {
    const char *fraction = at + 1;
    at = skip_digits(fraction);
    if (at == fraction) return NULL;
    *out = (double)NAN;
  }
  if (*at == 'e' || *at == 'E') {
    const char *exponent = at + 1 + (at[1] == '+' || at[1] == '-');
    at = skip_digits(exponent);
    if (at == exponent || at - exponent > 3) return NULL;
    *out = (double)NAN;
  }
  return at - from <= MOST_NUMBER ? at : NULL;
}

static const char *skip_word(const char *at, const char *word) {
  size_t len = strlen(word);
  return memcmp(at, word, len) == 0 ? at + len : NULL;
}

// The end of a string, number or word.
static const char *skip_scalar(const char *at) {
  double number;
  const char *end;
  switch (*at) {
    case '"':
      end = find_quote(at + 1);
      return end ? end + 1 : NULL;
    case 't':
      return skip_word(at, "true");
    case 'f':
      return skip_word(at, "false");
    case 'n':
      return skip_word(at, "null");
    default:
      return take_number(at, &number);
  }
}

static void keep(ppi_fields *fields, const char *from, const char *to) {
  size_t len = (size_t)(to - from);
  if (!fields->keeps_arg) return;
  if (len > SHORT || fields->attributes_len + SHORT > PPI_MAX_ATTRIBUTES) {
    ppi_attributes_put(fields, from, len);
    return;
  }
  memcpy(fields->attributes + fields->attributes_len, from, SHORT);
  fields->attributes_len += len;
}

// An object or a list; `from` is the first byte that is not kept yet.
typedef struct nested {
  ppi_fields *fields;
  const char *from;
  int depth;
  char closing[MOST_NESTED];
} nested;

// Attributes have no blanks.
static inline const char *leave_space(nested *value, const char *at) {
  if (!is_space(*at)) return at;
  keep(value->fields, value->from, at);
  value->from = skip_space(at);
  return value->from;
}

// Takes a key with its colon.
static const char *take_nested_key(nested *value, const char *at) {
  const char *end = *at == '"' ? find_quote(at + 1) : NULL;
  if (!end || end - at > PPI_JSON_MAX_KEY) return NULL;
  at = leave_space(value, end + 1);
  return *at == ':' ? leave_space(value, at + 1) : NULL;
}

// Takes the brackets behind an element, up to the next element or the value's
// end.
static const char *close_nested(nested *value, const char *at) {
  while (*at == value->closing[value->depth - 1]) {
    at++;
    if (--value->depth == 0) return at;
    at = leave_space(value, at);
  }
  return *at == ',' ? leave_space(value, at + 1) : NULL;
}

// Takes an object or a list. A kept one goes into the attributes without
// blanks.
static const char *take_nested(ppi_fields *fields, const char *at) {
  nested value = {.fields = fields, .from = at};
  do {
    bool opens = *at == '{' || *at == '[';
    if (opens && value.depth == MOST_NESTED) return NULL;
    if (opens) value.closing[value.depth++] = *at == '{' ? '}' : ']';
    at = opens ? at + 1 : skip_scalar(at);
    if (!at) return NULL;
    at = leave_space(&value, at);
    if (!opens || *at == value.closing[value.depth - 1])
      at = close_nested(&value, at);
    if (at && value.depth > 0 && value.closing[value.depth - 1] == '}')
      at = take_nested_key(&value, at);
    if (!at) return NULL;
  } while (value.depth > 0);
  keep(fields, value.from, at);
  return at;
}

// Takes a list of numbers: flows, or numbers of a name.
static const char *take_list(ppi_fields *fields, const char *at) {
  double number;
  if (*at != '[') return NULL;
  at = skip_space(at + 1);
  while (*at != ']') {
    const char *end = take_number(at, &number);
    if (!end) return NULL;
    ppi_fields_element(fields, &(ppi_json_token){PPI_JSON_NUMBER, at,
                                                 (size_t)(end - at), number});
    at = skip_space(end);
    if (*at != ',') break;
    at = skip_space(at + 1);
    if (*at == ']') return NULL;
  }
  return *at == ']' ? at + 1 : NULL;
}

static void set_text(ppi_scalar *scalar, ppi_scalar_kind kind, const char *text,
                     size_t len) {
  scalar->kind = kind;
  scalar->len = (uint16_t)PPI_MIN(len, PPI_MAX_SCALAR);
  if (len <= SHORT)
    memcpy(scalar->text, text, SHORT);
  else
    memcpy(scalar->text, text, scalar->len);
  scalar->text[scalar->len] = '\0';
}

// Takes a value of the event or its args. `scalar` may be NULL: the value has
// no use. *out is the value of a number.
static const char *take_scalar(ppi_fields *fields, ppi_scalar *scalar,
                               const char *at, double *out) {
  const char *end;
  if (*at == '"') {
    end = find_quote(at + 1);
    if (!end) return NULL;
    if (scalar)
      set_text(scalar, PPI_SCALAR_TEXT, at + 1, (size_t)(end - at - 1));
    return end + 1;
  }
  if (is_digit(*at) || *at == '-') {
    end = take_number(at, out);
    if (!end || !scalar) return end;
    set_text(scalar, PPI_SCALAR_NUMBER, at, (size_t)(end - at));
    scalar->number = *out;
    return end;
  }
  if (scalar) {
    scalar->kind = PPI_SCALAR_OTHER;
    scalar->len = 0;
    scalar->text[0] = '\0';
  }
  return *at == '{' || *at == '[' ? take_nested(fields, at) : skip_scalar(at);
}

// ---- members ----

static const char *take_name(ppi_fields *fields, const char *at) {
  const char *from = at + (*at == '"');
  double number;
  const char *end = take_scalar(fields, NULL, at, &number);
  if (!end || (*at != '"' && *at != '-' && !is_digit(*at))) return end;
  size_t len = (size_t)(end - from) - (*at == '"');
  if (len > PPI_IMPORT_MAX_NAME) return NULL;
  if (len <= SHORT)
    memcpy(fields->name, from, SHORT);
  else
    memcpy(fields->name, from, len);
  fields->name_len = len;
  fields->has_name = true;
  return end;
}

static const char *take_member(ppi_fields *fields, const glue *before,
                               const char *at) {
  fields->keeps_arg = false;
  if (before->key == PPI_FIELD_NAME) {
    fields->has_name = fields->name_cut = false;
    fields->name_len = 0;
    return take_name(fields, at);
  }
  if (before->key > PPI_FIELD_NAME && *at == '{') return NULL;
  bool is_known = before->key >= 0 && before->key < PPI_NUM_FIELDS;
  double number;
  at = take_scalar(fields, is_known ? &fields->fields[before->key] : NULL, at,
                   &number);
  // Metadata of our own may be a run's facts, which the parser takes.
  bool is_fact = before->key == PPI_FIELD_PH && fields->is_own &&
                 *fields->fields[PPI_FIELD_PH].text == 'M';
  return is_fact ? NULL : at;
}

static void add_number(ppi_fields *fields, const glue *before, const char *at,
                       const char *end, double value) {
  if (fields->num_numbers == PPI_MAX_NUMBERS) {
    fields->num_numbers_cut++;
    return;
  }
  fields->numbers[fields->num_numbers++] =
      (ppi_number){.key = before->number,
                   .own = before->own,
                   .value = value,
                   .text = at,
                   .len = (uint8_t)(end - at)};
}

static const char *take_arg(ppi_fields *fields, const glue *before,
                            const char *at) {
  ppi_scalar *scalar = before->key >= 0 ? &fields->args[before->key] : NULL;
  bool is_number = is_digit(*at) || *at == '-';
  fields->keeps_arg = before->is_kept;
  fields->member_at = fields->attributes_len;
  size_t comma = fields->attributes_len == 0;
  keep(fields, before->member + comma, before->member + before->member_len);
  if (scalar) fields->args_set |= UINT64_C(1) << before->key;
  bool is_list = before->key == PPI_ARG_FLOWS ||
                 (before->key == PPI_ARG_NUMBERS && fields->is_own);
  if (is_list && (*at == '[' || *at == '{')) {
    scalar->kind = PPI_SCALAR_OTHER;
    scalar->len = 0;
    fields->arg = before->key;
    fields->num_other++;
    return take_list(fields, at);
  }
  double value = 1;  // of `true`
  const char *end = take_scalar(fields, scalar, at, &value);
  if (!end) return NULL;
  if (*at != '{' && *at != '[') keep(fields, at, end);
  fields->num_nulls += *at == 'n';
  fields->num_other += !is_number && *at != 'n';
  if (is_number || (*at == 't' && fields->is_own))
    add_number(fields, before, at, end, value);
  return end;
}

// ---- what is between them ----

static bool matches(const glue *node, const char *at) {
  size_t last = node->num_words - 1u;
  for (size_t i = 0; i < last; i++)
    if (word_at(at + 8 * i) != node->words[i]) return false;
  return ((word_at(at + 8 * last) ^ node->words[last]) & node->last_mask) == 0;
}

static void set_key(const ppi_fields *fields, glue *node, const char *key,
                    size_t len) {
  node->key = (int16_t)ppi_fields_find(fields, node->is_in_args, key, len);
  if (!node->is_in_args) return;
  node->is_kept = ppi_fields_keeps(fields, node->key);
  node->own = (uint8_t)ppi_own_key(key, len);
  size_t cut = PPI_MIN(len, sizeof node->number - 1);
  memcpy(node->number, key, cut);
  node->member[0] = ',';
  memcpy(node->member + 1, key - 1, len + 2);
  node->member[len + 3] = ':';
  node->member_len = (uint8_t)(len + 4);
}

// Reads to the next value or the event's end; NULL: other text. `is_first`: no
// value comes before.
static const char *read_glue(const ppi_fields *fields, glue *node,
                             const char *from, bool is_first) {
  const char *at = skip_space(from);
  for (;; is_first = false, at = skip_space(at + 1)) {
    if (*at == '}') {
      if (!node->is_in_args) break;
      node->is_in_args = false;
      continue;
    }
    if (!is_first && *at != ',') return NULL;
    if (!is_first) at = skip_space(at + 1);
    const char *key = at + 1, *end = *at == '"' ? find_quote(key) : NULL;
    if (!end || end - from > MOST_GLUE) return NULL;
    node->has_key = true;
    at = skip_space(end + 1);
    if (*at != ':') return NULL;
    at = skip_space(at + 1);
    set_key(fields, node, key, (size_t)(end - key));
    if (node->is_in_args || node->key < PPI_FIELD_ARGS || *at != '{') return at;
    if (node->key == PPI_FIELD_ID2) return NULL;
    node->is_in_args = true;
    const char *inner = skip_space(at + 1);
    if (*inner == '}') continue;
    const char *first = read_glue(fields, node, inner, true);
    return first;
  }
  node->is_end = true;
  return at + 1;
}

static glue *learn(ppi_quick *quick, const ppi_fields *fields, glue *before,
                   const char *from) {
  glue node = {.is_in_args = before->is_in_args, .next = before->first};
  const char *end = read_glue(fields, &node, from, before == quick->nodes);
  if (!end || end - from > MOST_GLUE) return NULL;
  // The keys of this trace vary too much: the tree begins again.
  if (quick->num == MOST_NODES) {
    quick->num = 0;
    return NULL;
  }
  node.len = (uint8_t)(end - from);
  node.num_words = (uint8_t)((node.len + 7) / 8);
  memcpy(node.words, from, node.len);
  memset(&node.last_mask, 0xff, (size_t)(node.len - 1) % 8 + 1);
  before->first = (uint16_t)quick->num;
  quick->nodes[quick->num] = node;
  return &quick->nodes[quick->num++];
}

// The glue found last moves to the front.
static glue *follow(ppi_quick *quick, const ppi_fields *fields, glue *before,
                    const char *at) {
  for (uint16_t *link = &before->first; *link;
       link = &quick->nodes[*link].next) {
    uint16_t found = *link;
    glue *node = &quick->nodes[found];
    if (!matches(node, at)) continue;
    *link = node->next;
    node->next = before->first;
    before->first = found;
    return node;
  }
  return learn(quick, fields, before, at);
}

// Takes an event from behind its opening brace to behind its closing one.
static const char *take_event(ppi_quick *quick, ppi_fields *fields,
                              const char *at) {
  if (quick->num == 0) quick->nodes[quick->num++] = (glue){.first = 0};
  glue *node = quick->nodes;
  ppi_fields_begin(fields);
  for (;;) {
    node = follow(quick, fields, node, at);
    if (!node) return NULL;
    at += node->len;
    fields->is_empty &= !node->has_key;
    if (node->is_end) return at;
    at = skip_space(at);
    at = node->is_in_args ? take_arg(fields, node, at)
                          : take_member(fields, node, at);
    if (!at) return NULL;
  }
}

size_t ppi_quick_take(void *context, const char *bytes) {
  ppi_importer *importer = context;
  const char *at = skip_space(bytes), *done = bytes;
  if (importer->is_in_event || importer->event_depth == 0 ||
      importer->depth != importer->event_depth || *at != '{')
    return 0;
  if (!importer->quick)
    importer->quick = ppi_tool_must(ppi_alloc(sizeof *importer->quick));
  while (*at == '{' && !importer->spill.error_number) {
    at = take_event(importer->quick, &importer->fields, at + 1);
    if (!at) break;
    ppi_convert(importer);
    done = at;
    at = skip_space(at);
    if (*at != ',') break;
    at = skip_space(at + 1);
  }
  return (size_t)(done - bytes);
}
