// SPDX-License-Identifier: Apache-2.0
//
// Builds the UserDefined view: ranges that the program's author named, except
// those of Memory Manipulation.
#include "view/view_named.h"

enum {
  THREAD = PPI_NAMED_CELLS,
  SELF,
  P50,
  NUM_COLUMNS = P50 + PPI_TIMES_CELLS
};

static const ppi_column columns[NUM_COLUMNS] = {PPI_NAMED_COLUMNS,
                                                {"thread", NULL},
                                                {"cpu_self", "ns"},
                                                PPI_TIMES_COLUMNS("cpu")};

static const ppi_named_layout layout = {.category = PPI_NAMED_CATEGORY,
                                        .thread = THREAD,
                                        .calls = PPI_NAMED_CALLS,
                                        .host = PPI_NAMED_HOST,
                                        .device = PPI_NAMED_DEVICE,
                                        .self = SELF,
                                        .p50 = P50};

static bool takes(uint32_t category, const char *name) {
  return ppi_named_is_user_defined(category) &&
         !ppi_named_is_copy(category, name);
}

static pprof_status build_userdefined(const ppi_figures *figures,
                                      const ppi_report_options *options,
                                      ppi_view *out) {
  const ppi_named_block block = {.figures = figures,
                                 .options = options,
                                 .layout = &layout,
                                 .order = PPI_SORT_HOST_TOTAL,
                                 .host_base = figures->base_ns,
                                 .device_base = figures->general_device_ns};
  pprof_status status = ppi_named_put_blocks(out, &block, takes, NULL);
  if (!out->num_rows)
    out->reason = "no ranges of category UserDefined or PythonUserDefined";
  return status;
}

static const size_t brief[] = {PPI_NAMED_NAME,      THREAD,
                               PPI_NAMED_CALLS,     PPI_NAMED_HOST,
                               PPI_NAMED_HOST + 1,  PPI_NAMED_HOST + 2,
                               PPI_NAMED_HOST + 4,  PPI_NAMED_DEVICE,
                               PPI_NAMED_DEVICE + 4};

const ppi_view_kind ppi_view_userdefined = {
    .name = "userdefined",
    .title = "UserDefined Summary",
    PPI_VIEW_LAYOUT(columns, ppi_named_table_columns),
    PPI_VIEW_BRIEF(brief),
    .has_time_unit = true,
    .has_quantiles = true,
    .end = PPI_TABLE_END_NONE,
    .build = build_userdefined,
};
