// SPDX-License-Identifier: Apache-2.0
#include "cost/count/module.h"

#include <string.h>

#define SCOPES "pkg.torch.onnx.name_scopes"

typedef struct span {
  const char *at;
  size_t len;
} span;

typedef struct path {
  char *bytes;
  size_t len;
} path;

static void add(path *to, const char *part, size_t len) {
  if (!len) return;
  if (to->len) to->bytes[to->len++] = '/';
  memcpy(to->bytes + to->len, part, len);
  to->len += len;
}

// The parts of `text`, split at dots.
static void add_dotted(path *to, span text) {
  while (text.len) {
    const char *dot = memchr(text.at, '.', text.len);
    size_t len = dot ? (size_t)(dot - text.at) : text.len;
    add(to, text.at, len);
    if (dot) len++;
    text = (span){text.at + len, text.len - len};
  }
}

// PyTorch has each level's whole name: in "layer1/layer1.0/conv" the second one
// begins with the first.
static const char *split(ppi_arena *arena, span name) {
  path out = {ppi_arena_take(arena, name.len + 1, 1), 0};
  span last = {"", 0};
  if (!out.bytes) return NULL;
  while (name.len) {
    const char *slash = memchr(name.at, '/', name.len);
    size_t len = slash ? (size_t)(slash - name.at) : name.len;
    span part = {name.at, len};
    bool repeats = last.len && len > last.len && part.at[last.len] == '.' &&
                   memcmp(part.at, last.at, last.len) == 0;
    size_t skip = repeats ? last.len + 1 : 0;
    add_dotted(&out, (span){part.at + skip, len - skip});
    last = part;
    if (slash) len++;
    name = (span){name.at + len, name.len - len};
  }
  return out.bytes;
}

static span without_last(const char *name, char separator) {
  const char *end = strrchr(name, separator);
  return (span){name, end ? (size_t)(end - name) : 0};
}

// The last but one of "['', 'layer1', 'layer1.0.conv1', 'conv2d']".
static bool find_scope(const Ppi__Onnx__Node *node, span *out) {
  for (size_t i = 0; i < node->n_metadata_props; i++) {
    const Ppi__Onnx__KeyValue *pair = node->metadata_props[i];
    span items[2] = {{"", 0}, {"", 0}};
    if (!pair->key || !pair->value || strcmp(pair->key, SCOPES) != 0) continue;
    for (const char *at = pair->value; (at = strchr(at, '\'')) != NULL;) {
      const char *end = strchr(++at, '\'');
      if (!end) break;
      items[0] = items[1];
      items[1] = (span){at, (size_t)(end - at)};
      at = end + 1;
    }
    *out = items[0];
    return true;
  }
  return false;
}

const char *ppi_module_of(ppi_arena *arena, const Ppi__Onnx__Node *node,
                          const char *weights) {
  const char *name = node->name ? node->name : "";
  span found;
  if (find_scope(node, &found)) return split(arena, found);
  // What is fused has the names of all parts.
  if (strchr(name, '/')) {
    found = without_last(name, '/');
    const char *more = memchr(found.at, ';', found.len);
    if (more) found.len = (size_t)(more - found.at);
    return split(arena, found);
  }
  if (strchr(name, '.')) return split(arena, without_last(name, '.'));
  if (!weights) return "";
  char separator = strchr(weights, '/') ? '/' : '.';
  return split(arena, without_last(weights, separator));
}

const char *ppi_module_below(ppi_arena *arena, const char *outer,
                             const char *inner) {
  size_t outer_len = strlen(outer), inner_len = strlen(inner);
  if (!inner_len) return outer;
  if (!outer_len) return inner;
  path out = {ppi_arena_take(arena, outer_len + inner_len + 2, 1), 0};
  if (!out.bytes) return NULL;
  add(&out, outer, outer_len);
  add(&out, inner, inner_len);
  return out.bytes;
}
