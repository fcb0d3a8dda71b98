// SPDX-License-Identifier: Apache-2.0
//
// Shortens C++ names of kernels.
#include "view/kernel_name.h"

#include <ctype.h>
#include <string.h>

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
