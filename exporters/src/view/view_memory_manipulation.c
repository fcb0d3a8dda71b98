// SPDX-License-Identifier: Apache-2.0
//
// Builds the Memory Manipulation view: ranges that copy or set memory, on the
// host side and on the device side.
#include "view/view_named.h"

enum { SELF = PPI_NAMED_CELLS, P50, NUM_COLUMNS = P50 + PPI_TIMES_CELLS };

static const ppi_column columns[NUM_COLUMNS] = {
    PPI_NAMED_COLUMNS, {"cpu_self", "ns"}, PPI_TIMES_COLUMNS("cpu")};

static const ppi_named_layout host_layout = {.category = PPI_NAMED_CATEGORY,
                                             .calls = PPI_NAMED_CALLS,
                                             .host = PPI_NAMED_HOST,
                                             .device = PPI_NAMED_DEVICE,
                                             .self = SELF,
                                             .p50 = P50};
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
    PPI_VIEW_LAYOUT(columns, ppi_named_table_columns),
    PPI_VIEW_BRIEF(ppi_named_brief),
    .has_time_unit = true,
    .has_quantiles = true,
    .end = PPI_TABLE_END_RULE,
    .build = build_memory_manipulation,
};
