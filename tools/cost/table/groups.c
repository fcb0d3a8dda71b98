// SPDX-License-Identifier: Apache-2.0
//
// Groups a model's nodes by operator or module, or one by one, and sums them.
#include "cost/table/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

enum { MOST_LEVELS = 64, KEY_BYTES = 4096 };

// ---- figures ----

static void add_value(ppi_cost_sum *sum, ppi_value value) {
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
  add_value(&figures->params, row->params);
  add_value(&figures->param_bytes, row->param_bytes);
  add_value(&figures->macs, row->macs);
  add_value(&figures->others, row->others);
  add_value(&figures->flops, twice);
  add_value(&figures->flops, row->others);
  add_value(&figures->in_bytes, row->in_bytes);
  add_value(&figures->weight_bytes, row->weight_bytes);
  add_value(&figures->out_bytes, row->out_bytes);
  if (row->is_timed) add_timed(figures, row, twice);
  // A body with an unknown number of runs counts once.
  if (row->times < 0) {
    ppi_cost_sum *sums[] = {&figures->macs,      &figures->others,
                            &figures->flops,     &figures->in_bytes,
                            &figures->out_bytes, &figures->weight_bytes};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
      sums[i]->at_least = true;
  }
  // Nodes that only move data often have the type of a shape.
  if (!row->macs.known || !row->macs.i || !*row->type) return;
  if (!figures->type)
    figures->type = row->type;
  else if (strcmp(figures->type, row->type) != 0)
    figures->type = "mixed";
}

// ---- groups ----

// A group, by its place among all; the model's is 0, which is inside no other.
typedef struct link {
  ppi_cost_group group;
  size_t first, last, next;  // inside it; beside it
} link;

typedef struct grouping {
  ppi_cost *cost;
  ppi_map known;  // by module and operator, from 1
  link *links;
  size_t num, capacity;
} grouping;

static bool add_link(grouping *build, const ppi_cost_group *group) {
  if (!PPI_ROOM(build->links, build->capacity, build->num + 1)) return false;
  build->links[build->num++] = (link){.group = *group};
  return true;
}

// The place of the group of a module, or of an operator in it (not ""); 0: out
// of memory.
static size_t find(grouping *build, size_t in, const char *module,
                   const char *op_type, size_t level) {
  ppi_map_key key = ppi_map_key_of(module, op_type);
  size_t at = ppi_map_number(&build->known, key);
  if (at == SIZE_MAX) return 0;
  if (++at < build->num) return at;
  const char *kept = ppi_cost_keep(build->cost, *op_type ? op_type : module);
  if (!kept) return 0;
  const char *slash = strrchr(kept, '/');
  ppi_cost_group group = {.level = level};
  if (*op_type) {
    group.name = group.op_type = kept;
    group.module = build->links[in].group.module;
  } else {
    group.module = kept;
    group.name = slash ? slash + 1 : kept;
  }
  if (!add_link(build, &group)) return 0;
  link *outer = &build->links[in];
  if (outer->last)
    build->links[outer->last].next = at;
  else
    outer->first = at;
  outer->last = at;
  return at;
}

static size_t find_operator(grouping *build, size_t in,
                            const ppi_cost_row *row) {
  char name[KEY_BYTES];
  const ppi_cost_group *outer = &build->links[in].group;
  bool is_onnx = !*row->domain || strcmp(row->domain, "ai.onnx") == 0;
  snprintf(name, sizeof name, "%.400s%s%.400s", is_onnx ? "" : row->domain,
           is_onnx ? "" : ".", row->op_type);
  return find(build, in, outer->module, name, outer->level + 1);
}

// Adds the row to its modules, down to `depth`, and to its operator if
// operators are wanted.
static bool add_row(grouping *build, const ppi_cost_row *row, size_t depth,
                    bool with_operator) {
  char key[KEY_BYTES];
  size_t len = strlen(row->module), at = 0, in = 0;
  ppi_cost_add(&build->links[0].group.figures, row);
  if (len >= sizeof key) len = sizeof key - 1;
  memcpy(key, row->module, len);
  key[len] = '\0';
  for (size_t level = 1; at < len && level <= depth; level++) {
    size_t end = at + strcspn(key + at, "/");
    char kept = key[end];
    key[end] = '\0';
    in = find(build, in, key, "", level);
    if (!in) return false;
    ppi_cost_add(&build->links[in].group.figures, row);
    key[end] = kept;
    at = end + (end < len);
  }
  if (!with_operator) return true;
  in = find_operator(build, in, row);
  if (in) ppi_cost_add(&build->links[in].group.figures, row);
  return in != 0;
}

// Lists the groups inside a link in order, each before its inner groups.
static void flatten(const grouping *build, size_t from, ppi_cost_groups *out) {
  for (size_t in = build->links[from].first; in; in = build->links[in].next) {
    out->items[out->num++] = build->links[in].group;
    flatten(build, in, out);
  }
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
  out->items = ppi_alloc((cost->num_rows + 1) * sizeof *out->items);
  if (!out->items) return false;
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

static void list_links(const grouping *build, bool by_operator,
                       ppi_cost_groups *out) {
  out->all = build->links[0].group.figures;
  if (!by_operator) out->items[out->num++] = build->links[0].group;
  flatten(build, 0, out);
  for (size_t i = 0; by_operator && i < out->num; i++) out->items[i].level = 0;
  if (by_operator) qsort(out->items, out->num, sizeof *out->items, by_cost);
}

bool ppi_cost_group_by(ppi_cost *cost, ppi_cost_by by, long depth,
                       ppi_cost_groups *out) {
  grouping build = {.cost = cost};
  bool by_operator = by == PPI_COST_BY_OPERATOR;
  size_t levels =
      depth > 0 && depth < MOST_LEVELS ? (size_t)depth : MOST_LEVELS;
  *out = (ppi_cost_groups){.num = 0};
  if (by == PPI_COST_BY_NODE) return list_nodes(cost, out);
  bool ok = add_link(&build, &(ppi_cost_group){.name = "", .module = ""});
  for (size_t i = 0; i < cost->num_rows && ok; i++)
    ok = add_row(&build, &cost->rows[i], by_operator ? 0 : levels,
                 by != PPI_COST_BY_MODULE);
  if (ok) out->items = ppi_alloc(build.num * sizeof *out->items);
  if (out->items) list_links(&build, by_operator, out);
  ppi_map_clear(&build.known);
  ppi_free(build.links);
  return out->items != NULL;
}

void ppi_cost_groups_clear(ppi_cost_groups *groups) {
  ppi_free(groups->items);
  *groups = (ppi_cost_groups){.num = 0};
}
