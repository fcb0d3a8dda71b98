// SPDX-License-Identifier: Apache-2.0
//
// Builds the views of named ranges: operators, kernels, copies, and ranges that
// the program's author named.
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "view/view_named.h"

// ---- Operator ----

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

// ---- Kernel ----

enum {
  KERNEL_NAME,
  KERNEL_CALLS,
  KERNEL_DEVICE_TOTAL,
  KERNEL_P50 = KERNEL_DEVICE_TOTAL + PPI_SPREAD_CELLS,
  KERNEL_NUM_COLUMNS = KERNEL_P50 + PPI_TIMES_CELLS
};
enum { KERNEL_NAME_WIDTH = 90 };

static const ppi_column kernel_columns[KERNEL_NUM_COLUMNS] = {
    {"name", NULL},
    {"calls", NULL},
    PPI_DEVICE_COLUMNS,
    PPI_TIMES_COLUMNS("device")};
static const size_t kernel_brief[] = {KERNEL_NAME,
                                      KERNEL_CALLS,
                                      KERNEL_DEVICE_TOTAL,
                                      KERNEL_DEVICE_TOTAL + 1,
                                      KERNEL_DEVICE_TOTAL + 2,
                                      KERNEL_DEVICE_TOTAL + 4,
                                      KERNEL_P50,
                                      KERNEL_P50 + 2};
static const ppi_table_column kernel_table_columns[] = {
    {"Name", KERNEL_NAME_WIDTH, KERNEL_NAME, 1},
    {"Calls", 6, KERNEL_CALLS, 1},
    {PPI_DEVICE_HEADING, 40, KERNEL_DEVICE_TOTAL, PPI_SPREAD_CELLS},
};

static const ppi_named_layout kernel_layout = {
    .calls = KERNEL_CALLS, .device = KERNEL_DEVICE_TOTAL, .p50 = KERNEL_P50};

// The length of `name<template>` if `(arguments)` follow, else of the whole
// name.
static size_t without_arguments(const char *name) {
  size_t len = strlen(name);
  const char *close = strrchr(name, ')');
  const char *open = len > 1 ? strchr(name + 1, '<') : NULL;
  if (!close || !open) return len;
  for (const char *at = close; at > open + 1; at--)
    if (at[0] == '(' && at[-1] == '>') return (size_t)(at - name);
  return len;
}

static bool cut_name(ppi_view *view, const ppi_named_block *block,
                     const ppi_named *named, ppi_cell *cells) {
  (void)block;
  (void)cells;
  const char *label =
      ppi_view_shorten(view, named->name, without_arguments(named->name),
                       KERNEL_NAME_WIDTH, KERNEL_NAME_WIDTH - 3);
  ppi_view_last_row(view)->label = label;
  return label != NULL;
}

// The reason for a report without kernels.
static const char *why_none(const ppi_figures *figures) {
  for (size_t i = 0; i < figures->num_devices; i++)
    if (figures->devices[i].ranges || figures->devices[i].untimed)
      return "no kernel records: device ranges are timed by pairs of events; "
             "see UserDefined and Queue";
  return "no kernel records: nothing was recorded on a device";
}

static pprof_status build_kernel(const ppi_figures *figures,
                                 const ppi_report_options *options,
                                 ppi_view *out) {
  ppi_named_block block = {.figures = figures,
                           .options = options,
                           .layout = &kernel_layout,
                           .order = PPI_SORT_DEVICE_TOTAL,
                           .finish_row = cut_name};
  bool added = true;
  for (size_t i = 0; i < figures->num_names && added; i++) {
    const ppi_report_name *name = &figures->names[i];
    if (name->category != PPROF_CATEGORY_KERNEL || !name->device.n) continue;
    ppi_named named = ppi_named_device(name);
    block.device_base += named.device.sum;
    added = ppi_named_add(&block.list, &named);
  }
  pprof_status status =
      added ? ppi_named_put(out, &block) : PPROF_STATUS_NO_MEMORY;
  ppi_named_clear(&block.list);
  if (!out->num_rows) out->reason = why_none(figures);
  return status;
}

const ppi_view_kind ppi_view_kernel = {
    .name = "kernel",
    .title = "Kernel Summary",
    PPI_VIEW_LAYOUT(kernel_columns, kernel_table_columns),
    PPI_VIEW_BRIEF(kernel_brief),
    .has_time_unit = true,
    .has_quantiles = true,
    .end = PPI_TABLE_END_RULE,
    .build = build_kernel,
};

// ---- Memory Manipulation ----

enum {
  COPY_SELF = PPI_NAMED_CELLS,
  COPY_P50,
  COPY_NUM_COLUMNS = COPY_P50 + PPI_TIMES_CELLS
};

static const ppi_column copy_columns[COPY_NUM_COLUMNS] = {
    PPI_NAMED_COLUMNS, {"cpu_self", "ns"}, PPI_TIMES_COLUMNS("cpu")};

static const ppi_named_layout host_layout = {.category = PPI_NAMED_CATEGORY,
                                             .calls = PPI_NAMED_CALLS,
                                             .host = PPI_NAMED_HOST,
                                             .device = PPI_NAMED_DEVICE,
                                             .self = COPY_SELF,
                                             .p50 = COPY_P50};
static const ppi_named_layout device_layout = {.category = PPI_NAMED_CATEGORY,
                                               .calls = PPI_NAMED_CALLS,
                                               .device = PPI_NAMED_DEVICE};

static bool is_copy_category(uint32_t category) {
  return category == PPROF_CATEGORY_MEMCPY || category == PPROF_CATEGORY_MEMSET;
}

// The device side of category Memcpy or Memset has a row of its own.
static bool add_host(ppi_named_list *list, const ppi_report_name *name) {
  bool is_copy = is_copy_category(name->category) && name->host.n;
  if (!is_copy && !ppi_named_is_copy(name->category, name->name)) return true;
  ppi_named named = is_copy ? ppi_named_ranges(name) : ppi_named_host(name);
  return ppi_named_add(list, &named);
}

static bool add_device(ppi_named_list *list, const ppi_report_name *name) {
  if (!is_copy_category(name->category) || !name->device.n) return true;
  ppi_named named = ppi_named_device(name);
  return ppi_named_add(list, &named);
}

static pprof_status put(ppi_view *view, ppi_named_block *block,
                        bool (*add)(ppi_named_list *,
                                    const ppi_report_name *)) {
  const ppi_figures *figures = block->figures;
  bool added = true;
  for (size_t i = 0; i < figures->num_names && added; i++)
    added = add(&block->list, &figures->names[i]);
  pprof_status status =
      added ? ppi_named_put(view, block) : PPROF_STATUS_NO_MEMORY;
  ppi_named_clear(&block->list);
  return status;
}

static pprof_status build_memory_manipulation(const ppi_figures *figures,
                                              const ppi_report_options *options,
                                              ppi_view *out) {
  ppi_named_block host = {.figures = figures,
                          .options = options,
                          .layout = &host_layout,
                          .order = PPI_SORT_HOST_TOTAL,
                          .host_base = figures->base_ns,
                          .device_base = figures->general_device_ns};
  ppi_named_block device = host;
  device.layout = &device_layout;
  device.order = PPI_SORT_DEVICE_TOTAL;
  device.banner = "Device records";
  pprof_status status = put(out, &host, add_host);
  if (status == PPROF_STATUS_OK) status = put(out, &device, add_device);
  if (!out->num_rows)
    out->reason =
        "no range named memcpy, memorycopy or memset, and no records of "
        "copies";
  return status;
}

const ppi_view_kind ppi_view_memory_manipulation = {
    .name = "memory_manipulation",
    .title = "Memory Manipulation Summary",
    PPI_VIEW_LAYOUT(copy_columns, ppi_named_table_columns),
    PPI_VIEW_BRIEF(ppi_named_brief),
    .has_time_unit = true,
    .has_quantiles = true,
    .end = PPI_TABLE_END_RULE,
    .build = build_memory_manipulation,
};

// ---- UserDefined ----

enum {
  USERDEFINED_THREAD = PPI_NAMED_CELLS,
  USERDEFINED_SELF,
  USERDEFINED_P50,
  USERDEFINED_NUM_COLUMNS = USERDEFINED_P50 + PPI_TIMES_CELLS
};

static const ppi_column userdefined_columns[USERDEFINED_NUM_COLUMNS] = {
    PPI_NAMED_COLUMNS,
    {"thread", NULL},
    {"cpu_self", "ns"},
    PPI_TIMES_COLUMNS("cpu")};

static const ppi_named_layout userdefined_layout = {
    .category = PPI_NAMED_CATEGORY,
    .thread = USERDEFINED_THREAD,
    .calls = PPI_NAMED_CALLS,
    .host = PPI_NAMED_HOST,
    .device = PPI_NAMED_DEVICE,
    .self = USERDEFINED_SELF,
    .p50 = USERDEFINED_P50};

static bool userdefined_takes(uint32_t category, const char *name) {
  return ppi_named_is_user_defined(category) &&
         !ppi_named_is_copy(category, name);
}

static pprof_status build_userdefined(const ppi_figures *figures,
                                      const ppi_report_options *options,
                                      ppi_view *out) {
  const ppi_named_block block = {.figures = figures,
                                 .options = options,
                                 .layout = &userdefined_layout,
                                 .order = PPI_SORT_HOST_TOTAL,
                                 .host_base = figures->base_ns,
                                 .device_base = figures->general_device_ns};
  pprof_status status =
      ppi_named_put_blocks(out, &block, userdefined_takes, NULL);
  if (!out->num_rows)
    out->reason = "no ranges of category UserDefined or PythonUserDefined";
  return status;
}

static const size_t userdefined_brief[] = {
    PPI_NAMED_NAME,     USERDEFINED_THREAD, PPI_NAMED_CALLS,
    PPI_NAMED_HOST,     PPI_NAMED_HOST + 1, PPI_NAMED_HOST + 2,
    PPI_NAMED_HOST + 4, PPI_NAMED_DEVICE,   PPI_NAMED_DEVICE + 4};

const ppi_view_kind ppi_view_userdefined = {
    .name = "userdefined",
    .title = "UserDefined Summary",
    PPI_VIEW_LAYOUT(userdefined_columns, ppi_named_table_columns),
    PPI_VIEW_BRIEF(userdefined_brief),
    .has_time_unit = true,
    .has_quantiles = true,
    .end = PPI_TABLE_END_NONE,
    .build = build_userdefined,
};
