// SPDX-License-Identifier: Apache-2.0
#include "cost/table/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cost/table/scope.h"

enum { MOST_LEVELS = 64, KEY_BYTES = 4096 };

// ---- figures ----

static void add(ppi_cost_sum *sum, ppi_value value) {
  if (!value.known || __builtin_add_overflow(sum->value, value.i, &sum->value))
    sum->at_least = true;
}

static double known_of(ppi_value value) {
  return value.known ? (double)value.i : 0;
}

static void add_timed(ppi_cost_figures *figures, const ppi_cost_row *row,
                      ppi_value twice) {
  figures->ns += row->ns;
  figures->timed_flops += known_of(twice) + known_of(row->others);
  figures->timed_bytes += known_of(row->in_bytes) +
                          known_of(row->weight_bytes) +
                          known_of(row->out_bytes);
}

void ppi_cost_add(ppi_cost_figures *figures, const ppi_cost_row *row) {
  ppi_value twice = row->macs;
  if (twice.known && twice.i > INT64_MAX / 2) twice.known = false;
  if (twice.known) twice.i *= 2;
  figures->num_nodes++;
  figures->num_timed += row->is_timed;
  add(&figures->params, row->params);
  add(&figures->param_bytes, row->param_bytes);
  add(&figures->macs, row->macs);
  add(&figures->others, row->others);
  add(&figures->flops, twice);
  add(&figures->flops, row->others);
  add(&figures->in_bytes, row->in_bytes);
  add(&figures->weight_bytes, row->weight_bytes);
  add(&figures->out_bytes, row->out_bytes);
  if (row->is_timed) add_timed(figures, row, twice);
  // Of a body that runs nobody knows how often, once is counted.
  if (row->times < 0) {
    ppi_cost_sum *sums[] = {&figures->macs,      &figures->others,
                            &figures->flops,     &figures->in_bytes,
                            &figures->out_bytes, &figures->weight_bytes};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
      sums[i]->at_least = true;
  }
  // What only moves data has the type of a shape, often.
  if (!row->macs.known || !row->macs.i || !*row->type) return;
  if (!figures->type)
    figures->type = row->type;
  else if (strcmp(figures->type, row->type) != 0)
    figures->type = "mixed";
}

// ---- groups ----

typedef struct link {
  ppi_cost_group group;
  struct link *first, *last, *next;  // inside it; beside it
} link;

typedef struct grouping {
  ppi_cost *cost;
  ppi_scope links;  // by key
  link root;
  size_t num;
} grouping;

static link *find(grouping *build, link *in, const char *key,
                  ppi_cost_group group) {
  link *found = ppi_scope_find(&build->links, key);
  ppi_arena *arena = &build->cost->arena;
  if (found) return found;
  size_t len = strlen(key) + 1;
  char *kept = ppi_arena_take(arena, len, 1);
  found = ppi_arena_take(arena, 1, sizeof *found);
  if (!kept || !found) return NULL;
  memcpy(kept, key, len);
  if (!ppi_scope_put(&build->links, kept, found)) return NULL;
  found->group = group;
  // Names are parts of the key, which stays.
  const char *end = strchr(kept, '\n');
  if (group.op_type) {
    found->group.name = found->group.op_type = end + 1;
  } else {
    const char *slash = strrchr(kept, '/');
    found->group.module = kept;
    found->group.name = slash ? slash + 1 : kept;
  }
  if (in->last)
    in->last->next = found;
  else
    in->first = found;
  in->last = found;
  build->num++;
  return found;
}

static link *add_operator(grouping *build, link *in, const ppi_cost_row *row,
                          size_t level) {
  char key[KEY_BYTES];
  bool is_onnx = !*row->domain || strcmp(row->domain, "ai.onnx") == 0;
  int n =
      snprintf(key, sizeof key, "%.3000s\n%.400s%s%.400s", in->group.module,
               is_onnx ? "" : row->domain, is_onnx ? "" : ".", row->op_type);
  (void)n;
  return find(build, in, key,
              (ppi_cost_group){
                  .module = in->group.module, .op_type = "", .level = level});
}

// Adds the row to the modules that it is in, down to `depth`, and to its
// operator where those are wanted.
static bool add_row(grouping *build, const ppi_cost_row *row, size_t depth,
                    bool with_operator) {
  char key[KEY_BYTES];
  link *in = &build->root;
  size_t len = strlen(row->module), at = 0;
  ppi_cost_add(&in->group.figures, row);
  if (len >= sizeof key) len = sizeof key - 1;
  memcpy(key, row->module, len);
  key[len] = '\0';
  for (size_t level = 1; at < len && level <= depth; level++) {
    size_t end = at + strcspn(key + at, "/");
    char kept = key[end];
    key[end] = '\0';
    in = find(build, in, key, (ppi_cost_group){.level = level});
    if (!in) return false;
    ppi_cost_add(&in->group.figures, row);
    key[end] = kept;
    at = end + (end < len);
  }
  if (!with_operator) return true;
  link *own = add_operator(build, in, row, in->group.level + 1);
  if (own) ppi_cost_add(&own->group.figures, row);
  return own != NULL;
}

// The links in order, the root first where it is one of them.
static void flatten(const link *from, ppi_cost_groups *out) {
  out->items[out->num++] = from->group;
  for (const link *in = from->first; in; in = in->next) flatten(in, out);
}

static int by_cost(const void *left, const void *right) {
  const ppi_cost_group *a = left, *b = right;
  if (a->figures.ns != b->figures.ns)
    return a->figures.ns > b->figures.ns ? -1 : 1;
  int64_t x = a->figures.flops.value, y = b->figures.flops.value;
  if (x == y) {
    x = a->figures.out_bytes.value;
    y = b->figures.out_bytes.value;
  }
  if (x != y) return x > y ? -1 : 1;
  return strcmp(a->name, b->name);
}

static bool list_nodes(ppi_cost *cost, ppi_cost_groups *out) {
  for (size_t i = 0; i < cost->num_rows; i++) {
    const ppi_cost_row *row = &cost->rows[i];
    ppi_cost_group *group = &out->items[out->num++];
    *group = (ppi_cost_group){.name = *row->name ? row->name : row->output,
                              .module = row->module,
                              .op_type = row->op_type,
                              .row = row};
    ppi_cost_add(&group->figures, row);
    ppi_cost_add(&out->all, row);
  }
  return true;
}

bool ppi_cost_group_by(ppi_cost *cost, ppi_cost_by by, long depth,
                       ppi_cost_groups *out) {
  ppi_arena *arena = &cost->arena;
  grouping build = {.cost = cost, .links = {.arena = arena}};
  *out = (ppi_cost_groups){.num = 0};
  if (by == PPI_COST_BY_NODE) {
    out->items = ppi_arena_take(arena, cost->num_rows + 1, sizeof *out->items);
    return out->items && list_nodes(cost, out);
  }
  build.root.group.name = build.root.group.module = "";
  bool by_operator = by == PPI_COST_BY_OPERATOR;
  size_t levels =
      depth > 0 && depth < MOST_LEVELS ? (size_t)depth : MOST_LEVELS;
  for (size_t i = 0; i < cost->num_rows; i++)
    if (!add_row(&build, &cost->rows[i], by_operator ? 0 : levels,
                 by != PPI_COST_BY_MODULE))
      return false;
  out->items = ppi_arena_take(arena, build.num + 1, sizeof *out->items);
  if (!out->items) return false;
  flatten(&build.root, out);
  out->all = out->items[0].figures;
  if (!by_operator) return true;
  out->items++;
  out->num--;
  for (size_t i = 0; i < out->num; i++) out->items[i].level = 0;
  qsort(out->items, out->num, sizeof *out->items, by_cost);
  return true;
}
