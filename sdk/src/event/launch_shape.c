// SPDX-License-Identifier: Apache-2.0
//
// Writes and reads the launch attributes of a kernel.
#include "event/launch_shape.h"

#include <stdio.h>
#include <string.h>

PPI_STATIC_ASSERT(sizeof(ppi_launch_shape) == 10 * sizeof(uint32_t), "no gaps");

static const char *const limit_names[PPI_NUM_LIMITS] = {
    [PPI_LIMIT_WARPS] = "warps",
    [PPI_LIMIT_BLOCKS] = "blocks",
    [PPI_LIMIT_REGISTERS] = "registers",
    [PPI_LIMIT_SHARED_MEMORY] = "shared memory"};

const char *ppi_occupancy_limit_name(uint32_t limit) {
  return limit < PPI_NUM_LIMITS ? limit_names[limit] : NULL;
}

typedef struct line {
  char *out;
  size_t len;
} line;

static void put(line *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put(line *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int len = vsnprintf(to->out + to->len, PPI_LAUNCH_SHAPE_TEXT - to->len,
                      format, arguments);
  va_end(arguments);
  if (len > 0) to->len += (size_t)len;
}

void ppi_launch_shape_put(const ppi_launch_shape *shape,
                          char out[PPI_LAUNCH_SHAPE_TEXT]) {
  const uint32_t *grid = shape->grid, *block = shape->block;
  const char *limit = ppi_occupancy_limit_name(shape->limit);
  line to = {out, 0};
  put(&to, "{\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", grid[0], grid[1],
      grid[2], block[0], block[1], block[2]);
  if (shape->registers)
    put(&to, ",\"registers per thread\":%u", shape->registers);
  if (shape->registers || shape->shared_bytes)
    put(&to, ",\"shared memory\":%u", shape->shared_bytes);
  if (limit)
    put(&to, ",\"theoretical occupancy %%\":%u.%02u,\"occupancy limit\":\"%s\"",
        shape->permyriad / 100, shape->permyriad % 100, limit);
  put(&to, "}");
}

// ---- reading ----

typedef struct text {
  const char *at, *end;
} text;

static const char *skip_blanks(const char *at) {
  return at + strspn(at, " \t\r\n");
}

// The position after the string that begins at `at`; NULL: it has no end.
static const char *skip_string(const char *at) {
  for (at++; *at && *at != '"'; at++)
    if (*at == '\\' && at[1]) at++;
  return *at ? at + 1 : NULL;
}

// The position after the value: the next comma or bracket of this level.
static const char *skip_value(const char *at) {
  size_t depth = 0;
  for (; at && *at; at = *at == '"' ? skip_string(at) : at + 1) {
    bool closes = *at == ']' || *at == '}';
    if (depth == 0 && (closes || *at == ',')) return at;
    depth += *at == '[' || *at == '{';
    depth -= closes;
  }
  return NULL;
}

static bool is_text(text value, const char *other) {
  size_t len = strlen(other);
  return (size_t)(value.end - value.at) == len + 2 && *value.at == '"' &&
         memcmp(value.at + 1, other, len) == 0;
}

// Reads a number times `scale`, up to the most that fits. It reads as many
// decimals as the scale has zeros.
static const char *read_number(const char *at, uint32_t scale, uint32_t *out) {
  uint64_t value = 0;
  for (; *at >= '0' && *at <= '9'; at++)
    value = PPI_MIN(value * 10 + (uint64_t)(*at - '0'), UINT32_MAX);
  value *= scale;
  if (*at == '.')
    for (at++; *at >= '0' && *at <= '9'; at++)
      value += (uint64_t)(*at - '0') * (scale /= 10);
  *out = (uint32_t)PPI_MIN(value, UINT32_MAX);
  return at;
}

static void read_three(text value, uint32_t out[3]) {
  const char *at = value.at;
  if (*at != '[') return;
  for (int i = 0; i < 3; i++) {
    at = read_number(skip_blanks(at + 1), 1, &out[i]);
    at = skip_blanks(at);
    if (at >= value.end || *at != ',') return;
  }
}

// ONNX Runtime's: "grid_x":"8", one for each dimension.
static void read_dimension(text key, text value, const char *stem,
                           uint32_t out[3]) {
  size_t len = strlen(stem);
  if ((size_t)(key.end - key.at) != len + 3 ||
      memcmp(key.at + 1, stem, len) != 0)
    return;
  char axis = key.at[len + 1];
  if (axis >= 'x' && axis <= 'z')
    read_number(value.at + (*value.at == '"'), 1, &out[axis - 'x']);
}

static void read_limit(text value, ppi_launch_shape *out) {
  for (uint32_t i = 0; i < PPI_NUM_LIMITS; i++)
    if (limit_names[i] && is_text(value, limit_names[i])) out->limit = i;
}

static void read_member(text key, text value, ppi_launch_shape *out) {
  if (is_text(key, "grid")) read_three(value, out->grid);
  if (is_text(key, "block")) read_three(value, out->block);
  read_dimension(key, value, "grid_", out->grid);
  read_dimension(key, value, "block_", out->block);
  if (is_text(key, "registers per thread"))
    read_number(value.at, 1, &out->registers);
  if (is_text(key, "shared memory"))
    read_number(value.at, 1, &out->shared_bytes);
  if (is_text(key, "theoretical occupancy %"))
    read_number(value.at, 100, &out->permyriad);
  if (is_text(key, "occupancy limit")) read_limit(value, out);
}

// The member at `*at`, which is then behind it; false: there is none.
static bool next_member(const char **at, text *key, text *value) {
  if (**at != '{' && **at != ',') return false;
  key->at = skip_blanks(*at + 1);
  if (*key->at != '"' || !(key->end = skip_string(key->at))) return false;
  *at = skip_blanks(key->end);
  if (**at != ':') return false;
  value->at = skip_blanks(*at + 1);
  value->end = skip_value(value->at);
  if (value->end) *at = value->end;
  return value->end;
}

bool ppi_launch_shape_read(const char *object, ppi_launch_shape *out) {
  *out = (ppi_launch_shape){.limit = PPI_LIMIT_UNKNOWN};
  // Most attributes are not of a launch, and long.
  if (!strstr(object, "\"block")) return false;
  const char *at = skip_blanks(object);
  text key, value;
  while (next_member(&at, &key, &value)) read_member(key, value, out);
  return out->block[0] != 0;
}

int ppi_launch_shape_compare(const ppi_launch_shape *a,
                             const ppi_launch_shape *b) {
  uint32_t of_a[10], of_b[10];
  memcpy(of_a, a, sizeof of_a);
  memcpy(of_b, b, sizeof of_b);
  for (size_t i = 0; i < sizeof of_a / sizeof *of_a; i++)
    if (of_a[i] != of_b[i]) return of_a[i] < of_b[i] ? -1 : 1;
  return 0;
}

// ---- in which ranges it was captured ----

#define CAPTURED "captured in"

static size_t put_name(char *out, const char *name) {
  char *at = out;
  *at++ = '"';
  for (; *name; name++) {
    if ((unsigned char)*name < ' ') {
      at += snprintf(at, sizeof "\\u0000", "\\u%04x",
                     (unsigned)(unsigned char)*name);
      continue;
    }
    if (*name == '"' || *name == '\\') *at++ = '\\';
    *at++ = *name;
  }
  *at++ = '"';
  return (size_t)(at - out);
}

static size_t len_of(const char *name) {
  size_t len = sizeof("\"\",") - 1;
  for (; *name; name++)
    len += (unsigned char)*name < ' '      ? 6
           : *name == '"' || *name == '\\' ? 2
                                           : 1;
  return len;
}

void ppi_captured_put(char *out, size_t size, const char *const *names,
                      size_t num) {
  size_t len = strlen(out) - 1, first = num;
  size_t room = sizeof(",\"" CAPTURED "\":[]}");
  while (first > 0 && len + room + len_of(names[first - 1]) <= size)
    room += len_of(names[--first]);
  if (first == num) return;
  const char *comma = len > 1 ? "," : "";
  len += (size_t)snprintf(out + len, size - len, "%s\"" CAPTURED "\":[", comma);
  for (size_t i = first; i < num; i++) {
    if (i > first) out[len++] = ',';
    len += put_name(out + len, names[i]);
  }
  memcpy(out + len, "]}", 3);
}

const char *ppi_captured_find(const char *object) {
  const char *at = skip_blanks(object);
  text key, value;
  while (next_member(&at, &key, &value))
    if (is_text(key, CAPTURED) && *value.at == '[') return value.at;
  return NULL;
}

// The character after a backslash. We write a quote, a backslash, or the number
// of a control character.
static char read_escaped(const char **at) {
  unsigned code;
  if (**at == 'u' && sscanf(*at + 1, "00%2x", &code) == 1) {
    *at += 5;
    return (char)code;
  }
  return *(*at)++;
}

bool ppi_captured_next(const char **at, char *out, size_t size) {
  const char *from = skip_blanks(*at + (**at == '[' || **at == ','));
  const char *end = *from == '"' ? skip_string(from) : NULL;
  size_t len = 0;
  if (!end) return false;
  for (from++; from < end - 1 && len + 1 < size;) {
    char next = *from++;
    out[len++] = next == '\\' ? read_escaped(&from) : next;
  }
  out[len] = '\0';
  *at = skip_blanks(end);
  return from == end - 1;
}
