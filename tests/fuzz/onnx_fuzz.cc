// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a model. The first byte picks how its cost is put together and
// printed.
#include <string>

#include "cost/count/count.h"
#include "cost/table/cost_view.h"
#include "fuzz.h"

namespace fuzz {
const char kCorpus[] = "tests/fuzz/corpus/onnx";

namespace {

void Print(ppi_cost *cost, unsigned choice) {
  const auto by = static_cast<ppi_cost_by>(choice % (PPI_COST_BY_NODE + 1));
  const auto format = static_cast<ppi_report_format>(choice / 4 % 4);
  ppi_cost_groups groups;
  ppi_view view = {};
  ppi_page page = {};
  if (ppi_cost_group_by(cost, by, choice / 16 % 4, &groups) &&
      ppi_cost_view(cost, &groups, by, format, 0, &view)) {
    ppi_cost_totals(&page, &groups);
    ppi_print_view(&page, &view, format, PPI_TIME_MS);
    Require(page.failed || IsVisible(std::string(page.bytes, page.len)),
            "a name that acts");
  }
  ppi_view_clear(&view);
  ppi_page_clear(&page);
}

// What is known is nothing that nobody can have.
void CheckRows(const ppi_cost &cost) {
  for (size_t i = 0; i < cost.num_rows; i++) {
    const ppi_cost_row &row = cost.rows[i];
    for (const ppi_value &value :
         {row.params, row.param_bytes, row.work.macs, row.work.flops,
          row.in_bytes, row.weight_bytes, row.out_bytes})
      Require(!value.known || value.i >= 0, "less than nothing");
    for (int k = 0; k < row.rank; k++)
      Require(!row.dims[k].known || row.dims[k].i >= 0, "a negative size");
    Require(row.cause < cost.shapes.num_causes || row.cause == 0, "a cause");
  }
}

}  // namespace
}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::File *file = new fuzz::File;
  if (size < 1) return 0;
  file->Write(data + 1, size - 1);
  pprof_error error = {""};
  ppi_model model;
  if (ppi_model_open(file->path(), &model, &error)) {
    fuzz::Require(error.text[0] != '\0', "a refusal without words");
    return 0;
  }
  ppi_wanted_dims dims;
  ppi_cost cost;
  fuzz::Require(
      ppi_dims_parse("batch=5,x:0=3,a:1=7", &dims, &error) == PPROF_STATUS_OK,
      "the dimensions");
  if (ppi_cost_count(&model, &dims, &cost, &error)) {
    fuzz::Require(error.text[0] != '\0', "a refusal without words");
  } else {
    fuzz::CheckRows(cost);
    fuzz::Print(&cost, data[0]);
  }
  ppi_cost_clear(&cost);
  ppi_dims_clear(&dims);
  ppi_model_close(&model);
  return 0;
}
