// SPDX-License-Identifier: Apache-2.0
//
// Cuts texts to a width, breaks sentences into lines, and shortens the names of
// kernels.
#include "view/fit.h"

#include <ctype.h>

#include "base/base.h"

#define CUT "\u2026"

static size_t next_character(const char *text, size_t len, size_t at) {
  do at++;
  while (at < len && ((unsigned char)text[at] & 0xc0) == 0x80);
  return at;
}

size_t ppi_fit_bytes(const char *text, size_t len, size_t width) {
  size_t at = 0, used = 0;
  while (at < len) {
    size_t next = next_character(text, len, at);
    used += ppi_page_width(text + at, next - at);
    if (used > width) break;
    at = next;
  }
  return at;
}

// The start of the longest end that fits into `width` of `all` columns.
static size_t end_within(const ppi_page *page, size_t width, size_t all) {
  size_t at = 0;
  while (at < page->len && all > width) {
    size_t next = next_character(page->bytes, page->len, at);
    all -= ppi_page_width(page->bytes + at, next - at);
    at = next;
  }
  return at;
}

static void fill(ppi_page *page, size_t start, size_t width) {
  size_t used = page->failed || page->len == start
                    ? 0
                    : ppi_page_width(page->bytes + start, page->len - start);
  if (used < width) ppi_page_repeat(page, ' ', width - used);
}

// Writes the first `head` columns and the text from byte `from` on, which may
// be cut, too.
static void put_cut(ppi_page *page, const ppi_page *shown, size_t width,
                    size_t head, size_t from) {
  const char *tail = shown->bytes + from;
  size_t len = shown->len - from, room = width - head - 1;
  bool is_long = ppi_page_width(tail, len) > room;
  ppi_page_bytes(page, shown->bytes,
                 ppi_fit_bytes(shown->bytes, shown->len, head));
  ppi_page_text(page, CUT);
  ppi_page_bytes(page, tail,
                 is_long ? ppi_fit_bytes(tail, len, room - 1) : len);
  if (is_long) ppi_page_text(page, CUT);
}

void ppi_page_fit_from(ppi_page *page, const char *name, size_t width,
                       size_t head, size_t from) {
  ppi_page shown = {0};
  size_t start = page->len;
  ppi_page_visible(&shown, name);
  size_t num =
      shown.failed || !shown.len ? 0 : ppi_page_width(shown.bytes, shown.len);
  page->failed |= shown.failed;
  bool has_room = head + 4 < width && from < shown.len;
  if (num > width && width > 0 && !has_room) {
    head = (width - 1) / 2;
    from = end_within(&shown, width - 1 - head, num);
  }
  if (num > width && width > 0)
    put_cut(page, &shown, width, head, from);
  else if (num)
    ppi_page_bytes(page, shown.bytes, shown.len);
  fill(page, start, width);
  ppi_page_clear(&shown);
}

void ppi_page_fit(ppi_page *page, const char *name, size_t width) {
  ppi_page_fit_from(page, name, width, 0, SIZE_MAX);
}

static size_t within(size_t least, size_t value, size_t most) {
  return value < least ? least : value > most ? most : value;
}

size_t ppi_fit_widen(size_t usual, size_t wanted, size_t *room) {
  size_t more = within(0, wanted > usual ? wanted - usual : 0, *room);
  *room -= more;
  return usual + more;
}

size_t ppi_fit_shrink(size_t usual, size_t least, size_t *lack) {
  size_t less = within(0, usual - least, *lack);
  *lack -= less;
  return usual - less;
}

size_t ppi_fit_shared(const char *left, const char *right, size_t most) {
  size_t len = 0, end = 0;
  for (; len < most && left[len] && left[len] == right[len]; len++)
    if (strchr(":/. ", left[len])) end = len + 1;
  return end;
}

void ppi_page_fit_behind(ppi_page *page, const char *name, size_t width,
                         size_t prefix) {
  if (prefix && ppi_page_width(name, strlen(name)) > width)
    ppi_page_fit_from(page, name, width, 0, prefix);
  else
    ppi_page_fit(page, name, width);
}

// ---- sentences ----

enum { LEAST = 8 };

void ppi_page_wrapped(ppi_page *page, const char *text, size_t indent) {
  ppi_page shown = {0};
  ppi_page_visible(&shown, text);
  if (shown.failed) page->failed = true;
  size_t column = indent;
  size_t most = PPI_MAX(ppi_page_columns(page), indent + LEAST);
  for (size_t at = 0, end = 0; !shown.failed && at < shown.len;) {
    const char *word = shown.bytes + at;
    const char *blank = at < end ? NULL : memchr(word, ' ', shown.len - at);
    if (at >= end) end = blank ? (size_t)(blank - shown.bytes) : shown.len;
    bool is_first = column == indent;
    size_t len = ppi_fit_bytes(word, end - at, most - indent);
    bool is_whole = at + len == end;
    size_t width = is_whole ? ppi_page_width(word, len) : most - indent;
    if (!is_first && column + 1 + width > most) {
      ppi_page_text(page, "\n");
      ppi_page_repeat(page, ' ', indent);
      column = indent;
    } else if (!is_first) {
      ppi_page_text(page, " ");
      column++;
    }
    ppi_page_bytes(page, word, len);
    column += width;
    at += len + is_whole;
  }
  ppi_page_text(page, "\n");
  ppi_page_clear(&shown);
}

static size_t line_of(const char *at, const char *end) {
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  return (size_t)((stop ? stop : end) - at);
}

// Whether the sentence continues on the next line; "name: ..." begins one.
static bool goes_on(const char *at, size_t len, const char *end) {
  const char *next = at + len + 1;
  if (!len || next >= end || strchr(".:", at[len - 1])) return false;
  size_t word = strcspn(next, " \n");
  return *next >= 'a' && *next <= 'z' && next[word - 1] != ':';
}

// Writes the lines of one sentence, and answers their bytes.
static size_t put_sentence(ppi_page *page, const char *at, const char *end) {
  size_t indent = 0, len = line_of(at, end), all = len;
  bool is_long = ppi_page_width(at, len) > ppi_page_columns(page);
  ppi_page joined = {0};
  while (indent < len && at[indent] == ' ') indent++;
  ppi_page_bytes(&joined, at + indent, len - indent);
  for (const char *line = at; goes_on(line, len, end);) {
    line += len + 1;
    len = line_of(line, end);
    is_long |= ppi_page_width(line, len) > ppi_page_columns(page);
    ppi_page_text(&joined, " ");
    ppi_page_bytes(&joined, line, len);
    all += len + 1;
  }
  if (is_long && !joined.failed) {
    ppi_page_repeat(page, ' ', indent);
    ppi_page_wrapped(page, joined.bytes, indent);
  } else {
    ppi_page_bytes(page, at, all);
    ppi_page_text(page, "\n");
  }
  page->failed |= joined.failed;
  ppi_page_clear(&joined);
  return all;
}

void ppi_page_wrapped_lines(ppi_page *page, const ppi_page *text) {
  const char *end = text->len ? text->bytes + text->len : NULL;
  page->failed |= text->failed;
  for (const char *at = text->bytes; at < end && !text->failed;)
    at += put_sentence(page, at, end) + 1;
}

// ---- names of kernels ----

typedef struct part {
  const char *at;
  size_t len;
} part;

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '~';
}

static bool is_same(part word, const char *text) {
  return strlen(text) == word.len && memcmp(word.at, text, word.len) == 0;
}

// Where the bracket at `at` is closed; the end of the text where it is not.
static const char *close_of(const char *at, const char *end) {
  static const char open[] = "<({[", close[] = ">)}]";
  size_t depth = 0;
  for (; at < end; at++) {
    if (strchr(open, *at)) depth++;
    // "->" and ">>=" stand in no name of a kernel.
    if (strchr(close, *at) && --depth == 0) return at + 1;
  }
  return end;
}

static bool ends_with(part word, const char *text) {
  size_t len = strlen(text);
  return word.len >= len && memcmp(word.at + word.len - len, text, len) == 0;
}

// Words that identify no kernel: types of values and layouts.
static bool is_plain(part word) {
  static const char *const types[] = {
      "bool",     "char",    "short",         "int",    "long",     "unsigned",
      "signed",   "float",   "double",        "__half", "half",     "true",
      "false",    "void",    "const",         "struct", "class",    "size_t",
      "uint32_t", "int64_t", "__nv_bfloat16", "Half",   "BFloat16", "complex"};
  if (!word.len || isdigit((unsigned char)word.at[0])) return true;
  if (ends_with(word, "Metadata")) return true;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (is_same(word, types[i])) return true;
  return false;
}

// The last word of `a::b<...>::c`, without brackets; `out_arguments` is its own
// `<`, or NULL.
static part last_word(const char *at, const char *end,
                      const char **out_arguments) {
  part word = {at, 0};
  *out_arguments = NULL;
  while (at < end) {
    const char *from = at;
    while (at < end && is_word(*at)) at++;
    const part next = {from, (size_t)(at - from)};
    if (next.len && !is_same(next, "operator")) {
      word = next;
      *out_arguments = at < end && *at == '<' ? at : NULL;
    }
    if (at == end) break;
    if (strchr("<{[", *at))
      at = close_of(at, end);
    else if (*at == '(' && word.len && !strchr(": ", at[-1]))
      break;  // the parameters
    else if (*at == '(')
      at = close_of(at, end);  // (anonymous namespace)
    else
      at++;
  }
  return word;
}

// The first argument that is a name, of a function or a class. `inout_open` is
// the start of the arguments, and afterwards of those of the name found.
static part first_name(const char **inout_open) {
  const char *end = close_of(*inout_open, *inout_open + strlen(*inout_open));
  const char *at = *inout_open + 1;
  if (end > at && end[-1] == '>') end--;
  while (at < end) {
    const char *from = at;
    while (at < end && *at != ',')
      at = strchr("<({[", *at) ? close_of(at, end) : at + 1;
    part word = last_word(from, at, inout_open);
    if (!is_plain(word)) return word;
    at++;
  }
  return (part){NULL, 0};
}

void ppi_kernel_name_short(ppi_page *page, const char *name) {
  const char *open;
  part word = last_word(name, name + strlen(name), &open), inner = {NULL, 0};
  if (!word.len) {
    ppi_page_text(page, name);
    return;
  }
  while (open) {
    part next = first_name(&open);
    if (!next.len) break;
    inner = next;
  }
  ppi_page_bytes(page, word.at, word.len);
  if (!inner.len) return;
  ppi_page_text(page, "<");
  ppi_page_bytes(page, inner.at, inner.len);
  ppi_page_text(page, ">");
}
