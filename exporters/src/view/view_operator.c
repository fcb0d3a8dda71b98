// SPDX-License-Identifier: Apache-2.0
//
// Builds the Operator view: operators, and the parts of each.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/view_named.h"

enum {
  NAME,
  PARENT,
  THREAD,
  CALLS,
  HOST_TOTAL,
  DEVICE_TOTAL = HOST_TOTAL + PPI_SPREAD_CELLS,
  FLOPS = DEVICE_TOTAL + PPI_SPREAD_CELLS,
  SELF,
  P50,
  NUM_COLUMNS = P50 + PPI_TIMES_CELLS
};
enum { NAME_WIDTH = 52, INDENT = 2 };

static const ppi_column columns[NUM_COLUMNS] = {
    {"name", NULL},  {"parent", NULL},   {"thread", NULL},
    {"calls", NULL}, PPI_HOST_COLUMNS,   PPI_DEVICE_COLUMNS,
    {"flops", NULL}, {"cpu_self", "ns"}, PPI_TIMES_COLUMNS("cpu")};
static const size_t brief[] = {
    NAME,           THREAD,         CALLS,
    HOST_TOTAL,     HOST_TOTAL + 1, HOST_TOTAL + 2,
    HOST_TOTAL + 4, DEVICE_TOTAL,   DEVICE_TOTAL + 4};
static const ppi_table_column table_columns[] = {
    {"Name", NAME_WIDTH, NAME, 1},
    {"Calls", 6, CALLS, 1},
    {PPI_HOST_HEADING, 40, HOST_TOTAL, PPI_SPREAD_CELLS},
    {PPI_DEVICE_HEADING, 40, DEVICE_TOTAL, PPI_SPREAD_CELLS},
    {"FLOPs", 10, FLOPS, 1},
};

static const ppi_named_layout layout = {.thread = THREAD,
                                        .calls = CALLS,
                                        .host = HOST_TOTAL,
                                        .device = DEVICE_TOTAL,
                                        .self = SELF,
                                        .p50 = P50};

static bool takes(uint32_t category, const char *name) {
  (void)name;
  return category == PPROF_CATEGORY_OPERATOR;
}

static void sum_bases(ppi_named_block *block) {
  for (size_t i = 0; i < block->list.num; i++) {
    block->host_base += block->list.items[i].host.sum;
    block->device_base += block->list.items[i].device.sum;
  }
}

// The parts of one operator or child, and the row above them.
typedef struct part_group {
  const ppi_named_block *block;
  const char *parent;
  uint64_t host_base, device_base;
  size_t indent;
} part_group;

static bool put_part(ppi_view *view, const part_group *group,
                     const ppi_report_part *part) {
  bool is_launch = part->launch[0] != '\0';
  const char *name = is_launch ? part->launch : part->child;
  ppi_cell *cells = ppi_view_add_row(view, 0, group->indent);
  if (!cells) return false;
  cells[NAME] = ppi_cell_text(name);
  cells[PARENT] = ppi_cell_text(group->parent);
  if (group->block->thread) cells[THREAD] = ppi_cell_text(group->block->thread);
  cells[CALLS] =
      ppi_cell_count(ppi_spread_calls(is_launch ? &part->device : &part->host));
  if (!is_launch)
    ppi_view_put_spread(cells + HOST_TOTAL, &part->host, group->host_base);
  ppi_view_put_spread(cells + DEVICE_TOTAL, &part->device, group->device_base);
  size_t width = NAME_WIDTH - group->indent;
  const char *label =
      ppi_view_shorten(view, name, strlen(name), width, width - 3);
  ppi_view_last_row(view)->label = label;
  return label != NULL;
}

static int compare_parts(const void *left, const void *right) {
  const ppi_report_part *a = *(const ppi_report_part *const *)left;
  const ppi_report_part *b = *(const ppi_report_part *const *)right;
  bool are_launches = a->launch[0] != '\0';
  uint64_t a_ns = are_launches ? a->device.sum : a->host.sum;
  uint64_t b_ns = are_launches ? b->device.sum : b->host.sum;
  if (a_ns != b_ns) return a_ns > b_ns ? -1 : 1;
  return are_launches ? strcmp(a->launch, b->launch)
                      : strcmp(a->child, b->child);
}

static int compare_owner(const ppi_report_part *part,
                         const ppi_named_block *block, const char *op) {
  int order = strcmp(part->process, block->thread ? block->process : "");
  uint64_t thread = block->thread ? block->thread_number : 0;
  if (order == 0 && part->thread != thread)
    order = part->thread < thread ? -1 : 1;
  return order ? order : strcmp(part->op, op);
}

// The parts of the operator are figures->parts[first] up to [first + num].
typedef struct part_range {
  const ppi_report_part *first;
  size_t num;
} part_range;

static part_range parts_of(const ppi_named_block *block, const char *op) {
  const ppi_figures *figures = block->figures;
  size_t low = 0, high = figures->num_parts;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (compare_owner(&figures->parts[middle], block, op) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  part_range range = {figures->parts + low, 0};
  while (low + range.num < figures->num_parts &&
         compare_owner(&range.first[range.num], block, op) == 0)
    range.num++;
  return range;
}

// Fills `out`, which has room for all, with the children of the operator, or
// with what `child` launched.
static size_t select_parts(part_range range, const char *child,
                           const ppi_report_part **out) {
  size_t num = 0;
  for (size_t i = 0; i < range.num; i++) {
    const ppi_report_part *part = &range.first[i];
    bool is_launch = part->launch[0] != '\0';
    bool fits = child ? is_launch && strcmp(part->child, child) == 0
                      : !is_launch && part->child[0] != '\0';
    if (fits) out[num++] = part;
  }
  if (num > 1) qsort(out, num, sizeof *out, compare_parts);
  return num;
}

static bool put_launches(ppi_view *view, const part_group *group,
                         part_range range, const char *child) {
  const ppi_report_part **parts = ppi_alloc((range.num + 1) * sizeof *parts);
  bool added = parts != NULL;
  size_t num = parts ? select_parts(range, child, parts) : 0;
  for (size_t i = 0; i < num && added; i++)
    added = put_part(view, group, parts[i]);
  ppi_free(parts);
  return added;
}

static bool put_child(ppi_view *view, const part_group *group, part_range range,
                      const ppi_report_part *child) {
  part_group inner = {.block = group->block,
                      .device_base = child->device.sum,
                      .indent = 2 * INDENT};
  inner.parent = ppi_view_text(view, "%s / %s", group->parent, child->child);
  return inner.parent && put_part(view, group, child) &&
         put_launches(view, &inner, range, child->child);
}

static bool put_parts(ppi_view *view, const ppi_named_block *block,
                      const ppi_named *named) {
  const part_group group = {.block = block,
                            .parent = named->name,
                            .host_base = named->host.sum,
                            .device_base = named->device.sum,
                            .indent = INDENT};
  part_range range = parts_of(block, named->name);
  const ppi_report_part **children =
      ppi_alloc((range.num + 1) * sizeof *children);
  bool added = children != NULL;
  size_t num = children ? select_parts(range, NULL, children) : 0;
  for (size_t i = 0; i < num && added; i++)
    added = put_child(view, &group, range, children[i]);
  ppi_free(children);
  return added && put_launches(view, &group, range, "");
}

static bool finish_row(ppi_view *view, const ppi_named_block *block,
                       const ppi_named *named, ppi_cell *cells) {
  cells[FLOPS] = ppi_named_flops(block->figures, named);
  if (!block->figures->details.operator_parts) return true;
  return put_parts(view, block, named);
}

static pprof_status build_operator(const ppi_figures *figures,
                                   const ppi_report_options *options,
                                   ppi_view *out) {
  const ppi_named_block block = {.figures = figures,
                                 .options = options,
                                 .layout = &layout,
                                 .order = PPI_SORT_HOST_TOTAL,
                                 .finish_row = finish_row};
  pprof_status status = ppi_named_put_blocks(out, &block, takes, sum_bases);
  if (!out->num_rows) out->reason = "no ranges of category Operator";
  return status;
}

const ppi_view_kind ppi_view_operator = {
    .name = "operator",
    .title = "Operator Summary",
    PPI_VIEW_LAYOUT(columns, table_columns),
    PPI_VIEW_BRIEF(brief),
    .has_time_unit = true,
    .has_quantiles = true,
    .end = PPI_TABLE_END_RULE,
    .build = build_operator,
};
