// SPDX-License-Identifier: Apache-2.0
//
// Builds the views of named ranges: operators, kernels, copies, and ranges that
// the program's author named.

#include "base/sort.h"
#include "view/view_named.h"

// ---- Operator ----

enum { NAME_WIDTH = 52, INDENT = 2 };

// clang-format off
#define OPERATOR(each) \
  PPI_NAME_CELL(each, NAME_WIDTH) \
  each(parent, NULL, NULL, 0, 0, as((ppi_cell){0})) \
  PPI_THREAD_CELL(each) \
  PPI_CALLS_CELLS(each) \
  each(flops, NULL, "FLOPs", 10, 0, \
       as(ppi_named_flops(block->figures, named))) \
  PPI_SELF_CELL(each) \
  PPI_TIMES_CELLS(each, cpu, 0, 0)
// clang-format on
PPI_VIEW_TABLE(operator, OPERATOR);
PPI_VIEW_CELLS(OPERATOR);

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

typedef struct part_range {
  const ppi_report_part *first;
  size_t num;
} part_range;

// The parts of one operator or child, and the row above them.
typedef struct part_group {
  const ppi_named_block *block;
  part_range range;   // of the operator
  const char *child;  // its launches, "" those of the operator; NULL: children
  const char *parent;
  uint64_t host_base, device_base;
  size_t indent;
} part_group;

#define HOST(each) \
  PPI_HOST_CELLS(each, 0, 0, 0, 0, &part->host, group->host_base)
#define DEVICE(each) \
  PPI_DEVICE_CELLS(each, 0, 0, 0, 0, &part->device, group->device_base)

static void put_part(ppi_view *view, const void *item, const void *of) {
  const ppi_report_part *part = item;
  const part_group *group = of;
  bool is_launch = part->launch[0] != '\0';
  const char *name = is_launch ? part->launch : part->child;
  ppi_cell *cells = ppi_view_add_row(view, 0, group->indent);
  cells[CELL_name] = ppi_cell_text(name);
  cells[CELL_parent] = ppi_cell_text(group->parent);
  if (group->block->thread)
    cells[CELL_thread] = ppi_cell_text(group->block->thread);
  cells[CELL_calls] =
      ppi_cell_count(ppi_spread_calls(is_launch ? &part->device : &part->host));
  if (!is_launch) PPI_VIEW_PUT(HOST, cells + CELL_cpu_total);
  PPI_VIEW_PUT(DEVICE, cells + CELL_device_total);
  size_t width = NAME_WIDTH - group->indent;
  ppi_view_last_row(view)->label =
      ppi_view_shorten(view, name, strlen(name), width, width - 3);
}

static bool rank_part(const void *item, ppi_ranked *out) {
  const ppi_report_part *part = item;
  const char *child = ((const part_group *)out->of)->child;
  bool is_launch = part->launch[0] != '\0';
  out->key = is_launch ? part->device.sum : part->host.sum;
  out->names[0] = is_launch ? part->launch : part->child;
  return child ? is_launch && strcmp(part->child, child) == 0
               : !is_launch && part->child[0] != '\0';
}

// The operator of a block's row.
typedef struct owner {
  const ppi_named_block *block;
  const char *op;
} owner;

static int compare_owner(const void *key, const void *item) {
  const owner *of = key;
  const ppi_report_part *part = item;
  bool has_thread = of->block->thread != NULL;
  int order = strcmp(has_thread ? of->block->process : "", part->process);
  uint64_t thread = has_thread ? of->block->thread_number : 0;
  if (order == 0) order = (thread > part->thread) - (thread < part->thread);
  return order ? order : strcmp(of->op, part->op);
}

static part_range parts_of(const ppi_named_block *block, const char *op) {
  const ppi_figures *figures = block->figures;
  const owner of = {block, op};
  size_t at = ppi_first(&of, figures->parts, figures->num_parts,
                        sizeof *figures->parts, compare_owner);
  part_range range = {figures->parts + at, 0};
  while (at + range.num < figures->num_parts &&
         compare_owner(&of, &range.first[range.num]) == 0)
    range.num++;
  return range;
}

static void put_group(ppi_view *view, const part_group *group,
                      void (*put)(ppi_view *, const void *, const void *)) {
  const ppi_view_source parts = {.items = group->range.first,
                                 .num = group->range.num,
                                 .size = sizeof *group->range.first,
                                 .rank = rank_part,
                                 .put = put,
                                 .of = group};
  ppi_view_put_sorted(view, &parts);
}

// A child, and what it launched.
static void put_child(ppi_view *view, const void *item, const void *of) {
  const ppi_report_part *child = item;
  part_group inner = *(const part_group *)of;
  const char *parent = inner.parent;
  inner.child = child->child;
  inner.device_base = child->device.sum;
  inner.indent = 2 * INDENT;
  inner.parent = ppi_view_text(view, "%s / %s", parent, child->child);
  put_part(view, child, of);
  put_group(view, &inner, put_part);
}

static void put_parts(ppi_view *view, const ppi_named_block *block,
                      const ppi_named *named) {
  part_group group = {.block = block,
                      .range = parts_of(block, named->name),
                      .parent = named->name,
                      .host_base = named->host.sum,
                      .device_base = named->device.sum,
                      .indent = INDENT};
  put_group(view, &group, put_child);
  group.child = "";
  put_group(view, &group, put_part);
}

static void put_operator(ppi_view *view, const ppi_named_block *block,
                         const ppi_named *named) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(OPERATOR, cells);
  if (block->figures->details.operator_parts) put_parts(view, block, named);
}

static void build_operator(const ppi_figures *figures,
                           const ppi_report_options *options, ppi_view *out) {
  const ppi_named_block block = {.figures = figures,
                                 .options = options,
                                 .order = PPI_SORT_HOST_TOTAL,
                                 .has_host = true,
                                 .has_times = true,
                                 .put = put_operator};
  ppi_named_put_blocks(out, &block, takes, sum_bases);
  if (!out->num_rows) out->reason = "no ranges of category Operator";
}

PPI_VIEW(operator, "Operator Summary", .has_quantiles = true,
         .end = PPI_TABLE_END_RULE, .build = build_operator);

// ---- Kernel ----

enum { KERNEL_WIDTH = 90 };

// clang-format off
#define KERNEL(each) \
  PPI_NAME_CELL(each, KERNEL_WIDTH) \
  each(calls, NULL, "Calls", 6, 2, count(named->calls)) \
  PPI_DEVICE_CELLS(each, 3, 4, 5, 6, &named->device, block->device_base) \
  PPI_TIMES_CELLS(each, device, 7, 8)
// clang-format on
PPI_VIEW_TABLE(kernel, KERNEL);

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

static void put_kernel(ppi_view *view, const ppi_named_block *block,
                       const ppi_named *named) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(KERNEL, cells);
  ppi_view_last_row(view)->label =
      ppi_view_shorten(view, named->name, without_arguments(named->name),
                       KERNEL_WIDTH, KERNEL_WIDTH - 3);
}

// The reason for a report without kernels.
static const char *why_none(const ppi_figures *figures) {
  for (size_t i = 0; i < figures->num_devices; i++)
    if (figures->devices[i].ranges || figures->devices[i].untimed)
      return "no kernel records: device ranges are timed by pairs of events; "
             "see UserDefined and Queue";
  return "no kernel records: nothing was recorded on a device";
}

static void build_kernel(const ppi_figures *figures,
                         const ppi_report_options *options, ppi_view *out) {
  ppi_named_block block = {.figures = figures,
                           .options = options,
                           .order = PPI_SORT_DEVICE_TOTAL,
                           .has_times = true,
                           .put = put_kernel};
  bool added = true;
  for (size_t i = 0; i < figures->num_names && added; i++) {
    const ppi_report_name *name = &figures->names[i];
    if (name->category != PPROF_CATEGORY_KERNEL || !name->device.n) continue;
    ppi_named named = ppi_named_device(name);
    block.device_base += named.device.sum;
    added = ppi_named_add(&block.list, &named);
  }
  out->note.failed |= !added;
  ppi_named_put(out, &block);
  ppi_named_clear(&block.list);
  if (!out->num_rows) out->reason = why_none(figures);
}

PPI_VIEW(kernel, "Kernel Summary", .has_quantiles = true,
         .end = PPI_TABLE_END_RULE, .build = build_kernel);

// ---- Memory Manipulation ----

// clang-format off
#define COPY(each) \
  PPI_NAME_CELL(each, 0) \
  PPI_CATEGORY_CELL(each) \
  PPI_CALLS_CELLS(each) \
  PPI_SELF_CELL(each) \
  PPI_TIMES_CELLS(each, cpu, 0, 0)
// clang-format on
PPI_VIEW_TABLE(memory_manipulation, COPY);

// The rows of devices have no cells of the host side.
static void put_copy(ppi_view *view, const ppi_named_block *block,
                     const ppi_named *named) {
  enum { HOST = 3, DEVICE = 8, SELF = 13, END = 18 };
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(COPY, cells);
  if (block->has_host) return;
  memset(cells + HOST, 0, (DEVICE - HOST) * sizeof *cells);
  memset(cells + SELF, 0, (END - SELF) * sizeof *cells);
}

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

static void put(ppi_view *view, ppi_named_block *block,
                bool (*add)(ppi_named_list *, const ppi_report_name *)) {
  const ppi_figures *figures = block->figures;
  bool added = true;
  for (size_t i = 0; i < figures->num_names && added; i++)
    added = add(&block->list, &figures->names[i]);
  view->note.failed |= !added;
  ppi_named_put(view, block);
  ppi_named_clear(&block->list);
}

static void build_memory_manipulation(const ppi_figures *figures,
                                      const ppi_report_options *options,
                                      ppi_view *out) {
  ppi_named_block host = {.figures = figures,
                          .options = options,
                          .order = PPI_SORT_HOST_TOTAL,
                          .has_host = true,
                          .has_times = true,
                          .put = put_copy,
                          .host_base = figures->base_ns,
                          .device_base = figures->general_device_ns};
  ppi_named_block device = host;
  device.has_host = device.has_times = false;
  device.order = PPI_SORT_DEVICE_TOTAL;
  device.banner = "Device records";
  put(out, &host, add_host);
  put(out, &device, add_device);
  if (!out->num_rows)
    out->reason =
        "no range named memcpy, memorycopy or memset, and no records of copies";
}

PPI_VIEW(memory_manipulation, "Memory Manipulation Summary",
         .has_quantiles = true, .end = PPI_TABLE_END_RULE,
         .build = build_memory_manipulation);

// ---- UserDefined ----

// clang-format off
#define USERDEFINED(each) \
  PPI_NAME_CELL(each, 0) \
  PPI_CATEGORY_CELL(each) \
  PPI_CALLS_CELLS(each) \
  PPI_THREAD_CELL(each) \
  PPI_SELF_CELL(each) \
  PPI_TIMES_CELLS(each, cpu, 0, 0)
// clang-format on
PPI_VIEW_TABLE(userdefined, USERDEFINED);

static void put_userdefined(ppi_view *view, const ppi_named_block *block,
                            const ppi_named *named) {
  ppi_cell *cells = ppi_view_add_row(view, 0, 0);
  PPI_VIEW_PUT(USERDEFINED, cells);
}

static bool userdefined_takes(uint32_t category, const char *name) {
  return ppi_named_is_user_defined(category) &&
         !ppi_named_is_copy(category, name);
}

static void build_userdefined(const ppi_figures *figures,
                              const ppi_report_options *options,
                              ppi_view *out) {
  const ppi_named_block block = {.figures = figures,
                                 .options = options,
                                 .order = PPI_SORT_HOST_TOTAL,
                                 .has_host = true,
                                 .has_times = true,
                                 .put = put_userdefined,
                                 .host_base = figures->base_ns,
                                 .device_base = figures->general_device_ns};
  ppi_named_put_blocks(out, &block, userdefined_takes, NULL);
  if (!out->num_rows)
    out->reason = "no ranges of category UserDefined or PythonUserDefined";
}

PPI_VIEW(userdefined, "UserDefined Summary", .has_quantiles = true,
         .end = PPI_TABLE_END_NONE, .build = build_userdefined);
