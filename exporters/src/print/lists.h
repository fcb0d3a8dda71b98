// SPDX-License-Identifier: Apache-2.0
//
// The views of a report and its formats, each list once: for the report, the
// command line and YAML.
#pragma once

// The views in the order of print. `name` is the name everywhere; ppi_view_NAME
// builds the view.
// clang-format off
#define PPI_VIEWS(each) \
  each(device) \
  each(overview) \
  each(model) \
  each(distributed) \
  each(operator) \
  each(kernel) \
  each(memory_manipulation) \
  each(userdefined) \
  each(memory) \
  each(perf) \
  each(queue) \
  each(messages) \
  each(interference) \
  each(cpu) \
  each(launches) \
  each(stages) \
  each(requests) \
  each(serving) \
  each(energy) \
  each(numbers) \
  each(counters) \
  each(answer)

#define PPI_REPORT_FORMATS(each) \
  each(TABLE, "table") \
  each(CSV, "csv") \
  each(JSON, "json") \
  each(MARKDOWN, "markdown")
// clang-format on

#define PPI_FORMAT_VALUE(value, name) PPI_FORMAT_##value,
typedef enum ppi_report_format {
  PPI_REPORT_FORMATS(PPI_FORMAT_VALUE)
} ppi_report_format;
#undef PPI_FORMAT_VALUE
